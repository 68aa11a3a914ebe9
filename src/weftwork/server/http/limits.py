"""Limits on the size of requests, and on the rate of each key."""

from __future__ import annotations

import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from multiprocessing.context import SpawnContext
from typing import Any, Protocol

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
PLACES = 8
"""Places of the shared table that a key may have."""


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


class Buckets(Protocol):
    """Tokens left in each key's bucket, and when they were counted."""

    @property
    def guard(self) -> AbstractContextManager[Any]:
        """Held while a bucket is read and written."""

    def get(self, key: str) -> tuple[float, float] | None:
        """Return a key's tokens and when they were counted; None for an unknown key."""

    def put(self, key: str, left: float, at: float) -> None:
        """Keep what is left for a key."""


class OwnBuckets:
    """The buckets of a single process; those of keys that were not used for longest are let go."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def get(self, key: str) -> tuple[float, float] | None:
        """Return a key's tokens and when they were counted."""
        return self._buckets.get(key)

    def put(self, key: str, left: float, at: float) -> None:
        """Keep what is left for a key."""
        self._buckets[key] = (left, at)
        self._buckets.move_to_end(key)
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)


@dataclass(slots=True)
class SharedBuckets:
    """The buckets of several processes, in memory that they share: a key has one rate, whoever answers it."""

    guard: Any
    _keys: Any
    _left: Any
    _at: Any

    @classmethod
    def of(cls, context: SpawnContext) -> SharedBuckets:
        """Buckets for processes of this context."""
        arrays = [context.RawArray(kind, MOST_KEYS) for kind in "Qdd"]
        return cls(context.Lock(), *arrays)

    def get(self, key: str) -> tuple[float, float] | None:
        """Return a key's tokens and when they were counted."""
        number, places = self._places(key)
        place = next((place for place in places if self._keys[place] == number), None)
        return None if place is None else (self._left[place], self._at[place])

    def put(self, key: str, left: float, at: float) -> None:
        """Keep what is left for a key, in its place, a free one, or that of the key that was not used for longest."""
        number, places = self._places(key)
        own = [place for place in places if self._keys[place] == number]
        free = [place for place in places if not self._keys[place]]
        place = (own or free or [min(places, key=self._at.__getitem__)])[0]
        self._keys[place], self._left[place], self._at[place] = number, left, at

    @staticmethod
    def _places(key: str) -> tuple[int, list[int]]:
        number = int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big") | 1
        return number, [(number // 2 + step) % MOST_KEYS for step in range(PLACES)]


class Rates:
    """A bucket of tokens for each key: a request takes one, and time fills it again. Thread-safe."""

    def __init__(
        self, limits: Limits, buckets: Buckets | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = limits.requests_per_minute / 60
        self._burst = float(limits.burst)
        self._clock = clock
        self._buckets = buckets or OwnBuckets()

    def take(self, key: str, whose: str = "with this key") -> None:
        """Take a token; raise 429 if there is none."""
        if not self._per_second:
            return
        now = self._clock()
        with self._buckets.guard:
            left, at = self._buckets.get(key) or (self._burst, now)
            left = min(self._burst, left + (now - at) * self._per_second)
            if left >= 1:
                self._buckets.put(key, left - 1, now)
                return
        wait = math.ceil((1 - left) / self._per_second)
        raise Problem(429, f"too many requests {whose}: try again in {wait} s", headers={"Retry-After": str(wait)})


def within(what: str, asked: int, most: int) -> None:
    """Raise 422 if a request asks for more than this server allows."""
    if asked > most:
        raise Problem(422, f"{what} is {asked:,}, and this server allows at most {most:,}: ask for less")
