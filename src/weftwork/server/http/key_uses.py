"""The last use of keys: remembered at once, written once in a while, so that no answer waits for it."""

from __future__ import annotations

import threading
from datetime import datetime

from weftwork.store.protocol import Store

WRITE_SECONDS = 30.0
"""Time after which uses are written at the latest."""


class KeyUses:
    """The uses of keys that were not written yet. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._latest: dict[str, datetime] = {}

    def note(self, key: str, at: datetime) -> None:
        """Remember that a key was used."""
        with self._guard:
            self._latest[key] = at

    def write(self, store: Store) -> None:
        """Write what is remembered. Blocks."""
        with self._guard:
            latest, self._latest = self._latest, {}
        for key, at in latest.items():
            store.keys.note_use(key, at)
