"""Fresh statistics of the tables after a large load.

Autovacuum collects them within minutes; until then, searches would be planned for tables of unknown content.
"""

from __future__ import annotations

import logging
import threading

import psycopg

from weftwork.store.postgres.schema import SCHEMA

FEWEST = 2_000
"""Rows that a process adds before it collects statistics; each further time takes twice as many."""
TABLES = ("acls", "nodes", "tags", "fields", "passages", "words", "vocabulary", "embeddings", "edges", "changes")
# A table that somebody else changes the schema of, or collects statistics of, is left to them.
_COLLECT = f"ANALYZE (SKIP_LOCKED) {', '.join(f'{SCHEMA}.{name}' for name in TABLES)}"

_log = logging.getLogger(__name__)


class Statistics:
    """Counts what a process adds; thread-safe."""

    def __init__(self, server: str, wait: int) -> None:
        self._server = server
        self._wait = wait
        self._lock = threading.Lock()
        self._added = 0
        self._enough = FEWEST

    def added(self, rows: int, *, committed: bool) -> None:
        """Count rows; collect statistics if they are many and no transaction of this thread is open."""
        with self._lock:
            self._added += rows
            if not committed or self._added < self._enough:
                return
            self._added, self._enough = 0, 2 * self._enough
        try:
            # As the login, since only an owner may; the rows are there, whatever becomes of this.
            with psycopg.connect(self._server, autocommit=True, connect_timeout=self._wait) as connection:
                connection.execute(_COLLECT.encode())
        except psycopg.Error as error:
            _log.warning("statistics of the tables were not collected after a load: %s", error)
