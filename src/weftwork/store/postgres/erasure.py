"""Erasure in a database: its tables are written anew by their owner."""

from __future__ import annotations

from weftwork.store.postgres.address import Address
from weftwork.store.postgres.owner import owner_connection
from weftwork.store.postgres.schema import TABLES
from weftwork.store.sql.erasure import SqlErasure
from weftwork.store.sql.queries import ErasureQueries
from weftwork.store.sql.session import Database

SHARED = ("jobs", "keys", "audit", "embedding_cache")
"""Tables that all workspaces share and that an erasure removes rows of."""


class PostgresErasure(SqlErasure):
    """Implements `weftwork.store.erasure.Erasure`."""

    def __init__(self, database: Database, sql: ErasureQueries, address: Address) -> None:
        super().__init__(database, sql)
        self._address = address

    def compact(self, workspace: str) -> None:
        """Write all tables and their indexes anew; each is locked meanwhile.

        The write-ahead log of the server keeps what it had until it is recycled.
        """
        with owner_connection(self._address) as connection:
            for table in (*TABLES, *SHARED):
                connection.execute(f"VACUUM (FULL) {table}".encode())
            connection.execute("CHECKPOINT")
