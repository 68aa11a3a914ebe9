"""A connection pool, nested transactions, and recovery from lost connections."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from weftwork.errors import NotFound, StoreBusy, StoreUnavailable
from weftwork.store.postgres.address import Address
from weftwork.store.postgres.errors import EXPLAINED, explained, is_gone, is_of_a_shard
from weftwork.store.postgres.policies import APPLICATION
from weftwork.store.postgres.replica import ALTERNATIVE, Place, Replica
from weftwork.store.postgres.schema import SCHEMA, is_set_up, migrate
from weftwork.store.postgres.text import register
from weftwork.store.postgres.tracing import traced_connections
from weftwork.store.sql.session import Tracer

Answer = TypeVar("Answer")
Mark = tuple[int, int, str]
"""A workspace, a version of it, and the random mark of the commit that made it."""

ATTEMPTS = 5
"""Attempts at a write of the store's own that conflicts with others."""
PREPARED_AFTER = 2
"""psycopg's prepare_threshold: executions after which a statement is prepared."""
PREPARED = 200
"""psycopg's prepared_max; enough for the statements of about five workspaces."""
SETTINGS = {
    "search_path": f"{SCHEMA}, public",
    "timezone": "'UTC'",
    "jit": "off",
    # Generic plans are bad for every workspace; docs/decisions/0014-postgres.md has the measurements.
    "plan_cache_mode": "force_custom_plan",
    # Lossless text and floats, whatever the address, the environment or the database set.
    "client_encoding": "'UTF8'",
    "extra_float_digits": "1",
}
"""Of each connection."""
RECONNECTING = 1
"""The pool's reconnect_timeout in seconds."""
READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL weftwork.reach TO 'all'"
WRITING = "BEGIN; SET LOCAL weftwork.reach TO 'all'"


class _Own(threading.local):
    """The transaction in which this thread writes."""

    connection: Connection[Any] | None = None
    marks: tuple[Mark, ...] = ()


