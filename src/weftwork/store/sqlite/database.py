"""Short transactions of the store's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from weftwork.store.sql.errors import missing_workspace
from weftwork.store.sql.session import Head
from weftwork.store.sqlite.connection import Connections
from weftwork.store.sqlite.session import Session

Answer = TypeVar("Answer")


def head(connection: sqlite3.Connection, name: str) -> Head:
    """Read number, version and default access list of a workspace."""
    row = connection.execute("SELECT id, version, access FROM workspaces WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise missing_workspace(name)
    return Head(row[0], row[1], frozenset(json.loads(row[2])))


class SqliteDatabase:
    """Implements `weftwork.store.sql.session.Database`."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def ask(self, question: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run queries in one snapshot, on a workspace if one is named."""
        with self._connections.read() as connection:
            return question(_session(connection, workspace))

    def do(self, write: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run writes in one transaction; no version rises."""
        with self._connections.write() as connection:
            return write(_session(connection, workspace))


def _session(connection: sqlite3.Connection, workspace: str | None) -> Session:
    return Session(connection, 0 if workspace is None else head(connection, workspace).number)
