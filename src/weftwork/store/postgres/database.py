"""Short transactions of the store's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from weftwork.store.postgres.connection import Connections
from weftwork.store.postgres.session import Session
from weftwork.store.postgres.workspaces import NOTE, Lock, number_of

if TYPE_CHECKING:
    from psycopg import Connection

Answer = TypeVar("Answer")


class PostgresDatabase:
    """Implements `weftwork.store.sql.session.Database`."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def ask(self, question: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run queries in the latest snapshot, on a workspace if one is named."""
        return self._connections.ask(lambda connection: question(_session(connection, workspace)))

    def do(self, write: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run writes in one transaction, again if a concurrent one gets in the way; no version rises."""
        return self._connections.do(lambda connection: write(_session(connection, workspace, NOTE)))


def _session(connection: Connection[Any], workspace: str | None, lock: Lock = "") -> Session:
    return Session(connection, 0 if workspace is None else number_of(connection, workspace, lock))
