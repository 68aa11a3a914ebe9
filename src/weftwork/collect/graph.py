"""What can be reached along the tree and the edges, from the focus, from topics or from what the query names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.start_nodes import WalkStart, closeness, walk_starts
from weftwork.request import DEFAULT_DEPTH, Request
from weftwork.types import Reach, Reached


@dataclass(frozen=True, slots=True)
class GraphCollector:
    """A walk from the focus, from named titles, or from the best hits by words; with topics, one walk from each."""

    depth: int = DEFAULT_DEPTH
    limit: int | None = 100
    """How many nodes; None leaves it to the size of the budget."""
    hub_limit: int = 50
    seeds: int = 3
    """How many of the best hits a walk starts from when there is no focus."""
    unasked: bool = True
    """Whether it starts from hits even where the request says nothing about walks: no depth, no edges, no lens."""
    topics: bool = False
    """Whether the query is a topic to be looked up and searched for, as in the graph contract."""
    passages: int = 1
    """How much of a long node at which a walk starts is offered."""
    name: str = "graph"
    section: str = "relations"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Nearest first; a node's score is 1 / (1 + its distance), times the evidence for a hit that it starts from."""
        named = self._named(inquiry)
        from_hits = named is None and (self.unasked or _asks_for_a_walk(inquiry.request))
        hits = _best_by_words(inquiry, self.seeds) if from_hits else {}
        walks = [
            (head, self._walk(inquiry, head.starts)) for head in (_from(inquiry, hits) if named is None else named)
        ]
        ways = self._united(walks, inquiry)
        excluded = inquiry.request.filters.exclude
        wanted = {node: way for node, way in ways.items() if node not in excluded}
        # One passage more than are offered, to know whether there are more.
        keys = inquiry.view.passages(list(wanted), limit=2)
        if self.passages > 1:
            starts = [node for node, (nearest, _) in wanted.items() if nearest.distance == 0]
            keys |= inquiry.view.passages(starts, limit=self.passages + 1)
        # Of a long text it is the hit that is wanted, not the beginning.
        keys |= {node: [key] for node, (_, key) in hits.items() if node in wanted}
        worth = {node: evidence for node, (evidence, _) in hits.items()}
        asked = frozenset(node for head in named or () if head.named for node in head.starts)
        return [
            found
            for node, (nearest, reaches) in wanted.items()
            for found in self._found(nearest, reaches, keys.get(node, ()), worth.get(nearest.start, 1.0), asked)
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
        """Each node once, with the shortest way to it and the topics that reached it; the nearest first."""
        ways: dict[str, list[tuple[Reached, Reach]]] = {}
        places: dict[str, int] = {}
        for head, walk in walks:
            for place, each in enumerate(walk):
                reach = Reach(head.topic, each.start, each.distance, head.weight)
                ways.setdefault(each.node, []).append((each, reach))
                places[each.node] = min(place, places.get(each.node, place))
        united = {}
        for node, way in ways.items():
            way.sort(key=lambda each: each[0].distance)
            united[node] = (way[0][0], tuple(reach for _, reach in way))
        near = sorted(
            united, key=lambda node: (united[node][0].distance > 0, -closeness(united[node][1]), places[node])
        )
        starts = sum(nearest.distance == 0 for nearest, _ in united.values())
        return {node: united[node] for node in near[: starts + self._limit(inquiry)]}

    def _named(self, inquiry: Inquiry) -> list[WalkStart] | None:
        """Where the request or the query says to start; None if neither does."""
        if self.topics or inquiry.request.topics:
            return walk_starts(inquiry)
        if inquiry.request.focus is not None:
            return _from(inquiry, [inquiry.request.focus], named=True)
        named = [node for title in inquiry.question.titles for node in inquiry.view.find(title)[:1]]
        return _from(inquiry, named, named=True) if named else None


def _asks_for_a_walk(request: Request) -> bool:
    return request.depth is not None or bool(request.edge_types or request.edge_order)


def _best_by_words(inquiry: Inquiry, count: int) -> dict[str, tuple[float, int]]:
    """The nodes of the best hits by words, with what words and meaning say for them and the passage that was hit."""
    best: dict[str, tuple[float, int]] = {}
    for record in inquiry.load([hit.key for hit in inquiry.word_hits[:count]]):
        key = record.passage.key
        best[record.node.id] = max((inquiry.evidence[key], key), best.get(record.node.id, (0.0, key)))
    return best


def _from(inquiry: Inquiry, starts: Iterable[str], *, named: bool = False) -> list[WalkStart]:
    nodes = tuple(starts)
    return [WalkStart(inquiry.request.query, 1.0, nodes, named)] if nodes else []


def _why(reached: Reached) -> str:
    if not reached.path:
        return "start of the walk"
    arrows = (f"{'→' if step.direction == 'out' else '←'} {step.edge}" for step in reached.path)
    return " ".join(arrows) + (" (a hub was sampled)" if reached.hubs else "")