class Connections:
    """Hands out connections in transactions; thread-safe."""

    def __init__(self, address: Address, *, create: bool = True, tracer: Tracer | None = None) -> None:
        self.address = address
        self.tracer = tracer
        self._own = _Own()
        self.role = self._prepare(create)
        """The role for SET ROLE; None to stay with the login."""
        self._primary = Place(self._pooled(address.server))
        self._replica = None if address.read is None else Replica(self._pooled(address.read), address.lag)

    def _pooled(self, server: str) -> ConnectionPool[Connection[Any]]:
        return ConnectionPool(
            server,
            kwargs={
                "autocommit": True,
                "prepare_threshold": None if self.address.pooled else PREPARED_AFTER,
                "connect_timeout": self.address.wait,
            },
            connection_class=Connection if self.tracer is None else traced_connections(self.tracer),
            min_size=1,
            max_size=self.address.pool,
            timeout=self.address.wait,
            # Short, since the next request triggers a new attempt: else the pool would back off ever longer.
            reconnect_timeout=RECONNECTING,
            configure=self._configure,
            name="weftwork",
            open=True,
        )

    def _prepare(self, create: bool) -> str | None:
        """Migrate the schema, and find out which role may be set."""
        with self._translated_errors():
            try:
                return self._set_up(self.address.server, create)
            except psycopg.OperationalError as error:
                if self.address.read is None or not is_gone(error):
                    raise
            return self._set_up(self.address.read, create)  # enough for reading

    def _set_up(self, server: str, create: bool) -> str | None:
        with psycopg.connect(
            server, autocommit=True, connect_timeout=self.address.wait, prepare_threshold=None
        ) as connection:
            if not create and not is_set_up(connection):
                raise NotFound(f"{self.address.place} holds no store: create it with  weftwork init --store ADDRESS")
            migrate(connection)
            row = connection.execute(
                "SELECT 1 FROM pg_roles WHERE rolname = %s AND pg_has_role(session_user, oid, 'MEMBER')", (APPLICATION,)
            ).fetchone()
        return None if row is None else APPLICATION

    def _configure(self, connection: Connection[Any]) -> None:
        register(connection)
        connection.prepared_max = PREPARED
        if not self.address.pooled:
            connection.execute("; ".join(self._settings("SET")).encode(), prepare=False)

    def _settings(self, command: str) -> Iterator[str]:
        if self.role is not None:
            yield f"{command} ROLE {self.role}"
        for name, value in {**SETTINGS, "statement_timeout": str(1000 * self.address.timeout)}.items():
            yield f"{command} {name} TO {value}"

    @contextmanager
    def read(self, first: Callable[[Connection[Any]], Answer]) -> Iterator[tuple[Connection[Any], Answer]]:
        """A connection with one snapshot until the block ends, and the result of `first` on it.

        If the connection is lost during `first`, that is retried once on another one. A replica is preferred if there
        is one, unless it does not answer or has not replayed this process's writes.
        """
        with self._read(first, latest=False) as connected:
            yield connected

    @contextmanager
    def _read(
        self, first: Callable[[Connection[Any]], Answer], *, latest: bool
    ) -> Iterator[tuple[Connection[Any], Answer]]:
        with self._translated_errors():
            place, connection, answer = self._begin_reading(first, latest)
            try:
                yield connection, answer
            finally:
                # COMMIT although nothing was written: on ROLLBACK psycopg drops its prepared statements.
                self._give_back(connection, place, end="COMMIT")

    def ask(self, question: Callable[[Connection[Any]], Answer]) -> Answer:
        """Run a read on the primary, or on the replica if the primary does not answer."""
        with self._read(question, latest=True) as (_, answer):
            return answer

    def _begin_reading(
        self, first: Callable[[Connection[Any]], Answer], latest: bool
    ) -> tuple[Place, Connection[Any], Answer]:
        """Begin on the first server that answers and has this process's writes."""
        replica, primary = self._replica, self._primary
        if replica is None:
            return primary, *self._begin(READING, first, primary)
        order: list[Place] = [primary, replica] if latest else [replica, primary]
        for place in (server for server in order if not server.rests):
            try:
                if place is primary or self._has_all(replica):
                    return place, *self._begin(READING, first, place, timeout=ALTERNATIVE)
            except (PoolTimeout, psycopg.Error) as error:
                if not isinstance(error, PoolTimeout) and not is_gone(error):
                    raise
                place.rest()
        return primary, *self._begin(READING, first, primary)

    def _has_all(self, replica: Replica) -> bool:
        connection = replica.pool.getconn(ALTERNATIVE)
        try:
            return replica.has_all(connection)
        finally:
            self._give_back(connection, replica)

    @contextmanager
    def write(self, first: Callable[[Connection[Any]], Answer]) -> Iterator[tuple[Connection[Any], Answer]]:
        """A connection in a transaction, and the result of `first` on it.

        A nested block of the same thread is a savepoint. A connection that is lost during `first` is replaced; one that
        is lost later rolls back; if it is lost during COMMIT, its outcome is looked up.
        """
        with self._translated_errors():
            outer = self._own.connection
            if outer is None:
                yield from self._outermost(first)
            else:
                yield from _nested(outer, first)

    def _outermost(self, first: Callable[[Connection[Any]], Answer]) -> Iterator[tuple[Connection[Any], Answer]]:
        connection, answer = self._begin(WRITING, first, self._primary)
        self._own.connection, self._own.marks = connection, ()
        lost = None
        try:
            yield connection, answer
            self._own.connection = None
            connection.execute("COMMIT")
            self._committed_on(connection)
        except psycopg.Error as error:
            if self._own.connection is not None or not (is_gone(error) or is_of_a_shard(error)):
                raise
            lost = error
        finally:
            self._own.connection = None
            self._give_back(connection, self._primary)
        if lost is not None:
            if self._replica is not None:
                self._replica.lose_track()
            self._look_up(self._own.marks, lost)

    def _committed_on(self, connection: Connection[Any]) -> None:
        """Record the WAL position after a commit, for read-your-writes on the replica."""
        if self._replica is None:
            return
        try:
            self._replica.wrote(connection)
        except psycopg.Error:  # it is committed nevertheless
            self._replica.lose_track()

    def do(self, write: Callable[[Connection[Any]], Answer]) -> Answer:
        """Run a write of the store's own, with retries on conflicts."""
        for _ in range(ATTEMPTS - 1):
            try:
                with self.write(write) as (_, answer):
                    return answer
            except StoreBusy:
                time.sleep(random.uniform(0.01, 0.1))
        with self.write(write) as (_, answer):
            return answer

    @property
    def writing(self) -> bool:
        """True while this thread is in a transaction that writes."""
        return self._own.connection is not None

    def will_commit(self, mark: Mark) -> None:
        """Remember the mark by which this thread's commit can be found."""
        self._own.marks = (*self._own.marks, mark)

    def close(self) -> None:
        """Close all connections."""
        self._primary.pool.close()
        if self._replica is not None:
            self._replica.pool.close()

    def _begin(
        self,
        statement: str,
        first: Callable[[Connection[Any]], Answer],
        place: Place,
        timeout: float | None = None,
    ) -> tuple[Connection[Any], Answer]:
        if self.address.pooled:  # the next transaction may be on another connection of the server
            statement = "; ".join((statement, *self._settings("SET LOCAL")))
        connection = place.pool.getconn(timeout)
        try:
            return connection, _begun(connection, statement, first)
        except BaseException as error:
            self._give_back(connection, place)
            if not is_gone(error):
                raise
        place.pool.check()  # the other idle connections may be lost, too
        connection = place.pool.getconn(timeout)
        try:
            return connection, _begun(connection, statement, first)
        except BaseException:
            self._give_back(connection, place)
            raise

    def _give_back(self, connection: Connection[Any], place: Place, end: LiteralString = "ROLLBACK") -> None:
        """End the transaction and return the connection to the pool, which replaces lost ones."""
        if connection.info.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
            try:
                connection.execute(end)
            except psycopg.Error:
                connection.close()
        place.pool.putconn(connection)

    def _look_up(self, marks: tuple[Mark, ...], lost: BaseException) -> None:
        """Check that a COMMIT whose connection was lost went through; else raise StoreUnavailable."""
        deadline = time.monotonic() + self.address.wait
        while marks:
            try:
                if self.do(lambda connection: _committed(connection, marks)):
                    return
                raise StoreUnavailable(
                    f"{self.address.place} was lost before it committed a write: nothing of it is there, write it again"
                ) from lost
            except StoreUnavailable as error:
                if error.__cause__ is lost:
                    raise
                if time.monotonic() > deadline:
                    break
                time.sleep(0.2)
        raise StoreUnavailable(
            f"{self.address.place} was lost while it committed a write: look whether it is there before you repeat it"
        ) from lost

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate errors of the database."""
        try:
            yield
        except EXPLAINED as error:
            raise explained(error, self.address.place) from error


def _begun(connection: Connection[Any], statement: str, first: Callable[[Connection[Any]], Answer]) -> Answer:
    connection.execute(statement.encode(), prepare=False)
    return first(connection)


def _nested(
    outer: Connection[Any], first: Callable[[Connection[Any]], Answer]
) -> Iterator[tuple[Connection[Any], Answer]]:
    row = outer.execute("SELECT current_setting('weftwork.workspace', true)").fetchone()
    outer.execute("SAVEPOINT nested")
    try:
        yield outer, first(outer)
    except BaseException:
        if not outer.broken:
            outer.execute("ROLLBACK TO nested")
            outer.execute("RELEASE nested")
        raise
    outer.execute("RELEASE nested")
    # RELEASE keeps settings of the savepoint: restore the workspace of the outer block.
    outer.execute("SELECT weftwork_enter(NULLIF(%s, '')::bigint)", row)


def _committed(connection: Connection[Any], marks: tuple[Mark, ...]) -> bool:
    """True if a transaction was committed; waits for its end, since it holds the workspace's lock."""
    workspace, version, mark = marks[-1]
    locked = "SELECT weftwork_enter(id) FROM directory WHERE id = %s FOR NO KEY UPDATE"
    if connection.execute(locked, (workspace,)).fetchone() is None:
        raise StoreUnavailable("the workspace was dropped meanwhile")
    row = connection.execute(
        "SELECT 1 FROM commits WHERE workspace = %s AND version = %s AND mark = %s", (workspace, version, mark)
    )
    return row.fetchone() is not None
