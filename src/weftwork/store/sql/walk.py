"""The breadth-first walk over the tree and the edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weftwork.store.shares import in_shares
from weftwork.store.sql.queries import ReadQueries
from weftwork.store.sql.session import Reader
from weftwork.types import Reached, Step

HUB_FETCH = 1_000
"""Most recent neighbours of a hub that are read, to choose the most similar from."""

SHARES = 4
"""Each owner of what leads to a hub has one of so many shares of its places, and more if others leave them."""

CONTAINERS = frozenset({"folder", "workspace", "database"})
"""Types of nodes whose children have nothing to do with one another."""

Ranking = Callable[[Sequence[int]], dict[int, float]]
"""Similarity of the first passages of nodes, by node."""


@dataclass(frozen=True, slots=True)
class EdgeRules:
    """The edge types that a walk follows, and their order."""

    only: tuple[str, ...] = ()
    """Nothing else, in this order; empty means all."""
    first: tuple[str, ...] = ()
    """Before all others."""

    @property
    def order(self) -> dict[str, int]:
        """The place of each type that has one."""
        return {kind: index for index, kind in enumerate(dict.fromkeys((*self.first, *self.only)))}

    def allows(self, kind: str) -> bool:
        """True if edges of this type are followed."""
        return not self.only or kind in self.only


@dataclass(frozen=True, slots=True)
class Hop:
    """A step from a reached node to another one."""

    start: int
    end: int
    step: Step
    recency: int
    type: str = ""
    """Of the node that it leads to."""
    owner: str | None = None
    """Of the node that it leads to."""

    @property
    def by_others(self) -> str | None:
        """The owner of what was linked to the start, or hung below it; None for what the start itself links to."""
        return self.owner if self.step.direction == "in" or self.step.edge == "child" else None


Hops = Callable[[Sequence[int], EdgeRules, int], dict[int, list[Hop]]]
"""Reads the steps from some nodes, by start, with a limit for each kind and node."""


def hops(
    reader: Reader, sql: ReadQueries, frontier: Sequence[int], edges: EdgeRules, limit: int
) -> dict[int, list[Hop]]:
    """Read the steps from the frontier to visible nodes, at most `limit` of each kind from one node."""
    parts: list[str] = []
    if edges.allows("child"):
        parts.append(sql.CHILD_HOPS)
    if edges.allows("parent"):
        parts.append(sql.PARENT_HOPS)
    if not edges.only or set(edges.only) - {"child", "parent"}:
        parts += [sql.EDGE_HOPS_OUT, sql.EDGE_HOPS_IN]
    rows = reader.rows(
        " UNION ALL ".join(parts),
        frontier=list(frontier),
        limit=limit,
        any=not edges.only,
        types=list(edges.only),
        order=list(edges.order),
    )
    steps: dict[int, list[Hop]] = {}
    for start, end, kind, label, name, recency, way, node_type, weight, owner in rows:
        hop = Hop(start, end, Step(kind, way, name, label, weight), recency, node_type, owner)
        steps.setdefault(start, []).append(hop)
    return steps


def walk(
    numbers: Mapping[str, int],
    hops_from: Hops,
    starts: Sequence[str],
    *,
    depth: int,
    limit: int,
    edges: EdgeRules,
    hub_limit: int,
    rank: Ranking | None,
) -> list[Reached]:
    """Breadth-first search from the known starts; each node once, by the first shortest path found.

    What holds a node, such as its folder, is reached and leads no further: its other children are unrelated.
    """
    order = edges.order
    seen: dict[int, Reached] = {}
    for name in starts:
        if name in numbers and numbers[name] not in seen:
            seen[numbers[name]] = Reached(name, numbers[name], 0, (), name)
    frontier = list(seen)
    most = max(HUB_FETCH, hub_limit) if rank or order else SHARES * hub_limit + 1
    for distance in range(1, depth + 1):
        if not frontier or len(seen) >= limit + len(numbers):
            break
        reached: list[int] = []
        hops = hops_from(frontier, edges, most)
        for hop, sampled in _ordered(
            [_sample(hops.get(start, []), hub_limit, order, rank) for start in frontier], order
        ):
            if hop.end not in seen and len(seen) < limit + len(numbers):
                origin = seen[hop.start]
                hubs = (*origin.hubs, origin.node) if sampled else origin.hubs
                seen[hop.end] = Reached(hop.step.node, hop.end, distance, (*origin.path, hop.step), origin.start, hubs)
                if hop.step.edge != "parent" or hop.type not in CONTAINERS:
                    reached.append(hop.end)
        frontier = reached
    return list(seen.values())


def _ordered(sampled: Sequence[tuple[list[Hop], bool]], order: Mapping[str, int]) -> list[tuple[Hop, bool]]:
    """The steps of one level: by type, then from the nodes in their order, then the most recent."""
    steps = [(hop, left_out, place) for place, (hops, left_out) in enumerate(sampled) for hop in hops]
    steps.sort(key=lambda step: (_place(step[0], order), step[2], -step[0].recency, *_name(step[0])))
    return [(hop, left_out) for hop, left_out, _ in steps]


def _sample(hops: list[Hop], limit: int, order: Mapping[str, int], rank: Ranking | None) -> tuple[list[Hop], bool]:
    """The hops to follow from one node, and True if some were left out.

    Each type of the order in turn has half of the places that are left, so that it comes first and
    yet does not shut out the others. What one owner linked to the node takes a share of the places before others had
    theirs: nobody crowds out what others linked.
    """
    if len({hop.end for hop in hops}) <= limit:
        return hops, False
    scores = rank(sorted({hop.end for hop in hops})) if rank else {}
    best = sorted(hops, key=lambda hop: (-scores.get(hop.end, -1.0), -hop.recency, *_name(hop)))
    best = in_shares(best, lambda hop: hop.by_others, max(1, limit // SHARES))
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
    """Add up to `most` nodes that are not chosen yet."""
    chosen.update([end for end in dict.fromkeys(ends) if end not in chosen][:most])


def _place(hop: Hop, order: Mapping[str, int]) -> int:
    return order.get(hop.step.edge, len(order))


def _name(hop: Hop) -> tuple[str, ...]:
    """Tells any two steps from one node apart."""
    return (hop.step.node, hop.step.edge, hop.step.direction, hop.step.label)
