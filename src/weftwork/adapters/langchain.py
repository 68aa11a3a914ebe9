"""LangChain: a retriever of passages or of one packed context, and the history of a chat as a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from weftwork.adapters.engines import Asking, Engine, metadata_of
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import MissingExtra
from weftwork.request import Message
from weftwork.types import Filters

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    raise MissingExtra("The adapter for LangChain", "langchain") from error

ROLES = {"human": "user", "ai": "assistant", "tool": "tool"}
MOST_MESSAGES = 1_000


class WeftRetriever(BaseRetriever):
    """The passages that answer a query best; with `budget`, one document that is the context packed to it."""

    engine: Any
    k: int = 10
    budget: int | None = None
    user: str | None = None
    workspace: str = DEFAULT_WORKSPACE
    recipe: str = "default"
    filters: Filters = Filters()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        asked = Asking(user=self.user, workspace=self.workspace).options
        if self.budget is None:
            results = self.engine.search(query, limit=k or self.k, filters=self.filters, **asked)
            return [
                Document(id=each.passage.citation, page_content=each.passage.text, metadata=metadata_of(each))
                for each in results
            ]
        context = self.engine.context(query, budget=self.budget, recipe=self.recipe, filters=self.filters, **asked)
        if not context.citations:
            return []
        about = {"tokens": context.tokens, "citations": [each.id for each in context.citations]}
        return [Document(id=context.id, page_content=context.text, metadata=about)]


class WeftChatHistory(BaseChatMessageHistory):
    """The messages of a thread, which searches and other chats find, too."""

    def __init__(
        self, engine: Engine, thread: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        """`thread` is the id of a thread: see `weft.threads.create`."""
        self._engine = engine
        self._thread = thread
        self._asked = Asking(user=user, workspace=workspace).options

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages, the oldest first."""
        stored = self._engine.threads.messages(self._thread, MOST_MESSAGES, **self._asked)
        return [_message(node.title, node.text) for node in stored]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Put messages at the end of the thread, all of them or none; those without text are passed over."""
        said = [Message(ROLES.get(each.type, each.type), each.text) for each in messages]
        said = [message for message in said if message.text.strip()]
        if said:
            self._engine.threads.post(self._thread, *said, **self._asked)

    async def aget_messages(self) -> list[BaseMessage]:
        """All messages, read in a thread of their own."""
        return await asyncio.to_thread(lambda: self.messages)

    def clear(self) -> None:
        """Remove all messages; the thread stays."""
        stored = self._engine.threads.messages(self._thread, MOST_MESSAGES, **self._asked)
        self._engine.remove([node.id for node in stored], workspace=self._asked["workspace"])


def _message(role: str, text: str) -> BaseMessage:
    if role == "assistant":
        return AIMessage(text)
    if role == "system":
        return SystemMessage(text)
    if role == "tool":
        return ToolMessage(text, tool_call_id="")
    return HumanMessage(text) if role == "user" else HumanMessage(text, name=role)
