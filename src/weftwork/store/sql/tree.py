"""Reads along the tree and along links, for one viewer."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from weftwork.store.protocol import Direction
from weftwork.store.sql.codec import INFO_WIDTH, node_info, to_micros
from weftwork.store.sql.queries import ReadQueries
from weftwork.store.sql.read_cache import CachedReads, Lookups, NextTurn
from weftwork.store.sql.session import Reader, Row
from weftwork.store.sql.walk import EdgeRules, Hop, hops, walk
from weftwork.types import Edge, NodeInfo, Reached

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

MAX_DEPTH = 64
"""Limit on the length of a chain of ancestors."""


class TreeReads:
    """The part of a view that reads what stands around a node, and what is linked with it."""

    def __init__(
        self,
        reader: Reader,
        sql: ReadQueries,
        names: tuple[str, str],
        version: int,
        cached: CachedReads | None = None,
    ) -> None:
        """`cached` are rows of the same state of the workspace that the same access lists show."""
        self._reader = reader
        self._sql = sql
        self._cached = cached or CachedReads()
        self.workspace, self.user = names
        # The number too: a workspace that is made again under a name counts its versions anew.
        self.fingerprint: tuple[object, ...] = (*names, reader.workspace, version, reader.acls)
        self.version = version
        self._version = version

    @property
    def _latest(self) -> Lookups:
        return self._cached.latest(self._version)

    @abstractmethod
    def similarities(self, vector: Vector, keys: Sequence[int], *, model: str) -> dict[int, float]:
        """Cosine of each of these passages that has a vector."""

    def ancestors(self, node: str, depth: int) -> list[NodeInfo]:
        """The ancestors from the parent upwards, up to the first hidden one."""

        def read() -> list[NodeInfo]:
            rows = self._reader.rows(self._sql.ANCESTORS, node=node, depth=min(depth, MAX_DEPTH))
            return [node_info(row) for row in rows]

        return list(self._cached.content.one(("ancestors", node, depth), read))

    def siblings(self, node: str, count: int) -> list[NodeInfo]:
        """Up to `count` visible siblings before and `count` after, nearest first, before first."""

        def read() -> list[NodeInfo]:
            before, after = self._reader.together(
                self._sql.SIBLINGS_BEFORE, self._sql.SIBLINGS_AFTER, node=node, count=count
            )
            return [node_info(row) for row in (*before, *after)]

        return list(self._cached.content.one(("siblings", node, count), read))

    def adjacent(self, keys: Sequence[int], count: int) -> dict[int, list[tuple[int, int]]]:
        """Up to `count` passages before and after each of these, as (offset, key).

        They are those of the same node, or of the siblings of a node with a single passage.
        """

        def read(missing: list[int]) -> dict[int, list[tuple[int, int]]]:
            around: dict[int, list[tuple[int, int]]] = {}
            for key, other, offset in self._reader.rows(self._sql.ADJACENT, keys=missing, count=count):
                around.setdefault(key, []).append((offset, other))
            single = [key for key in missing if key not in around]
            if not single:
                return around
            before, after = self._reader.together(
                self._sql.ADJACENT_BEFORE, self._sql.ADJACENT_AFTER, keys=single, count=count
            )
            return around | with_offsets(before, after)

        around: dict[int, list[tuple[int, int]]] = self._cached.content.each(("adjacent", count), keys, read, [])
        return {key: places for key, places in around.items() if places}

    def said_around(
        self, keys: Sequence[int], count: int, *, as_of: datetime | None = None
    ) -> dict[int, list[tuple[int, int]]]:
        """Up to `count` visible nodes said before and after in the same conversation, as (offset, first passage)."""
        moment = {"ever": as_of is None, "as_of": 0 if as_of is None else to_micros(as_of)}
        before, after = self._reader.together(
            self._sql.SAID_BEFORE, self._sql.SAID_AFTER, keys=list(keys), count=count, **moment
        )
        return with_offsets(before, after)

    def children(self, node: str, limit: int, *, last: bool = False) -> list[NodeInfo]:
        """The first (or last) visible children in their order."""
        statement = self._sql.LAST_CHILDREN if last else self._sql.FIRST_CHILDREN

        def read() -> list[NodeInfo]:
            return [node_info(row) for row in self._reader.rows(statement, node=node, limit=limit)]

        children = self._cached.content.one(("children", node, limit, last), read)
        return children[::-1] if last else list(children)

    def neighbours(
        self, node: str, *, types: Sequence[str] = (), direction: Direction = "both", limit: int = 100
    ) -> list[tuple[Edge, NodeInfo]]:
        """Visible nodes at the other end of this node's edges: outgoing first, heaviest first."""
        asked = ("neighbours", node, tuple(types), direction, limit)
        return list(self._latest.one(asked, lambda: self._read_neighbours(node, types, direction, limit)))

    def _read_neighbours(
        self, node: str, types: Sequence[str], direction: Direction, limit: int
    ) -> list[tuple[Edge, NodeInfo]]:
        statements = {"out": self._sql.NEIGHBOURS_OUT, "in": self._sql.NEIGHBOURS_IN}
        ways = [way for way in statements if direction in (way, "both")]
        results = self._reader.together(
            *(statements[way] for way in ways), node=node, any=not types, types=list(types), limit=limit
        )
        neighbours: list[tuple[Edge, NodeInfo]] = []
        for way, rows in zip(ways, results, strict=True):
            for row in rows:
                other = node_info(row)
                source, target = (node, other.id) if way == "out" else (other.id, node)
                kind, label, weight = row[INFO_WIDTH:]
                neighbours.append((Edge(source=source, target=target, type=kind, label=label, weight=weight), other))
        return neighbours[:limit]

    def edges(self, nodes: Sequence[str], *, limit: int = 100, as_of: datetime | None = None) -> list[Edge]:
        """Edges between visible nodes with an end among these."""
        # Between two turns, the same nodes are valid.
        period = None if as_of is None else self._turn(to_micros(as_of)).start
        moment = {"ever": as_of is None, "as_of": 0 if as_of is None else to_micros(as_of)}

        def read(missing: list[str]) -> dict[str, list[Row]]:
            rows: dict[str, list[Row]] = {}
            for name, *edge in self._reader.rows(self._sql.EDGES, names=missing, limit=limit, **moment):
                rows.setdefault(name, []).append(tuple(edge))
            return rows

        rows: dict[str, list[Row]] = self._latest.each(("edges", limit, period), nodes, read, [])
        return [
            Edge(source=source, target=target, type=kind, label=label, weight=weight)
            for source, target, kind, label, weight in sorted({edge for edges in rows.values() for edge in edges})
        ]

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

        def rank(nodes: Sequence[int]) -> dict[int, float]:
            assert vector is not None
            rows = self._reader.rows(self._sql.FIRST_PASSAGES, nodes=list(nodes))
            node_of = {key: node for key, node in rows}
            scores = self.similarities(vector, list(node_of), model=model)
            return {node_of[key]: score for key, score in scores.items()}

        def hops_from(frontier: Sequence[int], rules: EdgeRules, most: int) -> dict[int, list[Hop]]:
            asked = ("hops", tuple(frontier), rules, most)
            return self._latest.one(asked, lambda: hops(self._reader, self._sql, frontier, rules, most))

        def numbers(missing: list[str]) -> dict[str, int]:
            return {name: number for name, number in self._reader.rows(self._sql.NUMBERS, names=missing)}

        known = self._cached.content.each(("numbers",), starts, numbers, 0)
        return walk(
            {name: number for name, number in known.items() if number},
            hops_from,
            starts,
            depth=depth,
            limit=limit,
            edges=EdgeRules(tuple(types), tuple(first)),
            hub_limit=hub_limit,
            rank=None if vector is None else rank,
        )

    def tree_distance(self, node: str, others: Sequence[str]) -> dict[str, int]:
        """Hops between nodes through their nearest common visible ancestor, where there is one."""
        lineages = self._cached.lineages
        missing = sorted({name for name in (node, *others) if name not in lineages})
        if missing:
            rows = self._reader.rows(self._sql.LINEAGES, names=missing, depth=MAX_DEPTH)
            lineages.update({name: () for name in missing} | lineages_of(rows))
        return distances(node, others, lineages)

    def _turn(self, start: int) -> NextTurn:
        if (turn := self._cached.next_turn(start)) is None:
            (row,) = self._reader.rows(self._sql.NEXT_TURN, moment=start)
            turn = self._cached.turn = NextTurn(start, row[0])
        return turn


