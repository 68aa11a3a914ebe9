"""One user's snapshot of one workspace."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from weftwork.store.protocol import Closed, Direction
from weftwork.store.sqlite import dates, graph, history, pages, search, tree
from weftwork.store.sqlite.codec import INFO_WIDTH, PASSAGE, ids, node_info, passage
from weftwork.store.sqlite.index_sync import DerivedIndexes, read_vectors
from weftwork.store.sqlite.scope import Reader, filter_clause
from weftwork.store.walk import EdgeRules, walk
from weftwork.types import Change, Edge, Event, Filters, Hit, Node, NodeInfo, Reached, Record, Usage

if TYPE_CHECKING:
    from weftwork.embed.protocol import Matrix, Vector

NO_FILTERS = Filters()
NOT_CLOSED = Closed()


class SqliteView:
    """Implements `weftwork.store.protocol.View`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        derived: DerivedIndexes,
        *,
        names: tuple[str, str],
        workspace: int,
        version: int,
        acls: frozenset[int],
    ) -> None:
        self.workspace, self.user = names
        self.fingerprint: tuple[object, ...] = (*names, version, acls)
        self._reader = Reader(connection, workspace, acls, ids(sorted(acls)))
        self._connection = connection
        self._derived = derived

    def nodes(self, names: Sequence[str]) -> list[Node]:
        """The visible nodes among these ids, in the order asked for."""
        rows = self._reader.rows(
            """SELECT {info}, (SELECT group_concat(text, '') FROM
                   (SELECT text FROM passages WHERE node = n.pk ORDER BY ordinal))
               FROM nodes n WHERE n.workspace = :ws AND n.acl IN {visible}
                 AND n.id IN (SELECT value FROM json_each(:names))""",
            names=ids(names),
        )
        found = {row[0]: _whole(node_info(row), row[INFO_WIDTH] or "") for row in rows}
        return [found[name] for name in names if name in found]

    def load(self, keys: Sequence[int]) -> list[Record]:
        """The visible passages among these keys, in the order asked for, with their breadcrumbs."""
        rows = self._reader.rows(
            f"""SELECT {{info}}, n.pk, {PASSAGE} FROM passages p CROSS JOIN nodes n ON n.pk = p.node
                WHERE p.key IN (SELECT value FROM json_each(:keys)) AND n.workspace = :ws
                  AND n.acl IN {{visible}}""",
            keys=ids(keys),
        )
        above = tree.trails(self._reader, [row[INFO_WIDTH] for row in rows])
        found = {}
        for row in rows:
            stored = passage(row[INFO_WIDTH + 1 :])
            found[stored.key] = Record(node_info(row), stored, above.get(row[INFO_WIDTH], ()))
        return [found[key] for key in keys if key in found]

    def passages(self, names: Sequence[str], limit: int = 1) -> dict[str, list[int]]:
        """Keys of the first passages of each visible node."""
        rows = self._reader.rows(
            """SELECT n.id, p.key FROM nodes n CROSS JOIN passages p ON p.node = n.pk AND p.ordinal < :limit
               WHERE n.workspace = :ws AND n.acl IN {visible} AND n.id IN (SELECT value FROM json_each(:names))
               ORDER BY n.id, p.ordinal""",
            names=ids(names),
            limit=limit,
        )
        found: dict[str, list[int]] = {}
        for name, key in rows:
            found.setdefault(name, []).append(key)
        return found

    def nodes_of(self, keys: Sequence[int]) -> list[str]:
        """Ids of the visible nodes that these passages belong to, in their order, each once."""
        rows = self._reader.rows(
            """SELECT p.key, n.id FROM passages p CROSS JOIN nodes n ON n.pk = p.node
               WHERE p.key IN (SELECT value FROM json_each(:keys)) AND n.workspace = :ws AND n.acl IN {visible}""",
            keys=ids(keys),
        )
        owners: dict[int, str] = dict(rows)
        return list(dict.fromkeys(owners[key] for key in keys if key in owners))

    def cited(self, citations: Sequence[str]) -> list[Record]:
        """The visible passages with these citation ids, in the order asked for."""
        rows = self._reader.rows(
            """SELECT p.key, p.citation FROM passages p CROSS JOIN nodes n ON n.pk = p.node
               WHERE p.citation IN (SELECT value FROM json_each(:wanted)) AND n.workspace = :ws
                 AND n.acl IN {visible} ORDER BY p.key""",
            wanted=ids(citations),
        )
        order = {citation: index for index, citation in enumerate(citations)}
        return self.load([key for key, _ in sorted(rows, key=lambda row: (order[row[1]], row[0]))])

    def find(self, title: str) -> list[str]:
        """Ids of the visible nodes whose title or source is this, ignoring case."""
        rows = self._reader.rows(
            """SELECT id FROM nodes WHERE +workspace = :ws AND acl IN {visible} AND pk IN (
                   SELECT pk FROM nodes WHERE workspace = :ws AND title = :title COLLATE NOCASE UNION
                   SELECT pk FROM nodes WHERE workspace = :ws AND source = :title COLLATE NOCASE AND source != '')
               ORDER BY pk LIMIT 20""",
            title=title,
        )
        return [row[0] for row in rows]

    def select(self, filters: Filters, *, limit: int, sort: Literal["updated", "title"] = "updated") -> list[NodeInfo]:
        """Visible nodes that pass the filters."""
        clause, values = filter_clause(filters)
        order = "n.updated_at DESC, n.pk" if sort == "updated" else "n.title COLLATE NOCASE, n.pk"
        rows = self._reader.rows(
            f"""SELECT {{info}} FROM nodes n WHERE n.workspace = :ws AND n.acl IN {{visible}}{clause}
                ORDER BY {order} LIMIT :limit""",
            limit=limit,
            **values,
        )
        return [node_info(row) for row in rows]

    def past(
        self,
        fields: Sequence[str],
        now: datetime,
        *,
        closed: Closed = NOT_CLOSED,
        limit: int,
        filters: Filters = NO_FILTERS,
    ) -> list[NodeInfo]:
        """Visible nodes with an ISO date in one of these fields that has passed, the earliest first."""
        return dates.past(self._reader, fields, now, closed, limit, filters)

    def search_words(self, text: str, *, limit: int, filters: Filters = NO_FILTERS) -> list[Hit]:
        """BM25 with the statistics of what the viewer may see."""
        return search.by_words(self._reader, self._derived, text, limit, filters)

    def search_fuzzy(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.3
    ) -> list[Hit]:
        """Titles, paths and words that nearly match."""
        return search.by_resemblance(self._reader, self._derived, text, limit, filters, threshold)

    def search_vector(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> list[Hit]:
        """Nearest passages by cosine."""
        return self.prepare_vector_search(vector, model=model, limit=limit, filters=filters, threshold=threshold)()

    def prepare_vector_search(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> Callable[[], list[Hit]]:
        """The same search, ready to run in another thread beside other reads of this view."""
        index = self._derived.vectors(self._connection, model, len(vector))
        scope = search.scope_for(self._reader, filters)

        def run() -> list[Hit]:
            return [Hit(key, score) for key, score in index.search(vector, scope, limit=limit, threshold=threshold)]

        return run

    def search_pages(self, vectors: Matrix, *, model: str, limit: int, filters: Filters = NO_FILTERS) -> list[Hit]:
        """Pages by MaxSim, as the keys of their first passages."""
        return pages.search(self._reader, vectors, model, limit, filters)

    def similarities(self, vector: Vector, keys: Sequence[int], *, model: str) -> dict[int, float]:
        """Cosine of each of these passages that has a vector."""
        index = self._derived.vectors(self._connection, model, len(vector))
        return index.similarities(vector, self._visible("key", keys))

    def unknown_words(self, words: Sequence[str]) -> list[str]:
        """Those of these words that occur in nothing that the viewer may see."""
        return search.unknown_words(self._reader, self._derived, words)

    def idf(self, words: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency of words among the visible passages."""
        return search.word_weights(self._reader, self._derived, words)

    def ancestors(self, node: str, depth: int) -> list[NodeInfo]:
        """From the parent upwards, as far as the viewer may see without a gap."""
        return tree.ancestors(self._reader, node, depth)

    def siblings(self, node: str, count: int) -> list[NodeInfo]:
        """Up to `count` visible siblings before and `count` after, nearest first, before first."""
        return tree.siblings(self._reader, node, count)

    def adjacent(self, keys: Sequence[int], count: int) -> dict[int, list[tuple[int, int]]]:
        """Up to `count` passages before and after each of these, in reading order, as (offset, key)."""
        return tree.adjacent(self._reader, keys, count)

    def children(self, node: str, limit: int, *, last: bool = False) -> list[NodeInfo]:
        """The first (or last) visible children in their order."""
        return tree.children(self._reader, node, limit, last=last)

    def neighbours(
        self, node: str, *, types: Sequence[str] = (), direction: Direction = "both", limit: int = 100
    ) -> list[tuple[Edge, NodeInfo]]:
        """Visible nodes at the other end of this node's edges."""
        return graph.neighbours(self._reader, node, types, direction, limit)

    def edges(self, nodes: Sequence[str], *, limit: int = 100, as_of: datetime | None = None) -> list[Edge]:
        """Edges between visible nodes with an end among these."""
        return graph.edges(self._reader, nodes, limit, as_of)

    def walk(
        self,
        starts: Sequence[str],
        *,
        depth: int,
        limit: int = 100,
        types: Sequence[str] = (),
        first: Sequence[str] = (),
        hub_limit: int = 50,
        vector: Vector | None = None,
        model: str = "",
    ) -> list[Reached]:
        """Breadth first over the tree and the edges, both ways, through visible nodes only."""

        def rank(numbers: Sequence[int]) -> dict[int, float]:
            assert vector is not None
            firsts = dict(
                self._reader.rows(
                    "SELECT key, node FROM passages WHERE ordinal = 0 AND node IN (SELECT value FROM json_each(:n))",
                    n=ids(numbers),
                )
            )
            scores = self.similarities(vector, list(firsts), model=model)
            return {firsts[key]: score for key, score in scores.items()}

        return walk(
            self._reader.numbers(starts),
            partial(graph.hops, self._reader),
            starts,
            depth=depth,
            limit=limit,
            edges=EdgeRules(tuple(types), tuple(first)),
            hub_limit=hub_limit,
            rank=None if vector is None else rank,
        )

    def tree_distance(self, node: str, others: Sequence[str]) -> dict[str, int]:
        """Hops between nodes through their nearest common visible ancestor, where there is one."""
        return tree.tree_distance(self._reader, node, others)

    def events(self, kind: Literal["view", "edit"], *, limit: int, since: datetime | None = None) -> list[Event]:
        """This user's own latest views or edits, newest first, each node once."""
        return history.events(self._reader, self.user, kind, limit, since)

    def usage(self, nodes: Sequence[str]) -> dict[str, Usage]:
        """Use and feedback of these nodes."""
        return history.usage(self._reader, self.user, nodes)

    def changes(self, since: int) -> list[Change]:
        """Visible nodes written or removed after a version of the workspace."""
        return history.changes(self._reader, since)

    def next_turn(self, moment: datetime) -> datetime | None:
        """The first moment after this one at which a visible node begins or ceases to be valid."""
        return history.next_turn(self._reader, moment)

    def vectors(self, digests: Sequence[str], *, model: str) -> dict[str, Vector]:
        """Vectors kept under those of these digests that stand for a visible passage."""
        return read_vectors(self._connection, self._reader.workspace, model, self._visible("digest", digests))

    def counts(self) -> dict[str, int]:
        """How many nodes by type, edges, tags and passages the viewer may see."""
        return history.counts(self._reader)

    def _visible(self, column: Literal["key", "digest"], values: Sequence[object]) -> list[Any]:
        """Those of these keys or digests that belong to a visible passage."""
        rows = self._reader.rows(
            f"""SELECT DISTINCT {column} FROM passages
                WHERE {column} IN (SELECT value FROM json_each(:values)) AND acl IN {{visible}}""",
            values=ids(values),
        )
        return [row[0] for row in rows]


def _whole(info: NodeInfo, text: str) -> Node:
    return Node(**{name: getattr(info, name) for name in NodeInfo.__slots__}, text=text)
