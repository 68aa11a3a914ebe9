"""Connections whose clients are too slow are ended: they would hold memory, and a place, for as long as they like."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class PatientProtocol(H11Protocol):
    """Waits for the head of a request, for its body and for the reading of its answer, but not forever."""

    LOOK_SECONDS = 10.0
    """The interval in which each connection is looked at."""
    HEAD_SECONDS = 20.0
    """Time for the whole head of a request, from the opening of the connection or its first byte."""
    BODY_BYTES_PER_LOOK = 10_000
    """Least bytes of a body between two looks; large uploads over slow lines are faster."""
    ANSWER_SECONDS = 60.0
    """Time in which a client that has stopped reading its answer may go on."""
    LATE_SECONDS = 1.0
    """Time for the first request of a connection that was opened as the server was told to stop."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._looking: asyncio.TimerHandle | None = None
        self._received = 0
        self._received_before = -1
        """Of a body, at the last look; -1 while there is none."""
        self._head_since: float | None = None
        self._unread_since: float | None = None
        self._last = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look."""
        super().connection_made(transport)
        self._head_since = self.loop.time()
        self._looking = self.loop.call_later(self.LOOK_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cease to look."""
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes."""
        self._received += len(data)
        super().data_received(data)
        if self._last and self.cycle is not None:
            self.cycle.keep_alive = False
        if self.conn.their_state is not h11.IDLE:
            self._head_since = None
        elif self._head_since is None:
            self._head_since = self.loop.time()

    def shutdown(self) -> None:
        """Close an idle connection, but answer the request that a new one was opened for: it may be on its way."""
        since = None if self._last or self.cycle is not None else self._head_since
        if since is not None and self.loop.time() - since < self.LATE_SECONDS:
            self._last = True
            self.loop.call_later(self.LATE_SECONDS, self._end_if_silent)
        else:
            super().shutdown()

    def _end_if_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            super().shutdown()

    def pause_writing(self) -> None:
        """Note that the client does not read."""
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that it reads again."""
        self._unread_since = None
        super().resume_writing()

    def _look(self) -> None:
        if self._is_too_slow(self.loop.time()):
            self.transport.abort()
            return
        self._looking = self.loop.call_later(self.LOOK_SECONDS, self._look)

    def _is_too_slow(self, now: float) -> bool:
        before, self._received_before = self._received_before, -1
        if self._unread_since is not None and now - self._unread_since > self.ANSWER_SECONDS:
            return True
        if self.conn.their_state is h11.IDLE:
            return self._head_since is not None and now - self._head_since > self.HEAD_SECONDS
        if self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused:
            self._received_before = self._received
            return before >= 0 and self._received - before < self.BODY_BYTES_PER_LOOK
        return False
