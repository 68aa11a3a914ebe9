"""What a view's queries share: the connection, the workspace, and the lists that the user may see."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weftwork.store.sqlite.codec import INFO, ids, to_micros
from weftwork.types import Filters

VISIBLE = "(SELECT value FROM json_each(:acls))"
VALID = (
    "({table}.valid_from IS NULL OR {table}.valid_from <= :as_of)"
    " AND ({table}.valid_until IS NULL OR {table}.valid_until > :as_of)"
)


@dataclass(frozen=True, slots=True)
class Reader:
    """Runs queries for one viewer: `{visible}` in a query stands for the lists that they may see."""

    connection: sqlite3.Connection
    workspace: int
    acls: frozenset[int]
    visible: str
    """The same lists as JSON."""
    frequencies: dict[str, int] = field(default_factory=dict)
    """In how many visible passages a term occurs, as far as it was asked for in this snapshot."""

    def rows(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        text = query.replace("{info}", INFO).replace("{visible}", VISIBLE)
        return self.connection.execute(text, {"ws": self.workspace, "acls": self.visible, **values}).fetchall()

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Keys of the visible nodes among these ids."""
        found = self.rows(
            """SELECT id, pk FROM nodes WHERE workspace = :ws AND acl IN {visible}
               AND id IN (SELECT value FROM json_each(:names))""",
            names=ids(names),
        )
        return dict(found)

    def number(self, name: str) -> int | None:
        """Key of a node, if the viewer may see it."""
        return self.numbers([name]).get(name)


def filter_clause(filters: Filters) -> tuple[str, dict[str, object]]:
    """SQL for the filters on `nodes n`, with its values; begins with AND where there is any."""
    parts: list[str] = []
    values: dict[str, object] = {}
    if filters.types:
        parts.append("n.type IN (SELECT value FROM json_each(:types))")
        values["types"] = ids(sorted(filters.types))
    if filters.tags:
        parts.append(
            """(SELECT COUNT(*) FROM tags t WHERE t.node = n.pk AND t.workspace = :ws
                AND t.tag IN (SELECT value FROM json_each(:tags))) = :tag_count"""
        )
        values.update(tags=ids(sorted(filters.tags)), tag_count=len(filters.tags))
    for name, column, operator, value in _comparisons(filters):
        parts.append(f"{column} {operator} :{name}")
        values[name] = value
    if filters.as_of is not None:
        parts.append(VALID.format(table="n"))
        values["as_of"] = to_micros(filters.as_of)
    if filters.exclude:
        parts.append("n.id NOT IN (SELECT value FROM json_each(:excluded))")
        values["excluded"] = ids(sorted(filters.exclude))
    return "".join(f" AND {part}" for part in parts), values


def _comparisons(filters: Filters) -> Sequence[tuple[str, str, str, object]]:
    found: list[tuple[str, str, str, object]] = []
    if filters.after is not None:
        found.append(("after", "n.updated_at", ">=", to_micros(filters.after)))
    if filters.before is not None:
        found.append(("before", "n.updated_at", "<=", to_micros(filters.before)))
    if filters.min_confidence is not None:
        found.append(("confidence", "n.confidence", ">=", filters.min_confidence))
    if filters.conversation is not None:
        found.append(("conversation", "n.conversation", "=", filters.conversation))
    return found
