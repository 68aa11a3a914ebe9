"""Running statements on one workspace; psycopg passes lists as arrays."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weftwork.errors import StoreError
from weftwork.store.postgres.read_queries import FILTERS, VISIBLE
from weftwork.store.postgres.tracing import client_cursor
from weftwork.store.sql.filters import filter_clause, filter_values
from weftwork.store.sql.session import Row
from weftwork.types import Filters

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Session:
    """Implements `weftwork.store.sql.session.Session`."""

    connection: Connection[Any]
    workspace: int

    def rows(self, statement: str, /, **values: object) -> list[Row]:
        """Run a query and fetch all of its rows."""
        return self.connection.execute(statement.encode(), {"ws": self.workspace, **values}).fetchall()

    def run(self, statement: str, /, **values: object) -> int:
        """Run a statement and count the rows that it changed."""
        return self.connection.execute(statement.encode(), {"ws": self.workspace, **values}).rowcount

    def run_many(self, statement: str, rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each row of values, pipelined."""
        with self.connection.cursor() as cursor:
            cursor.executemany(statement.encode(), [{"ws": self.workspace, **row} for row in rows])


class ViewLock:
    """Lets one thread at a time use a view's connection, and none once the view is closed.

    The pool may have given the connection to somebody else by then.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._closed:
            self._lock.release()
            raise StoreError("this view is closed: open another one")

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def close(self) -> None:
        """Wait for the thread that holds the lock, and refuse all others from now on."""
        with self._lock:
            self._closed = True


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model whose vectors a workspace has."""

    number: int
    dimensions: int
    indexed: bool
    """True if `weftwork tune` made an HNSW index for this workspace."""


_MODEL = "SELECT model, dimensions FROM models WHERE workspace = %(ws)s AND name = %(name)s"
_IS_INDEXED = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%(name)s)"


def nearest_index(workspace: int, dimensions: int) -> str:
    """The name of the HNSW index of a workspace's vectors."""
    return f"embeddings_nearest_{workspace}_{dimensions}"


@dataclass(frozen=True, slots=True)
class Reader:
    """Implements `weftwork.store.sql.session.Reader`; thread-safe."""

    connection: Connection[Any]
    workspace: int
    acls: frozenset[int]
    passages: int
    """The number of visible passages."""
    words: int
    """The number of words in them."""
    everything: int
    """The number of all passages of the workspace."""
    frequencies: dict[str, int] = field(default_factory=dict)
    """Memoised document frequencies of terms among visible passages."""
    models: dict[str, Model | None] = field(default_factory=dict)
    """Memoised models; None for one without vectors."""
    lock: ViewLock = field(default_factory=ViewLock)

    def rows(self, statement: str, /, **values: object) -> list[Row]:
        """Run a look-up and fetch all of its rows; its generic plan is cached on the connection."""
        with self.lock:
            return self.connection.execute(self._text(statement), self._bound(values)).fetchall()

    def filtered(self, statement: str, filters: Filters, /, **values: object) -> list[Row]:
        """Run a look-up with the conditions of the filters in the place of its `{filters}`."""
        clause, parameters = filter_clause(filters, FILTERS)
        return self.rows(statement.replace("{filters}", clause), **parameters, **values)

    def together(self, *statements: str, **values: object) -> list[list[Row]]:
        """Run several look-ups with the same values, pipelined: one round trip."""
        bound = self._bound(values)
        with self.lock:
            with self.connection.pipeline():
                cursors = [self.connection.execute(self._text(statement), bound) for statement in statements]
            return [cursor.fetchall() for cursor in cursors]

    def searched(self, statement: str, /, **values: object) -> list[Row]:
        """Run a search and fetch all of its rows; it is planned each time, for its values."""
        with self.lock, client_cursor(self.connection) as cursor:
            return cursor.execute(self._text(statement), self._bound(values)).fetchall()

    def _text(self, statement: str) -> bytes:
        """The statement with the workspace as a literal, for which its generic plan is made."""
        return statement.replace("%(ws)s", str(self.workspace)).encode()

    def _bound(self, values: Mapping[str, object]) -> dict[str, object]:
        return {**values, "acls": sorted(self.acls)}

    def model(self, name: str) -> Model | None:
        """The model of this name, None if it has no vectors."""
        if name not in self.models:
            rows = self.rows(_MODEL, name=name)
            self.models[name] = self._known_model(*rows[0]) if rows else None
        return self.models[name]

    def _known_model(self, number: int, dimensions: int) -> Model:
        indexed = self.rows(_IS_INDEXED, name=nearest_index(self.workspace, dimensions))
        return Model(number, dimensions, bool(indexed and indexed[0][0]))


def node_clause(filters: Filters, column: str) -> tuple[str, dict[str, object]]:
    """The conditions of the filters on a column of node numbers, and the values of their parameters.

    Nearly everything is valid at any moment: the few invalid nodes are excluded.
    """
    return _clause(filters, column, _OF_NODES)


def key_clause(filters: Filters, column: str) -> tuple[str, dict[str, object]]:
    """The conditions of the filters on a column of passage keys, and the values of their parameters."""
    return _clause(filters, column, _OF_PASSAGES)


_OF_NODES = ("n.pk", "nodes n")
_OF_PASSAGES = ("f.key", "nodes n JOIN passages f ON f.workspace = %(ws)s AND f.node = n.pk")


def _clause(filters: Filters, column: str, source: tuple[str, str]) -> tuple[str, dict[str, object]]:
    number, tables = source
    values = filter_values(filters)
    select = f"SELECT {number} FROM {tables} WHERE n.workspace = %(ws)s AND"
    conditions = [FILTERS[name] for name in values if name != "as_of"]
    clause = ""
    if conditions:
        clause = f" AND {column} IN ({select} n.acl = {VISIBLE} AND {' AND '.join(conditions)})"
    if "as_of" in values:
        clause += f""" AND {column} NOT IN (
            {select} n.valid_from > %(as_of)s UNION ALL {select} n.valid_until <= %(as_of)s)"""
    return clause, values
