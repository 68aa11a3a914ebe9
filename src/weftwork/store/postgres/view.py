"""One user's snapshot of one workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from weftwork.store.postgres import dates, embeddings, graph, history, pages, search, tree
from weftwork.store.postgres import fuzzy as resemblance
from weftwork.store.postgres.codec import INFO_WIDTH, PASSAGE, TEXT, folded
from weftwork.store.postgres.scope import Reader, filter_clause
from weftwork.store.protocol import Closed, Direction
from weftwork.store.sqlite.codec import node_info, passage
from weftwork.store.walk import EdgeRules, walk
from weftwork.types import Change, Edge, Event, Filters, Hit, Node, NodeInfo, Reached, Record, Usage

if TYPE_CHECKING:
    from psycopg import Connection

    from weftwork.embed.protocol import Matrix, Vector

NO_FILTERS = Filters()
NOT_CLOSED = Closed()


class PostgresView:
    """Implements `weftwork.store.protocol.View`."""

    def __init__(self, connection: Connection[Any], names: tuple[str, str], head: Sequence[Any]) -> None:
        number, version, _, lists, passages, words = head
        self.workspace, self.user = names
        acls = frozenset(lists)
        # The number too: a workspace that is made again under a name counts its versions anew.
        self.fingerprint: tuple[object, ...] = (*names, number, version, acls)
        self._reader = Reader(connection, number, acls, sorted(acls), passages, words)

    def close(self) -> None:
        """Wait for what still reads in other threads; what comes later is refused."""
        self._reader.lock.close()

    def nodes(self, names: Sequence[str]) -> list[Node]:
        """The visible nodes among these ids, in the order asked for."""
        rows = self._reader.rows(
            f"""SELECT {{info}}, {TEXT}
                FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {{visible}} AND n.id = ANY (%(names)s::text[])""",
            names=list(names),
        )
        found = {row[0]: _whole(node_info(row), row[INFO_WIDTH] or "") for row in rows}
        return [found[name] for name in names if name in found]

    def load(self, keys: Sequence[int]) -> list[Record]:
        """The visible passages among these keys, in the order asked for, with their breadcrumbs."""
        rows, titles = self._reader.together(
            f"""SELECT {{info}}, n.pk, {PASSAGE} FROM passages p JOIN nodes n ON n.workspace = %(ws)s AND n.pk = p.node
                WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[]) AND n.acl = {{visible}}""",
            tree.TRAILS,
            keys=list(keys),
            highest=tree.HIGHEST,
        )
        above = tree.trails(titles)
        found = {}
        for row in rows:
            stored = passage(row[INFO_WIDTH + 1 :])
            found[stored.key] = Record(node_info(row), stored, above.get(row[INFO_WIDTH], ()))
        return [found[key] for key in keys if key in found]

    def passages(self, names: Sequence[str], limit: int = 1) -> dict[str, list[int]]:
        """Keys of the first passages of each visible node."""
        rows = self._reader.rows(
            """SELECT n.id, p.key FROM nodes n
               JOIN passages p ON p.workspace = %(ws)s AND p.node = n.pk AND p.ordinal < %(limit)s
               WHERE n.workspace = %(ws)s AND n.acl = {visible} AND n.id = ANY (%(names)s::text[])
               ORDER BY n.id, p.ordinal""",
            names=list(names),
            limit=limit,
        )
        found: dict[str, list[int]] = {}
        for name, key in rows:
            found.setdefault(name, []).append(key)
        return found

    def nodes_of(self, keys: Sequence[int]) -> list[str]:
        """Ids of the visible nodes that these passages belong to, in their order, each once."""
        rows = self._reader.rows(
            """SELECT p.key, n.id FROM passages p JOIN nodes n ON n.workspace = %(ws)s AND n.pk = p.node
               WHERE p.workspace = %(ws)s AND p.key = ANY (%(keys)s::bigint[]) AND n.acl = {visible}""",
            keys=list(keys),
        )
        owners = {key: name for key, name in rows}
        return list(dict.fromkeys(owners[key] for key in keys if key in owners))

    def cited(self, citations: Sequence[str]) -> list[Record]:
        """The visible passages with these citation ids, in the order asked for."""
        rows = self._reader.rows(
            """SELECT key, citation FROM passages
               WHERE workspace = %(ws)s AND citation = ANY (%(wanted)s::text[]) AND acl = {visible}""",
            wanted=list(citations),
        )
        order = {citation: index for index, citation in enumerate(citations)}
        return self.load([key for key, _ in sorted(rows, key=lambda row: (order[row[1]], row[0]))])

    def find(self, title: str) -> list[str]:
        """Ids of the visible nodes whose title or source is this, ignoring case."""
        rows = self._reader.rows(
            """SELECT id FROM nodes WHERE workspace = %(ws)s AND acl = {visible} AND (
                   (title_key = %(start)s AND lower(title) = lower(%(title)s COLLATE "C"))
                OR (source_key = %(start)s AND source_key <> '' AND lower(source) = lower(%(title)s COLLATE "C")))
               ORDER BY pk LIMIT 20""",
            start=folded(title),
            title=title,
        )
        return [row[0] for row in rows]

    def select(self, filters: Filters, *, limit: int, sort: Literal["updated", "title"] = "updated") -> list[NodeInfo]:
        """Visible nodes that pass the filters."""
        clause, values = filter_clause(filters)
        order = "n.updated_at DESC, n.pk" if sort == "updated" else "lower(n.title), n.pk"
        rows = self._reader.rows(
            f"""SELECT {{info}} FROM nodes n WHERE n.workspace = %(ws)s AND n.acl = {{visible}}{clause}
                ORDER BY {order} LIMIT %(limit)s""",
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
        return search.by_words(self._reader, text, limit, filters)

    def search_fuzzy(
        self, text: str, *, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.3
    ) -> list[Hit]:
        """Titles, paths and words that nearly match."""
        return resemblance.search(self._reader, text, limit, filters, threshold)

    def search_vector(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> list[Hit]:
        """Nearest passages by cosine."""
        return embeddings.search(self._reader, vector, model=model, limit=limit, filters=filters, threshold=threshold)

    def prepare_vector_search(
        self, vector: Vector, *, model: str, limit: int, filters: Filters = NO_FILTERS, threshold: float = 0.0
    ) -> Callable[[], list[Hit]]:
        """The same search, ready to run in another thread: it takes its turn on this view's connection."""
        return partial(self.search_vector, vector, model=model, limit=limit, filters=filters, threshold=threshold)

    def search_pages(self, vectors: Matrix, *, model: str, limit: int, filters: Filters = NO_FILTERS) -> list[Hit]:
        """Pages by MaxSim, as the keys of their first passages."""
        return pages.search(self._reader, vectors, model, limit, filters)

    def similarities(self, vector: Vector, keys: Sequence[int], *, model: str) -> dict[int, float]:
        """Cosine of each of these passages that has a vector."""
        return embeddings.similarities(self._reader, vector, keys, model)

    def unknown_words(self, words: Sequence[str]) -> list[str]:
        """Those of these words that occur in nothing that the viewer may see."""
        return search.unknown_words(self._reader, words)

    def idf(self, words: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency of words among the visible passages."""
        return search.word_weights(self._reader, words)

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
            rows = self._reader.rows(
                """SELECT key, node FROM passages
                   WHERE workspace = %(ws)s AND ordinal = 0 AND node = ANY (%(nodes)s::bigint[])""",
                nodes=list(numbers),
            )
            firsts = {key: node for key, node in rows}
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
        return embeddings.kept(self._reader, digests, model)

    def counts(self) -> dict[str, int]:
        """How many nodes by type, edges, tags and passages the viewer may see."""
        return history.counts(self._reader)


def _whole(info: NodeInfo, text: str) -> Node:
    return Node(**{name: getattr(info, name) for name in NodeInfo.__slots__}, text=text)
