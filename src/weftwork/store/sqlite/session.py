"""Running statements on one workspace; lists are bound as JSON, for json_each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from weftwork.store.sql.filters import filter_clause
from weftwork.store.sql.read_cache import CachedReads, Written
from weftwork.store.sql.session import Row
from weftwork.store.sqlite.read_queries import BEGINNINGS, FILTERS, HANGING, NUMBERS, TOTALS, WRITTEN
from weftwork.types import Filters

MOST_WRITTEN = 500
"""Nodes that were written at once, up to which what was read before of others is kept."""


@dataclass(frozen=True)
class Session:
    """Implements `weftwork.store.sql.session.Session`."""

    connection: sqlite3.Connection
    workspace: int

    def rows(self, statement: str, /, **values: object) -> list[Row]:
        """Run a query and fetch all of its rows."""
        return self.connection.execute(statement, self._bound(values)).fetchall()

    def run(self, statement: str, /, **values: object) -> int:
        """Run a statement and count the rows that it changed."""
        return self.connection.execute(statement, self._bound(values)).rowcount

    def run_many(self, statement: str, rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement once for each row of values."""
        self.connection.executemany(statement, [{"ws": self.workspace, **row} for row in rows])

    def _bound(self, values: Mapping[str, object]) -> dict[str, object]:
        lists = {name: json.dumps(value) for name, value in values.items() if isinstance(value, list)}
        return {"ws": self.workspace, **values, **lists}


@dataclass(frozen=True)
class Reader(Session):
    """Implements `weftwork.store.sql.session.Reader`."""

    acls: frozenset[int]
    cached: CachedReads = field(default_factory=CachedReads)
    """What was read before of the same content through the same access lists."""
    content: int | None = None
    """The version of the content, if it is known."""

    def filtered(self, statement: str, filters: Filters, /, **values: object) -> list[Row]:
        """Run a query with the conditions of the filters in the place of its `{filters}`."""
        clause, parameters = filter_clause(filters, FILTERS)
        return self.rows(statement.replace("{filters}", clause), **parameters, **values)

    def together(self, *statements: str, **values: object) -> list[list[Row]]:
        """Run several queries with the same values."""
        bound = self._bound(values)
        return [self.connection.execute(statement, bound).fetchall() for statement in statements]

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Numbers of the visible nodes among these ids."""
        return {name: number for name, number in self.rows(NUMBERS, names=list(names))}

    @property
    def passages(self) -> int:
        """The number of visible passages."""
        return self._totals[0]

    @property
    def words(self) -> int:
        """The number of words in them."""
        return self._totals[1]

    @property
    def _totals(self) -> tuple[int, int]:
        if self.cached.totals is None:
            ((passages, words),) = self.rows(TOTALS)
            self.cached.totals = passages, words
        return self.cached.totals

    def _bound(self, values: Mapping[str, object]) -> dict[str, object]:
        return {**super()._bound(values), "acls": self._visible}

    @cached_property
    def _visible(self) -> str:
        return json.dumps(sorted(self.acls))


def written_since(session: Session, version: int) -> Written | None:
    """Keys written after a version; None if they are many, or others depend on them.

    A title, a place or an access list also counts for what is below its node.
    """
    rows = session.rows(WRITTEN, since=version, most=MOST_WRITTEN + 1)
    nodes = [node for node, _ in rows]
    if len(nodes) > MOST_WRITTEN or session.rows(HANGING, nodes=nodes):
        return None
    beginnings = frozenset(beginning for (beginning,) in session.rows(BEGINNINGS, nodes=nodes))
    documents = frozenset(document for _, document in rows if document is not None)
    return Written(frozenset(nodes), documents, beginnings)
