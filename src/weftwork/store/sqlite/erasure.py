"""Erasure in a file: it is written anew, and so are its indexes."""

from __future__ import annotations

from collections.abc import Callable

from weftwork.store.sql.erasure import SqlErasure
from weftwork.store.sql.queries import ErasureQueries
from weftwork.store.sql.session import Database
from weftwork.store.sqlite.connection import Connections
from weftwork.store.sqlite.database import head


class SqliteErasure(SqlErasure):
    """Implements `weftwork.store.erasure.Erasure`."""

    def __init__(
        self, database: Database, sql: ErasureQueries, connections: Connections, drop_indexes: Callable[[int], None]
    ) -> None:
        super().__init__(database, sql)
        self._connections = connections
        self._drop_indexes = drop_indexes

    def compact(self, workspace: str) -> None:
        """Write the file anew, empty its write-ahead log, and remove the indexes, which are made again when used."""
        with self._connections.read() as connection:
            number = head(connection, workspace).number
        self._drop_indexes(number)
        self._connections.compact()
