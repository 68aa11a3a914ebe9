"""Limits on the size of requests, and on the rate of each key."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weftwork.server.http.options import Limits
from weftwork.server.http.problems import Problem

UPLOAD_PATH = re.compile(r"/v1/workspaces/[^/]+/documents")
ENVELOPE = 10_000
"""Bytes that a form may take around the document in it."""
CLOSE = {"Connection": "close"}
"""The rest of a body that is too large is not waited for."""
MOST_KEYS = 10_000


class BodyLimit:
    """Refuses a body that is too large: at once if it says so, and otherwise as soon as it is."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, counting."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self._most(scope)
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared[:20]) > most:
            await _too_large(most).response()(scope, receive, send)
            return
        taken, started = 0, False

        async def counting() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                # Of this kind, since the framework takes any other for a body that it cannot parse.
                raise HTTPException(413, _too_large(most).detail, CLOSE)
            return message

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, counting, sending)
        except Exception:
            if taken <= most or started:
                raise
            # What reads the body in tasks of its own raises a group.
            await _too_large(most).response()(scope, receive, send)

    def _most(self, scope: Scope) -> int:
        if scope["method"] == "POST" and UPLOAD_PATH.fullmatch(scope["path"]):
            return self._limits.upload_bytes + ENVELOPE
        return self._limits.body_bytes


def _too_large(most: int) -> Problem:
    return Problem(413, f"the body is larger than {most:,} bytes: send less at once", headers=CLOSE)


class Rates:
    """A bucket of tokens for each key: a request takes one, and time fills it again. Thread-safe."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = limits.requests_per_minute / 60
        self._burst = float(limits.burst)
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._guard = threading.Lock()

    def take(self, key: str) -> None:
        """Take a token; raise 429 if there is none."""
        if not self._per_second:
            return
        now = self._clock()
        with self._guard:
            left = self._left(key, now)
            if left >= 1:
                self._buckets[key] = (left - 1, now)
                if len(self._buckets) > MOST_KEYS:
                    self._forget_full(now)
                return
        wait = math.ceil((1 - left) / self._per_second)
        raise Problem(
            429, f"too many requests with this key: try again in {wait} s", headers={"Retry-After": str(wait)}
        )

    def _left(self, key: str, now: float) -> float:
        left, at = self._buckets.get(key, (self._burst, now))
        return min(self._burst, left + (now - at) * self._per_second)

    def _forget_full(self, now: float) -> None:
        for key in [key for key in self._buckets if self._left(key, now) >= self._burst]:
            del self._buckets[key]


def within(what: str, asked: int, most: int) -> None:
    """Raise 422 if a request asks for more than this server allows."""
    if asked > most:
        raise Problem(422, f"{what} is {asked:,}, and this server allows at most {most:,}: ask for less")
