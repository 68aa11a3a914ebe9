"""Following edges: neighbours, and the breadth-first walk over the tree and the edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from weft.store.protocol import Direction
from weft.store.sqlite.codec import INFO_WIDTH, ids, node_info
from weft.store.sqlite.scope import Reader
from weft.types import Edge, NodeInfo, Reached, Step

HUB_FETCH = 1_000
"""Most recent neighbours of a hub that are read, to choose the most similar from."""

Ranking = Callable[[Sequence[int]], dict[int, float]]
"""Similarity of the first passages of nodes, by node."""


def neighbours(
    reader: Reader, node: str, types: Sequence[str], direction: Direction, limit: int
) -> list[tuple[Edge, NodeInfo]]:
    """Visible nodes at the other end of a node's edges: outgoing first, heaviest first."""
    found: list[tuple[Edge, NodeInfo]] = []
    for way, near, far in (("out", "source", "target"), ("in", "target", "source")):
        if direction not in (way, "both"):
            continue
        rows = reader.rows(
            f"""SELECT {{info}}, e.type, e.label, e.weight FROM nodes f
                CROSS JOIN edges e ON e.{near} = f.pk CROSS JOIN nodes n ON n.pk = e.{far}
                WHERE f.workspace = :ws AND f.id = :node AND f.acl IN {{visible}} AND n.acl IN {{visible}}
                  AND (:types = '[]' OR e.type IN (SELECT value FROM json_each(:types)))
                ORDER BY e.weight DESC, n.pk, e.type, e.label LIMIT :limit""",
            node=node,
            types=ids(types),
            limit=limit - len(found),
        )
        for row in rows:
            other = node_info(row)
            ends = (node, other.id) if way == "out" else (other.id, node)
            kind, label, weight = row[INFO_WIDTH:]
            found.append((Edge(source=ends[0], target=ends[1], type=kind, label=label, weight=weight), other))
    return found


@dataclass(frozen=True, slots=True)
class _Hop:
    start: int
    end: int
    step: Step
    recency: int


def walk(
    reader: Reader,
    starts: Sequence[str],
    *,
    depth: int,
    limit: int,
    types: Sequence[str],
    hub_limit: int,
    rank: Ranking | None,
) -> list[Reached]:
    """Breadth first from the visible starts; each node once, by the first shortest path found."""
    numbers = reader.numbers(starts)
    order = {kind: index for index, kind in enumerate(types)}
    seen: dict[int, Reached] = {}
    for name in starts:
        if name in numbers and numbers[name] not in seen:
            seen[numbers[name]] = Reached(name, numbers[name], 0, (), name)
    frontier = list(seen)
    for distance in range(1, depth + 1):
        if not frontier or len(seen) >= limit + len(numbers):
            break
        reached: list[int] = []
        hops = _hops(reader, frontier, order, max(HUB_FETCH, hub_limit) if rank else hub_limit + 1)
        for start in frontier:
            own, sampled = _sample(hops.get(start, []), hub_limit, rank)
            for hop in sorted(own, key=lambda hop: (order.get(hop.step.edge, len(order)), -hop.recency, *_name(hop))):
                if hop.end not in seen and len(seen) < limit + len(numbers):
                    origin = seen[start]
                    seen[hop.end] = Reached(
                        hop.step.node, hop.end, distance, (*origin.path, hop.step), origin.start,
                        sampled or origin.sampled,
                    )  # fmt: skip
                    reached.append(hop.end)
        frontier = reached
    return list(seen.values())


def _sample(hops: list[_Hop], limit: int, rank: Ranking | None) -> tuple[list[_Hop], bool]:
    """The hops to follow from one node, and whether some were left out."""
    if len({hop.end for hop in hops}) <= limit:
        return hops, False
    scores = rank(sorted({hop.end for hop in hops})) if rank else {}
    best = sorted(hops, key=lambda hop: (-scores.get(hop.end, -1.0), -hop.recency, *_name(hop)))
    chosen: set[int] = set()
    for hop in best:
        if len(chosen) == limit:
            break
        chosen.add(hop.end)
    return [hop for hop in hops if hop.end in chosen], True


def _name(hop: _Hop) -> tuple[str, ...]:
    """Tells any two steps from one node apart."""
    return (hop.step.node, hop.step.edge, hop.step.direction, hop.step.label)


def _hops(reader: Reader, frontier: Sequence[int], order: dict[str, int], most: int) -> dict[int, list[_Hop]]:
    """All single steps from the frontier to visible nodes, at most `most` of each kind from one node."""
    found: dict[int, list[_Hop]] = {}
    for query, way in _queries(order):
        for start, end, kind, label, name, recency in reader.rows(
            query, frontier=ids(frontier), most=most, types=ids(order)
        ):
            found.setdefault(start, []).append(_Hop(start, end, Step(kind, way, name, label), recency))
    return found


def _queries(order: dict[str, int]) -> list[tuple[str, Literal["out", "in"]]]:
    queries: list[tuple[str, Literal["out", "in"]]] = []
    if not order or "child" in order:
        queries.append((_TREE.format(far="c.parent = f.value", kind="child"), "out"))
    if not order or "parent" in order:
        queries.append((_TREE.format(far="c.pk = (SELECT parent FROM nodes WHERE pk = f.value)", kind="parent"), "in"))
    if not order or order.keys() - {"child", "parent"}:
        queries.append((_EDGES.format(near="source", far="target"), "out"))
        queries.append((_EDGES.format(near="target", far="source"), "in"))
    return queries


_TREE = """SELECT f.value, n.pk, '{kind}', '', n.id, n.updated_at FROM json_each(:frontier) f
    CROSS JOIN nodes n ON n.pk IN (SELECT c.pk FROM nodes c WHERE {far} AND c.acl IN {{visible}}
                             ORDER BY c.updated_at DESC, c.pk LIMIT :most)"""
_EDGES = """SELECT f.value, n.pk, e.type, e.label, n.id, n.updated_at FROM json_each(:frontier) f
    CROSS JOIN edges e ON e.{near} = f.value AND e.{far} IN (
        SELECT x.{far} FROM edges x CROSS JOIN nodes v ON v.pk = x.{far} AND v.acl IN {{visible}}
        WHERE x.{near} = f.value AND (:types = '[]' OR x.type IN (SELECT value FROM json_each(:types)))
        ORDER BY v.updated_at DESC, v.pk LIMIT :most)
    CROSS JOIN nodes n ON n.pk = e.{far}
    WHERE :types = '[]' OR e.type IN (SELECT value FROM json_each(:types))"""
