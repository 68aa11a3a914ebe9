"""A standby server that answers reads, and how far it must have come for a process to find there what it wrote."""

from __future__ import annotations

import threading
import time
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool

REST = 5.0
"""Seconds for which a server that did not answer is left alone, as long as another one does."""
ALTERNATIVE = 2.0
"""Seconds to wait for a connection where another server can be asked instead."""
_PAUSE = 0.005
_POSITION = "SELECT pg_current_wal_insert_lsn()::text"
_REACHED = """SELECT %s::pg_lsn <= CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                                        ELSE pg_current_wal_insert_lsn() END"""


class Place:
    """A server with its connections, which is left alone for a while when it did not answer."""

    def __init__(self, pool: ConnectionPool[Connection[Any]]) -> None:
        self.pool = pool
        self._rests_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether it did not answer a moment ago."""
        return time.monotonic() < self._rests_until

    def rest(self) -> None:
        """Leave it alone for a while."""
        self._rests_until = time.monotonic() + REST


class Replica(Place):
    """A standby server. Its positions are those of the primary's log, in which each commit has one."""

    def __init__(self, pool: ConnectionPool[Connection[Any]], patience: float) -> None:
        super().__init__(pool)
        self._patience = patience
        self._guard = threading.Lock()
        self._position: str | None = None
        self._lost = False

    def wrote(self, connection: Connection[Any]) -> None:
        """Remember up to where this process has written, after a commit on the primary."""
        row = connection.execute(_POSITION).fetchone()
        assert row is not None
        with self._guard:
            self._lost = False
            if self._position is None or _number(row[0]) > _number(self._position):
                self._position = row[0]

    def lose_track(self) -> None:
        """Take it that this process has written something, and that nobody knows where it is in the log."""
        with self._guard:
            self._lost = True

    def has_all(self, connection: Connection[Any]) -> bool:
        """Whether what this process wrote is there, for which it is given some time."""
        deadline = time.monotonic() + self._patience
        with self._guard:
            position, lost = self._position, self._lost
        while not lost:
            if position is None:
                return True
            row = connection.execute(_REACHED, (position,)).fetchone()
            if row is not None and row[0]:
                return True
            if time.monotonic() > deadline:
                break
            time.sleep(_PAUSE)
        return False


def _number(position: str) -> int:
    high, low = position.split("/")
    return (int(high, 16) << 32) + int(low, 16)
