"""Following edges: neighbours, and the breadth-first walk over the tree and the edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
class EdgeRules:
    """Which edge types a walk follows, and in which order."""

    only: tuple[str, ...] = ()
    """Nothing else, in this order; empty means all."""
    first: tuple[str, ...] = ()
    """Before all others."""

    @property
    def order(self) -> dict[str, int]:
        """The place of each type that has one."""
        return {kind: index for index, kind in enumerate(dict.fromkeys((*self.first, *self.only)))}

    def allows(self, kind: str) -> bool:
        """Whether a type is followed."""
        return not self.only or kind in self.only


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
    edges: EdgeRules,
    hub_limit: int,
    rank: Ranking | None,
) -> list[Reached]:
    """Breadth first from the visible starts; each node once, by the first shortest path found."""
    numbers = reader.numbers(starts)
    order = edges.order
    seen: dict[int, Reached] = {}
    for name in starts:
        if name in numbers and numbers[name] not in seen:
            seen[numbers[name]] = Reached(name, numbers[name], 0, (), name)
    frontier = list(seen)
    most = max(HUB_FETCH, hub_limit) if rank or order else hub_limit + 1
    for distance in range(1, depth + 1):
        if not frontier or len(seen) >= limit + len(numbers):
            break
        reached: list[int] = []
        hops = _hops(reader, frontier, edges, most)
        for hop, sampled in _ordered(
            [_sample(hops.get(start, []), hub_limit, order, rank) for start in frontier], order
        ):
            if hop.end not in seen and len(seen) < limit + len(numbers):
                origin = seen[hop.start]
                hubs = (*origin.hubs, origin.node) if sampled else origin.hubs
                seen[hop.end] = Reached(hop.step.node, hop.end, distance, (*origin.path, hop.step), origin.start, hubs)
                reached.append(hop.end)
        frontier = reached
    return list(seen.values())


def _ordered(sampled: Sequence[tuple[list[_Hop], bool]], order: Mapping[str, int]) -> list[tuple[_Hop, bool]]:
    """The steps of one level: by type, then from the nodes in their order, then the most recent."""
    steps = [(hop, left_out, place) for place, (hops, left_out) in enumerate(sampled) for hop in hops]
    steps.sort(key=lambda each: (_place(each[0], order), each[2], -each[0].recency, *_name(each[0])))
    return [(hop, left_out) for hop, left_out, _ in steps]


def _sample(hops: list[_Hop], limit: int, order: Mapping[str, int], rank: Ranking | None) -> tuple[list[_Hop], bool]:
    """The hops to follow from one node, and whether some were left out.

    Each type of the order in turn has half of the places that are left, so that it comes first and
    yet does not shut out the others.
    """
    if len({hop.end for hop in hops}) <= limit:
        return hops, False
    scores = rank(sorted({hop.end for hop in hops})) if rank else {}
    best = sorted(hops, key=lambda hop: (-scores.get(hop.end, -1.0), -hop.recency, *_name(hop)))
    groups: dict[int, list[int]] = {}
    for hop in best:
        groups.setdefault(_place(hop, order), []).append(hop.end)
    places = sorted(groups)
    chosen: set[int] = set()
    for place in places:
        free = limit - len(chosen)
        _take(chosen, groups[place], free if place == places[-1] else (free + 1) // 2)
    for place in places:
        _take(chosen, groups[place], limit - len(chosen))
    return [hop for hop in hops if hop.end in chosen], True


def _take(chosen: set[int], ends: Sequence[int], most: int) -> None:
    """Add up to so many of these that are not chosen yet."""
    chosen.update([end for end in dict.fromkeys(ends) if end not in chosen][:most])


def _place(hop: _Hop, order: Mapping[str, int]) -> int:
    return order.get(hop.step.edge, len(order))


def _name(hop: _Hop) -> tuple[str, ...]:
    """Tells any two steps from one node apart."""
    return (hop.step.node, hop.step.edge, hop.step.direction, hop.step.label)


def _hops(reader: Reader, frontier: Sequence[int], edges: EdgeRules, most: int) -> dict[int, list[_Hop]]:
    """All single steps from the frontier to visible nodes, at most `most` of each kind from one node."""
    found: dict[int, list[_Hop]] = {}
    kinds = {f"kind{index}": kind for kind, index in edges.order.items()}
    for query, way in _queries(edges):
        for start, end, kind, label, name, recency in reader.rows(
            query, frontier=ids(frontier), most=most, types=ids(edges.only), **kinds
        ):
            found.setdefault(start, []).append(_Hop(start, end, Step(kind, way, name, label), recency))
    return found


def _queries(edges: EdgeRules) -> list[tuple[str, Literal["out", "in"]]]:
    queries: list[tuple[str, Literal["out", "in"]]] = []
    if edges.allows("child"):
        queries.append((_TREE.format(far="c.parent = f.value", kind="child"), "out"))
    if edges.allows("parent"):
        queries.append((_TREE.format(far="c.pk = (SELECT parent FROM nodes WHERE pk = f.value)", kind="parent"), "in"))
    if not edges.only or set(edges.only) - {"child", "parent"}:
        # A type that comes first is read even where a hub has thousands of newer edges.
        cases = "".join(f" WHEN :kind{index} THEN {index}" for index in edges.order.values())
        place = f"CASE x.type{cases} ELSE {len(edges.order)} END, " if cases else ""
        queries.append((_EDGES.format(near="source", far="target", place=place), "out"))
        queries.append((_EDGES.format(near="target", far="source", place=place), "in"))
    return queries


_TREE = """SELECT f.value, n.pk, '{kind}', '', n.id, n.updated_at FROM json_each(:frontier) f
    CROSS JOIN nodes n ON n.pk IN (SELECT c.pk FROM nodes c WHERE {far} AND c.acl IN {{visible}}
                             ORDER BY c.updated_at DESC, c.pk LIMIT :most)"""
_EDGES = """SELECT f.value, n.pk, e.type, e.label, n.id, n.updated_at FROM json_each(:frontier) f
    CROSS JOIN edges e ON e.{near} = f.value AND e.{far} IN (
        SELECT x.{far} FROM edges x CROSS JOIN nodes v ON v.pk = x.{far} AND v.acl IN {{visible}}
        WHERE x.{near} = f.value AND (:types = '[]' OR x.type IN (SELECT value FROM json_each(:types)))
        ORDER BY {place}v.updated_at DESC, v.pk LIMIT :most)
    CROSS JOIN nodes n ON n.pk = e.{far}
    WHERE :types = '[]' OR e.type IN (SELECT value FROM json_each(:types))"""
