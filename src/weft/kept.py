"""Contexts that were assembled a moment ago, as long as they would come out the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from weft.types import Context

MOST = 256


@dataclass(frozen=True, slots=True)
class _Kept:
    context: Context
    parts: object
    made_at: datetime
    until: datetime | None


class KeptContexts:
    """The latest contexts by what they depend on; thread-safe."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
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
        with self._guard:
            self._entries[key] = _Kept(context, parts, moment, until)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        self.watch(context, False)
