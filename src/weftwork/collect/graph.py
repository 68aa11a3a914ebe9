"""Collector that walks the tree and the edges from the focus, from topics or from named nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.related import arrows
from weftwork.collect.start_nodes import WalkStart, closeness, walk_starts
from weftwork.request import DEFAULT_DEPTH
from weftwork.types import Reach, Reached, Step


@dataclass(frozen=True, slots=True)
class GraphCollector:
    """A walk from the focus, from named titles or from the best word hits; with topics, one from each."""

    depth: int = DEFAULT_DEPTH
    limit: int | None = 100
    """Most nodes; None derives it from the budget."""
    hub_limit: int = 50
    seeds: int = 3
    """Best hits that a walk starts from when there is no focus."""
    unasked: bool = True
    """Start from hits even where the request asks for no walk: no depth, no edges, no lens."""
    topics: bool = False
    """Treat the query as a topic to look up or search for, as in the graph contract."""
    passages: int = 1
    """Passages offered of a long start node."""
    name: str = "graph"
    section: str = "relations"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Nearest first, scored 1 / (1 + distance).

        Where a walk starts from a hit, the score is multiplied by the hit's evidence.
        """
        named = self._named(inquiry)
        request = inquiry.request
        asks_for_walk = request.depth is not None or bool(request.edge_types or request.edge_order)
        from_hits = named is None and (self.unasked or asks_for_walk)
        hits = _best_by_words(inquiry, self.seeds) if from_hits else {}
        walks = [
            (head, self._walk(inquiry, head.starts)) for head in (_from(inquiry, hits) if named is None else named)
        ]
        ways = self._united(walks, inquiry)
        excluded = request.filters.exclude
        admitted = {node: way for node, way in ways.items() if node not in excluded}
        # One passage more than are offered, to know whether there are more.
        keys = inquiry.view.passages(list(admitted), limit=2)
        if self.passages > 1:
            starts = [node for node, (nearest, _) in admitted.items() if nearest.distance == 0]
            keys |= inquiry.view.passages(starts, limit=self.passages + 1)
        # Of a long text it is the hit that is wanted, not the beginning.
        keys |= {node: [key] for node, (_, key) in hits.items() if node in admitted}
        keys |= {node: list(of) for head in named or () for node, of in head.hits.items() if node in admitted}
        worth = {node: evidence for node, (evidence, _) in hits.items()}
        asked = frozenset(node for head in named or () if head.named for node in head.starts)
        return [
            finding
            for node, (nearest, reaches) in admitted.items()
            for finding in self._found(nearest, reaches, keys.get(node, ()), worth.get(nearest.start, 1.0), asked)
        ]

    def _found(
        self, nearest: Reached, reaches: tuple[Reach, ...], keys: Sequence[int], worth: float, named: frozenset[str]
    ) -> list[Found]:
        offered = 1 if nearest.path else self.passages
        return [
            Found(
                key,
                worth / (1 + nearest.distance),
                _why(nearest),
                "link",
                distance=nearest.distance,
                path=nearest.path,
                asked=not nearest.path and nearest.node in named,
                by_id=not nearest.path and any(reach.topic.strip() == nearest.node for reach in reaches),
                reached=reaches,
                hubs=nearest.hubs,
                # What stands above is told by its own words: the first of all that is below it is another thing.
                levels=0 if nearest.path and nearest.path[-1].edge == "parent" else None,
                more=place + 1 < len(keys),
            )
            for place, key in enumerate(keys[:offered])
        ]

    def _walk(self, inquiry: Inquiry, starts: Sequence[str]) -> list[Reached]:
        return inquiry.view.walk(
            starts,
            depth=inquiry.request.depth or self.depth,
            limit=self._limit(inquiry),
            types=inquiry.request.edge_types,
            first=inquiry.request.edge_order,
            hub_limit=self.hub_limit,
            vector=inquiry.vector,
            model=inquiry.embedder.model if inquiry.embedder else "",
        )

    def _limit(self, inquiry: Inquiry) -> int:
        return inquiry.search_depth if self.limit is None else self.limit

    def _united(
        self, walks: Sequence[tuple[WalkStart, list[Reached]]], inquiry: Inquiry
    ) -> dict[str, tuple[Reached, tuple[Reach, ...]]]:
        """Merge the walks: the shortest path to each node and the topics that reached it, nearest first."""
        ways: dict[str, list[tuple[Reached, Reach]]] = {}
        places: dict[str, int] = {}
        for head, walk in walks:
            for place, reached in enumerate(walk):
                # A mention tells less of a node than a link to it does.
                worth = math.prod((head.scores.get(reached.start, 1.0), *map(_strength, reached.path)))
                reach = Reach(head.topic, reached.start, reached.distance, head.weight * worth)
                ways.setdefault(reached.node, []).append((reached, reach))
                places[reached.node] = min(place, places.get(reached.node, place))
        united = {}
        for node, way in ways.items():
            way.sort(key=lambda pair: pair[0].distance)
            united[node] = (way[0][0], tuple(reach for _, reach in way))
        near = sorted(
            united, key=lambda node: (united[node][0].distance > 0, -closeness(united[node][1]), places[node])
        )
        starts = sum(nearest.distance == 0 for nearest, _ in united.values())
        return {node: united[node] for node in near[: starts + self._limit(inquiry)]}

    def _named(self, inquiry: Inquiry) -> list[WalkStart] | None:
        """The starts that the request or the query names; None if neither does."""
        if self.topics or inquiry.request.topics:
            return walk_starts(inquiry)
        if inquiry.request.focus is not None:
            return _from(inquiry, [inquiry.request.focus], named=True)
        named = [node for title in inquiry.question.titles for node in inquiry.view.find(title)[:1]]
        return _from(inquiry, named, named=True) if named else None


def _best_by_words(inquiry: Inquiry, count: int) -> dict[str, tuple[float, int]]:
    """The nodes of the best word hits, with their evidence and the key of the passage that was hit."""
    best: dict[str, tuple[float, int]] = {}
    for record in inquiry.load([hit.key for hit in inquiry.word_hits[:count]]):
        key = record.passage.key
        best[record.node.id] = max((inquiry.evidence[key], key), best.get(record.node.id, (0.0, key)))
    return best


def _from(inquiry: Inquiry, starts: Iterable[str], *, named: bool = False) -> list[WalkStart]:
    nodes = tuple(starts)
    return [WalkStart(inquiry.request.query, 1.0, nodes, named)] if nodes else []


def _strength(step: Step) -> float:
    return min(1.0, max(0.0, step.weight))


def _why(reached: Reached) -> str:
    if not reached.path:
        return "start of the walk"
    return arrows(reached.path) + (" (a hub was sampled)" if reached.hubs else "")
