"""Clients that go away while their requests wait: what nobody would read is not begun."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

import anyio
from starlette.types import Message, Receive, Scope

from weftwork.server.http.problems import Problem

WATCHED_BYTES = 65_536
"""Bytes of a body up to which a request that waits is read, so that it shows if its client goes away."""
GONE = 499
"""The status under which logs and figures have a request whose client went away before it began."""


class Arriving:
    """The messages of a client, read ahead while its request waits."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        self._small = length.isdigit() and int(length[:20]) <= WATCHED_BYTES and b"transfer-encoding" not in headers
        self._receive = receive
        self._ahead: deque[Message] = deque()

    async def receive(self) -> Message:
        """The next message of the client."""
        return self._ahead.popleft() if self._ahead else await self._receive()

    async def stays_until(self, turn: Callable[[], Awaitable[None]]) -> bool:
        """Wait for a turn; return False as soon as the client has gone, if its body is small."""
        if not self._small:
            await turn()
            return True
        stayed, refusal = False, None
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, group.cancel_scope)
            try:
                await turn()
                stayed = True
            except Problem as problem:  # which the group would wrap
                refusal = problem
            group.cancel_scope.cancel()
        if refusal is not None:
            raise refusal
        return stayed

    async def _watch(self, waiting: anyio.CancelScope) -> None:
        while not self._ahead or self._ahead[-1]["type"] != "http.disconnect":
            self._ahead.append(await self._receive())
        waiting.cancel()
