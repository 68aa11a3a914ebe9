"""The store itself: its transactions, the queue of texts to embed, and checks of its own health."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from types import MappingProxyType
from typing import Any

from psycopg import Connection

from weftwork.store.files import Files
from weftwork.store.postgres import embedding_queue, erasure_queries, health, store_queries, workspaces
from weftwork.store.postgres.address import Address
from weftwork.store.postgres.batch import PostgresBatch
from weftwork.store.postgres.connection import Connections
from weftwork.store.postgres.database import PostgresDatabase
from weftwork.store.postgres.erasure import PostgresErasure
from weftwork.store.postgres.session import Session
from weftwork.store.postgres.statistics import Statistics
from weftwork.store.postgres.transfer import PostgresTransfer, announce
from weftwork.store.postgres.view import PostgresView
from weftwork.store.postgres.workspaces import Lock
from weftwork.store.sql.codec import to_micros
from weftwork.store.sql.session import Tracer
from weftwork.store.sql.store import SqlStore
from weftwork.store.transfer import Numbers

MOST = 1_000_000
"""Limit of `waiting`."""
NO_MODELS: Mapping[str, int] = MappingProxyType({})


class PostgresStore(SqlStore):
    """Implements `weftwork.store.protocol.Store` on one database; any number of processes may share it."""

    def __init__(
        self,
        address: Address,
        *,
        clock: Callable[[], datetime],
        create: bool = True,
        tracer: Tracer | None = None,
    ) -> None:
        self.address = address
        self._connections = Connections(address, create=create, tracer=tracer)
        self._statistics = Statistics(address.server, address.wait)
        super().__init__(PostgresDatabase(self._connections), store_queries, address.files, clock)
        self.erasure = PostgresErasure(self._database, erasure_queries, address)

    @contextmanager
    def _creating(self, workspace: str, access: frozenset[str]) -> Iterator[None]:
        with self._connections.write(lambda connection: workspaces.create(connection, workspace, access)):
            yield

    def drop_workspace(self, workspace: str) -> None:
        """Remove a workspace and everything derived from it."""
        number = self._connections.do(lambda connection: workspaces.drop(connection, workspace))
        Files(self.address.files, number).clear()

    def version(self, workspace: str) -> int:
        """The version of a workspace, which each write raises."""
        return self._connections.ask(lambda connection: workspaces.head(connection, workspace).version)

    @contextmanager
    def _batch(self, workspace: str) -> Iterator[PostgresBatch]:
        with self._connections.write(lambda connection: workspaces.head(connection, workspace, locked=True)) as (
            connection,
            head,
        ):
            batch = PostgresBatch(
                Session(connection, head.number),
                default=head.access,
                now=to_micros(self._clock()),
                committing=self._connections.will_commit,
            )
            yield batch
        self._statistics.added(batch.added, committed=not self._connections.writing)

    @contextmanager
    def view(self, workspace: str, user: str) -> Iterator[PostgresView]:
        """A snapshot for one user."""
        with self._connections.read(lambda connection: workspaces.opened(connection, workspace, user)) as (
            connection,
            head,
        ):
            view = PostgresView(connection, (workspace, user), head)
            try:
                yield view
            finally:
                view.close()

    def waiting(self, workspace: str, model: str) -> int:
        """The number of texts without a vector of a model, claimed ones included."""
        return self._waiting(workspace, model, MOST)

    def _waiting(self, workspace: str, model: str, most: int) -> int:
        def count(connection: Connection[Any]) -> int:
            return embedding_queue.count(connection, workspace, model, most)

        def is_surveyed(connection: Connection[Any]) -> bool:
            return embedding_queue.is_surveyed(connection, workspace, model)

        waiting = self._connections.ask(count)
        if not waiting and not self._connections.ask(is_surveyed):
            self._connections.do(lambda connection: embedding_queue.survey(connection, workspace, model))
            waiting = self._connections.ask(count)
        return waiting

    @contextmanager
    def claim(self, workspace: str, model: str, limit: int) -> Iterator[Mapping[str, str]]:
        """Claim some texts without a vector until the block ends; those of other workers are skipped."""
        self._waiting(workspace, model, 1)
        with self._connections.write(lambda connection: embedding_queue.take(connection, workspace, model, limit)) as (
            connection,
            texts,
        ):
            yield texts
            embedding_queue.settle(connection, workspace, model, list(texts))

    @contextmanager
    def leaving(self, workspace: str) -> Iterator[PostgresTransfer]:
        """A snapshot of a whole workspace, to move it to another store. Ignores permissions."""
        with self._connections.read(lambda connection: self._transfer(connection, workspace)) as (_, transfer):
            yield transfer

    def announce(self, workspace: str, access: str, span: Numbers, marks: Mapping[str, str]) -> None:
        """Create a workspace without users, and reserve as many numbers for it as the span says."""
        self._connections.do(lambda connection: announce(connection, workspace, access, span, marks))

    @contextmanager
    def arriving(self, workspace: str) -> Iterator[PostgresTransfer]:
        """A transaction on a workspace that has not arrived completely."""
        with self._connections.write(lambda connection: self._transfer(connection, workspace, workspaces.WRITE)) as (
            _,
            transfer,
        ):
            yield transfer
        self._statistics.added(transfer.added, committed=not self._connections.writing)

    def _transfer(self, connection: Connection[Any], workspace: str, lock: Lock = "") -> PostgresTransfer:
        session = Session(connection, workspaces.number_of(connection, workspace, lock))
        return PostgresTransfer(session, Files(self.address.files, session.workspace))

    def catch_up(self, workspace: str, models: Mapping[str, int] = NO_MODELS) -> None:
        """Check that the workspace exists; indexes are updated in the writing transaction."""
        self.version(workspace)

    def check(self) -> list[str]:
        """Problems found in the database; empty when all is well."""
        rows = self._database.ask(lambda session: session.rows("SELECT name, id FROM directory ORDER BY name"))
        numbers = {name: number for name, number in rows}
        return self._connections.ask(lambda connection: health.problems(connection, numbers))

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()
