"""LlamaIndex: a retriever of passages, and a memory block that recalls by the last message."""

from __future__ import annotations

import asyncio
from typing import Any

from weftwork.adapters.engines import Asking, Engine, context_text, metadata_of
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import MissingExtra
from weftwork.request import Message

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory.memory import BaseMemoryBlock
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise MissingExtra("The adapter for LlamaIndex", "llamaindex") from error


class WeftRetriever(BaseRetriever):
    """The passages that answer a query best."""

    def __init__(
        self,
        engine: Engine,
        *,
        similarity_top_k: int = 10,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> None:
        super().__init__()
        self._engine = engine
        self._limit = similarity_top_k
        self._asked = Asking(user=user, workspace=workspace).options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        results = self._engine.search(query_bundle.query_str, limit=self._limit, **self._asked)
        return [
            NodeWithScore(
                node=TextNode(id_=each.passage.citation, text=each.passage.text, metadata=metadata_of(each)),
                score=each.score,
            )
            for each in results
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class WeftMemoryBlock(BaseMemoryBlock[str]):
    """The context for the last message of the user, within `budget`; what leaves the chat's own memory is kept.

    With `thread`, messages that are put here are posted to it.
    """

    name: str = "weftwork"
    engine: Any
    budget: int = 2_000
    thread: str | None = None
    user: str | None = None
    workspace: str = DEFAULT_WORKSPACE

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = next((each.content for each in reversed(messages or ()) if each.role == "user"), None)
        if not asked:
            return ""
        options = Asking(user=self.user, workspace=self.workspace).options
        return await asyncio.to_thread(context_text, self.engine, asked, self.budget, options)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said = [Message(str(each.role.value), each.content) for each in messages if (each.content or "").strip()]
        if self.thread is not None and said:
            options = Asking(user=self.user, workspace=self.workspace).options
            await asyncio.to_thread(self.engine.threads.post, self.thread, *said, **options)
