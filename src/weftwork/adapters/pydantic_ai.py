"""Pydantic AI: a set of tools, and a history processor that adds sources to the user's prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from weftwork.adapters.engines import Asking, Engine, context_text
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import MissingExtra
from weftwork.turn.prompt import MESSAGE_FOLLOWS

try:
    from pydantic_ai import FunctionToolset
    from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
except ModuleNotFoundError as error:
    raise MissingExtra("The adapter for Pydantic AI", "pydantic-ai") from error

HistoryProcessor = Callable[[list[ModelMessage]], Awaitable[list[ModelMessage]]]


def weft_toolset(
    engine: Engine, *, budget: int = 4_000, user: str | None = None, workspace: str = DEFAULT_WORKSPACE
) -> FunctionToolset[Any]:
    """The tools `find_context`, `search` and `read` over a workspace."""
    asked = Asking(user=user, workspace=workspace).options

    async def find_context(query: str) -> str:
        """Find what the user's notes, files and memories say about a question, with citations like [k482913]."""
        text = await asyncio.to_thread(context_text, engine, query, budget, asked)
        return text or "Nothing was found: the notes do not speak of it."

    async def search(query: str, limit: int = 10) -> list[dict[str, str]]:
        """Find single passages by words and by meaning."""
        results = await asyncio.to_thread(engine.search, query, limit=limit, **asked)
        return [
            {"citation": each.passage.citation, "title": each.node.title, "excerpt": each.excerpt} for each in results
        ]

    async def read(reference: str) -> str:
        """Read a document whole, by its title, id or citation."""
        return (await asyncio.to_thread(engine.read, reference, **asked)).text

    return FunctionToolset([find_context, search, read], id="weftwork")


def weft_history(
    engine: Engine,
    thread: str,
    *,
    budget: int | None = None,
    user: str | None = None,
    workspace: str = DEFAULT_WORKSPACE,
) -> HistoryProcessor:
    """A history processor that makes each prompt of the user a turn of a thread, and puts its sources before it.

    What it added stays in the history, so that a provider's prompt cache holds.
    """
    asked = Asking(user=user, workspace=workspace).options
    seen: set[str] = set()

    async def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        last = messages[-1] if messages else None
        if not isinstance(last, ModelRequest):
            return messages
        place = next((index for index, part in enumerate(last.parts) if isinstance(part, UserPromptPart)), None)
        prompt = None if place is None else last.parts[place].content
        if place is None or not isinstance(prompt, str) or prompt in seen or not prompt.strip():
            return messages
        turn = await asyncio.to_thread(engine.turn, thread, prompt, budget=budget, **asked)
        changed = f"{turn.text}{MESSAGE_FOLLOWS}{prompt}" if turn.text else prompt
        seen.update((prompt, changed))
        parts = [*last.parts[:place], replace(last.parts[place], content=changed), *last.parts[place + 1 :]]
        return [*messages[:-1], replace(last, parts=parts)]

    return process
