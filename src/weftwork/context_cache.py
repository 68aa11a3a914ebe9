"""Contexts that were assembled a moment ago, as long as they would come out the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from weftwork.types import Context

MOST = 256
MOST_CHARACTERS = 40_000_000
"""Of requests and of their texts, together: a few very long ones must not fill the memory."""


@dataclass(frozen=True, slots=True)
class _Kept:
    context: Context
    parts: object
    made_at: datetime
    until: datetime | None
    size: int


class ContextCache:
    """The latest contexts by what they depend on; thread-safe."""

    def __init__(self, most: int = MOST, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._most_characters = most_characters
        self._size = 0
        self._entries: OrderedDict[object, _Kept] = OrderedDict()
        self._guard = threading.Lock()
        self.watch: Callable[[Context, bool], None] = lambda context, kept: None
        """Told of each context, and whether it was kept from before."""

    def get(self, key: object, moment: datetime) -> Context | None:
        """The context under a key, if nothing began or ceased to be valid between then and this moment."""
        with self._guard:
            kept = self._entries.get(key)
            if kept is None or moment < kept.made_at or (kept.until is not None and moment >= kept.until):
                return None
            self._entries.move_to_end(key)
        self.watch(kept.context, True)
        return kept.context

    def put(self, key: object, context: Context, parts: object, moment: datetime, until: datetime | None) -> None:
        """Keep a context, and the parts that made it, so that no other object takes over their identity."""
        size = len(context.text) + len(str(key))
        with self._guard:
            self._forget(key)
            self._entries[key] = _Kept(context, parts, moment, until, size)
            self._size += size
            while len(self._entries) > self._most or self._size > self._most_characters:
                self._forget(next(iter(self._entries)))
        self.watch(context, False)

    def _forget(self, key: object) -> None:
        """Let go of what is kept under a key, if anything is. The lock is held."""
        if key in self._entries:
            self._size -= self._entries.pop(key).size
