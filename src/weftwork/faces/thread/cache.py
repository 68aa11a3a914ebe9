"""Contexts that were made a moment ago."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from weftwork.errors import InvalidInput

MAX_ENTRIES = 100
TTL_SECONDS = 30.0

Key = tuple[str, ...]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Value]):
    value: Value
    at: float


class ContextCache(Generic[Value]):
    """The entries used last; each lives for a while after its last use. Thread-safe."""

    def __init__(
        self, max_entries: int = MAX_ENTRIES, ttl: float = TTL_SECONDS, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._max = max_entries
        self._ttl = ttl
        self._timer = timer
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()
        self._guard = threading.Lock()
        self.hits = 0
        self.misses = 0

    def get(self, key: Key, is_current: Callable[[Value], bool] = lambda _: True) -> Value | None:
        """The value if it is fresh and still current; its age starts again."""
        with self._guard:
            now = self._timer()
            entry = self._entries.pop(key, None)
            if entry is None or now - entry.at > self._ttl or not is_current(entry.value):
                self.misses += 1
                return None
            self.hits += 1
            self._entries[key] = _Entry(entry.value, now)
            return entry.value

    def set(self, key: Key, value: Value) -> None:
        """Store a value, evicting the least recently used one."""
        with self._guard:
            self._entries.pop(key, None)
            self._entries[key] = _Entry(value, self._timer())
            while len(self._entries) > self._max:
                self._entries.popitem(last=False)

    def invalidate(self, pattern: str | None = None) -> None:
        """Remove all entries, or those with this text in a part of their key."""
        if pattern is not None and not isinstance(pattern, str):
            raise InvalidInput(f"the pattern must be text, got {pattern!r}")
        with self._guard:
            if pattern is None:
                self._entries.clear()
                return
            for key in [key for key in self._entries if any(pattern in part for part in key)]:
                del self._entries[key]

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def hit_rate(self) -> float:
        """Share of the calls of `get` that found something."""
        with self._guard:
            calls = self.hits + self.misses
            return self.hits / calls if calls else 0.0
