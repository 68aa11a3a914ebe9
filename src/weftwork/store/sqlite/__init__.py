"""The embedded store: one SQLite file that holds the truth, and a folder of indexes beside it."""

from __future__ import annotations

from weftwork.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
