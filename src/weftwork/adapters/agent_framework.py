"""Microsoft Agent Framework: a context provider that makes each run of an agent a turn."""

from __future__ import annotations

import asyncio
from typing import Any

from weftwork.adapters.engines import Asking, Engine
from weftwork.engine import DEFAULT_WORKSPACE
from weftwork.errors import MissingExtra

try:
    from agent_framework import ContextProvider, Message
except ModuleNotFoundError as error:
    raise MissingExtra("The adapter for Microsoft Agent Framework", "agent-framework") from error

THREAD = "thread"


class WeftContextProvider(ContextProvider):
    """Adds sources before the messages of a run, and stores what was said in a thread of the session."""

    def __init__(
        self,
        engine: Engine,
        *,
        budget: int | None = None,
        user: str | None = None,
        workspace: str = DEFAULT_WORKSPACE,
        source_id: str = "weftwork",
    ) -> None:
        super().__init__(source_id)
        self._engine = engine
        self._budget = budget
        self._asked = Asking(user=user, workspace=workspace).options

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Take a turn with what the user says, and add its sources."""
        text = "\n\n".join(each.text for each in context.input_messages if each.role == "user" and each.text)
        if not text.strip():
            return
        if THREAD not in state:
            thread = await asyncio.to_thread(self._engine.threads.create, text[:60], **self._asked)
            state[THREAD] = thread.id
        turn = await asyncio.to_thread(self._engine.turn, state[THREAD], text, budget=self._budget, **self._asked)
        system = next((each["content"] for each in turn.messages if each["role"] == "system"), "")
        if system.strip():
            context.extend_instructions(self.source_id, system)
        if turn.text:
            context.extend_messages(self.source_id, [Message(role="user", contents=[turn.text])])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Store the answer, with the check of its citations."""
        answer = context.response.text if context.response is not None else ""
        if THREAD in state and answer.strip():
            await asyncio.to_thread(self._engine.reply, state[THREAD], answer, **self._asked)
