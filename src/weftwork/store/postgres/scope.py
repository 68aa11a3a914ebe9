"""What a view's queries share: the connection, the workspace, and the lists that the user may see."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from psycopg import ClientCursor

from weftwork.errors import StoreError
from weftwork.store.postgres.codec import INFO
from weftwork.store.sqlite.codec import to_micros
from weftwork.types import Filters

if TYPE_CHECKING:
    from psycopg import Connection

VISIBLE = "ANY (%(acls)s::bigint[])"


@dataclass(frozen=True, slots=True)
class Model:
    """A model whose vectors a workspace has."""

    number: int
    dimensions: int
    indexed: int
    """Rows of all workspaces in the index of nearest vectors that `weftwork tune` made; none where there is none."""


_MODEL = """SELECT m.model, m.dimensions, COALESCE((
        SELECT greatest(c.reltuples, 0)::bigint FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indisvalid AND i.indexrelid = to_regclass(
            replace(m.tableoid::regclass::text, 'models_', 'embeddings_') || '_nearest_' || m.dimensions)), 0)
    FROM models m WHERE m.workspace = %(ws)s AND m.name = %(name)s"""


class ViewLock:
    """Lets one thread at a time use a view's connection, and none once the view is closed: it is another's then."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._over = False

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._over:
            self._lock.release()
            raise StoreError("this view is closed: open another one")

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def close(self) -> None:
        """Wait for who has it, and let nobody else."""
        with self._lock:
            self._over = True


@dataclass(frozen=True, slots=True)
class Reader:
    """Runs queries for one viewer: `{visible}` in a query stands for the lists that they may see."""

    connection: Connection[Any]
    workspace: int
    acls: frozenset[int]
    visible: list[int]
    """The same lists, in order."""
    passages: int
    """How many passages the viewer may see."""
    words: int
    """And how many words there are in them."""
    frequencies: dict[str, int] = field(default_factory=dict)
    """In how many visible passages a term occurs, as far as it was asked for in this snapshot."""
    models: dict[str, Model | None] = field(default_factory=dict)
    """The models that were asked for in this snapshot; None for one without vectors."""
    lock: ViewLock = field(default_factory=ViewLock)
    """Who has it may use the connection, which a view's threads share."""

    def rows(self, query: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query that looks things up: its plan, made for this workspace, is kept on the connection."""
        with self.lock:
            return self.connection.execute(self._text(query), {"acls": self.visible, **values}).fetchall()

    def together(self, *queries: str, **values: Any) -> list[list[tuple[Any, ...]]]:
        """All rows of each of several such queries, which are sent at once and take one round trip."""
        given = {"acls": self.visible, **values}
        with self.lock:
            with self.connection.pipeline():
                cursors = [self.connection.execute(self._text(query), given) for query in queries]
            return [cursor.fetchall() for cursor in cursors]

    def searched(self, query: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query that searches: how it does that best depends on what is sought, so it is planned anew."""
        with self.lock, ClientCursor(self.connection) as cursor:
            return cursor.execute(self._text(query), {"acls": self.visible, **values}).fetchall()

    def _text(self, query: str) -> bytes:
        text = query.replace("{info}", INFO).replace("{visible}", VISIBLE).replace("%(ws)s", str(self.workspace))
        return text.encode()

    def model(self, name: str) -> Model | None:
        """What is known of a model, None where it has no vectors."""
        if name not in self.models:
            rows = self.rows(_MODEL, name=name)
            self.models[name] = Model(*rows[0]) if rows else None
        return self.models[name]

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Keys of the visible nodes among these ids."""
        found = self.rows(
            "SELECT id, pk FROM nodes WHERE workspace = %(ws)s AND acl = {visible} AND id = ANY (%(names)s::text[])",
            names=list(names),
        )
        return {name: number for name, number in found}


def filter_clause(filters: Filters) -> tuple[str, dict[str, object]]:
    """SQL for the filters on `nodes n`, with its values; begins with AND where there is any."""
    parts, values = _wanted(filters)
    if filters.as_of is not None:
        parts.append(
            "(n.valid_from IS NULL OR n.valid_from <= %(as_of)s)"
            " AND (n.valid_until IS NULL OR n.valid_until > %(as_of)s)"
        )
        values["as_of"] = to_micros(filters.as_of)
    return "".join(f" AND {part}" for part in parts), values


def node_clause(filters: Filters, column: str) -> tuple[str, dict[str, object]]:
    """SQL for the same filters on any column with the numbers of nodes.

    Nearly everything is valid at any moment: what is not is looked up and left out.
    """
    parts, values = _wanted(filters)
    clause = ""
    if parts:
        clause = f""" AND {column} IN (SELECT n.pk FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {{visible}}
                      AND {" AND ".join(parts)})"""
    if filters.as_of is not None:
        values["as_of"] = to_micros(filters.as_of)
        clause += f""" AND {column} NOT IN (
            SELECT b.pk FROM nodes b WHERE b.workspace = %(ws)s AND b.valid_from > %(as_of)s UNION ALL
            SELECT e.pk FROM nodes e WHERE e.workspace = %(ws)s AND e.valid_until <= %(as_of)s)"""
    return clause, values


def _wanted(filters: Filters) -> tuple[list[str], dict[str, object]]:
    """Conditions on `nodes n`, but for the moment at which it is valid."""
    parts: list[str] = []
    values: dict[str, object] = {}
    if filters.types:
        parts.append("n.type = ANY (%(types)s::text[])")
        values["types"] = sorted(filters.types)
    if filters.tags:
        parts.append(
            """(SELECT count(*) FROM tags t WHERE t.workspace = %(ws)s AND t.node = n.pk
                AND t.tag = ANY (%(tags)s::text[])) = %(tag_count)s"""
        )
        values.update(tags=sorted(filters.tags), tag_count=len(filters.tags))
    for name, condition, value in _comparisons(filters):
        parts.append(condition.format(f"%({name})s"))
        values[name] = value
    if filters.exclude:
        parts.append("n.id <> ALL (%(excluded)s::text[])")
        values["excluded"] = sorted(filters.exclude)
    return parts, values


def _comparisons(filters: Filters) -> Sequence[tuple[str, str, object]]:
    found: list[tuple[str, str, object]] = []
    if filters.after is not None:
        found.append(("after", "n.updated_at >= {}", to_micros(filters.after)))
    if filters.before is not None:
        found.append(("before", "n.updated_at <= {}", to_micros(filters.before)))
    if filters.min_confidence is not None:
        found.append(("confidence", "n.confidence >= {}", filters.min_confidence))
    if filters.conversation is not None:
        found.append(("conversation", "n.conversation = {}", filters.conversation))
    return found
