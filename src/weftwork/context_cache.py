"""The context cache: an LRU of assembled contexts, valid until something changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from weftwork.types import Context

Made = TypeVar("Made")
MOST = 256
MOST_CHARACTERS = 40_000_000
"""Of requests and of their texts, together: a few very long ones must not fill the memory."""


@dataclass(frozen=True, slots=True)
class _Entry:
    context: Context
    parts: object
    made_at: datetime
    until: datetime | None
    size: int
    derived: dict[str, object] = field(default_factory=dict)


class ContextCache:
    """An LRU cache of contexts, by their inputs. Thread-safe."""

    def __init__(self, most: int = MOST, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._most_characters = most_characters
        self._size = 0
        self._entries: OrderedDict[object, _Entry] = OrderedDict()
        self._by_identity: dict[int, _Entry] = {}
        self._guard = threading.Lock()
        self.watch: Callable[[Context, bool], None] = lambda context, cached: None
        """Called with each context, and True if it came from the cache."""

    def get(self, key: object, moment: datetime) -> Context | None:
        """The context under a key, if nothing began or ceased to be valid between then and this moment."""
        with self._guard:
            entry = self._entries.get(key)
            if entry is None or moment < entry.made_at or (entry.until is not None and moment >= entry.until):
                return None
            self._entries.move_to_end(key)
        self.watch(entry.context, True)
        return entry.context

    def put(self, key: object, context: Context, parts: object, moment: datetime, until: datetime | None) -> None:
        """Keep a context, and the parts that made it, so that no other object takes over their identity."""
        size = len(context.text) + len(str(key))
        with self._guard:
            self._remove(key)
            entry = self._entries[key] = _Entry(context, parts, moment, until, size)
            self._by_identity[id(context)] = entry
            self._size += size
            while len(self._entries) > self._most or self._size > self._most_characters:
                self._remove(next(iter(self._entries)))
        self.watch(context, False)

    def derived(self, context: Context, name: str, make: Callable[[], Made]) -> Made:
        """Something made of a context, under a name of its own: once, as long as the context is kept."""
        entry = self._by_identity.get(id(context))
        if entry is None or entry.context is not context:
            return make()
        if name not in entry.derived:
            entry.derived[name] = make()
        return entry.derived[name]  # type: ignore[return-value]

    def __len__(self) -> int:
        return len(self._entries)

    def _remove(self, key: object) -> None:
        """Remove the entry of a key, if there is one. The lock must be held."""
        if key in self._entries:
            entry = self._entries.pop(key)
            self._by_identity.pop(id(entry.context), None)
            self._size -= entry.size
