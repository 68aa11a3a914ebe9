"""OpenAI Agents: a session that is a thread, and a tool that assembles contexts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from weftwork.adapters.engines import Asking, Engine, context_text
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import MissingExtra
from weftwork.request import Message

try:
    from agents import FunctionTool, function_tool
except ModuleNotFoundError as error:
    raise MissingExtra("The adapter for OpenAI Agents", "openai-agents") from error

MOST_ITEMS = 1_000
TOOL = "tool"


class WeftSession:
    """The items of a conversation as messages of a thread: texts as such, calls of tools and their outputs as JSON."""

    session_settings = None

    def __init__(
        self, engine: Engine, thread: str, *, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        """`thread` is the id of a thread: see `weft.threads.create`."""
        self.session_id = thread
        self._engine = engine
        self._asked = Asking(user=user, workspace=workspace).options

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The latest items, the oldest of them first."""
        return [_item(node.title, node.text) for node in await self._stored(limit or MOST_ITEMS)]

    async def add_items(self, items: list[Any]) -> None:
        """Put items at the end, all of them or none."""
        messages = [_message(item) for item in items]
        if messages:
            await asyncio.to_thread(self._engine.threads.post, self.session_id, *messages, **self._asked)

    async def pop_item(self) -> Any | None:
        """Remove the latest item, and return it."""
        stored = await self._stored(1)
        if not stored:
            return None
        await self._remove([stored[-1].id])
        return _item(stored[-1].title, stored[-1].text)

    async def clear_session(self) -> None:
        """Remove all items; the thread stays."""
        await self._remove([node.id for node in await self._stored(MOST_ITEMS)])

    async def _stored(self, limit: int) -> Any:
        return await asyncio.to_thread(self._engine.threads.messages, self.session_id, limit, **self._asked)

    async def _remove(self, ids: list[str]) -> None:
        await asyncio.to_thread(self._engine.remove, ids, workspace=self._asked["workspace"])


def context_tool(
    engine: Engine, *, budget: int = 4_000, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
) -> FunctionTool:
    """The tool `find_context`, with which an agent asks the workspace."""
    asked = Asking(user=user, workspace=workspace).options

    @function_tool
    async def find_context(query: str) -> str:
        """Find what the user's notes, files and memories say about a question, with citations like [k482913].

        Args:
            query: The question, in full.

        """
        text = await asyncio.to_thread(context_text, engine, query, budget, asked)
        return text or "Nothing was found: the notes do not speak of it."

    return find_context


def _message(item: Any) -> Message:
    role = item.get("role") if isinstance(item, dict) else None
    text = _text(item.get("content")) if role in ("user", "assistant") else None
    return Message(role, text) if role and text else Message(TOOL, json.dumps(item, ensure_ascii=False))


def _text(content: Any) -> str | None:
    """The text of a message that is nothing but text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "".join(texts) if texts and len(texts) == len(parts) else None


def _item(role: str, text: str) -> Any:
    if role == TOOL:
        try:
            return json.loads(text)
        except ValueError:
            return {"role": "user", "content": text}
    return {"role": role if role == "assistant" else "user", "content": text}
