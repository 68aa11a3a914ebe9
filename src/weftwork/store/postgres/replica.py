"""A hot standby for reads, with read-your-writes consistency for this process."""

from __future__ import annotations

import threading
import time
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool

REST = 5.0
"""Seconds for which an unresponsive server is not tried again, if there is another one."""
ALTERNATIVE = 2.0
"""Seconds to wait for a connection if there is another server."""
_PAUSE = 0.005
_POSITION = "SELECT pg_current_wal_insert_lsn()::text"
_REACHED = """SELECT %s::pg_lsn <= CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
                                        ELSE pg_current_wal_insert_lsn() END"""


class Place:
    """A server and its pool, with back-off when it does not answer."""

    def __init__(self, pool: ConnectionPool[Connection[Any]]) -> None:
        self.pool = pool
        self._rests_until = 0.0

    @property
    def rests(self) -> bool:
        """True during the back-off."""
        return time.monotonic() < self._rests_until

    def rest(self) -> None:
        """Start the back-off."""
        self._rests_until = time.monotonic() + REST


class Replica(Place):
    """A hot standby; positions are those of the primary's write-ahead log."""

    def __init__(self, pool: ConnectionPool[Connection[Any]], patience: float) -> None:
        super().__init__(pool)
        self._patience = patience
        self._guard = threading.Lock()
        self._position: str | None = None
        self._lost = False

    def wrote(self, connection: Connection[Any]) -> None:
        """Remember the position of this process's last commit on the primary."""
        row = connection.execute(_POSITION).fetchone()
        assert row is not None
        with self._guard:
            self._lost = False
            if self._position is None or _number(row[0]) > _number(self._position):
                self._position = row[0]

    def lose_track(self) -> None:
        """Note a commit of unknown position: the replica is not used until the next known one."""
        with self._guard:
            self._lost = True

    def has_all(self, connection: Connection[Any]) -> bool:
        """True if this process's writes are replayed there; waits for them for a while."""
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