def trails_of(rows: Iterable[Row]) -> dict[int, tuple[tuple[int, str], ...]]:
    """The numbers and titles above each node, from the nearest upwards."""
    trails: dict[int, tuple[tuple[int, str], ...]] = {}
    for node, number, title in rows:
        trails[node] = (*trails.get(node, ()), (number, title))
    return trails


def lineages_of(rows: Iterable[Row]) -> dict[str, tuple[int, ...]]:
    """The number of each node and of all above it, from the nearest upwards, of rows of (id, ancestor, levels up)."""
    lineages: dict[str, list[tuple[int, int]]] = {}
    for start, ancestor, level in rows:
        lineages.setdefault(start, []).append((level, ancestor))
    return {name: tuple([number for _, number in sorted(above)]) for name, above in lineages.items()}


def distances(node: str, others: Iterable[str], lineages: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Hops from a node to others through their nearest common ancestor, where there is one."""
    heights = {number: level for level, number in enumerate(lineages.get(node, ()))}
    hops: dict[str, int] = {}
    for other in others:
        for level, number in enumerate(lineages.get(other, ())):
            if number in heights:
                hops[other] = level + heights[number]
                break
    return hops


def with_offsets(before: Iterable[Row], after: Iterable[Row]) -> dict[int, list[tuple[int, int]]]:
    """The keys around each key, the nearest first, with their places from it."""
    around: dict[int, list[tuple[int, int]]] = {}
    for step, rows in ((-1, before), (1, after)):
        offsets: Counter[int] = Counter()
        for key, other in rows:
            offsets[key] += step
            around.setdefault(key, []).append((offsets[key], other))
    return around
