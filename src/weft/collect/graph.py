"""What can be reached along the tree and the edges, from the focus or from what the query names."""

from __future__ import annotations

from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry
from weft.types import Reached


@dataclass(frozen=True, slots=True)
class GraphCollector:
    """A walk from the focus, from named titles, or from the best hits by words."""

    depth: int = 2
    limit: int | None = 100
    """How many nodes; None leaves it to the size of the budget."""
    hub_limit: int = 50
    seeds: int = 3
    """How many of the best hits a walk starts from when there is no focus."""
    name: str = "graph"
    section: str = "relations"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Nearest first; a node's score is 1 / (1 + its distance)."""
        starts = self._starts(inquiry)
        if not starts:
            return []
        reached = inquiry.view.walk(
            starts,
            depth=inquiry.request.depth or self.depth,
            limit=inquiry.search_depth if self.limit is None else self.limit,
            types=inquiry.request.edge_types,
            hub_limit=self.hub_limit,
            vector=inquiry.vector,
            model=inquiry.embedder.model if inquiry.embedder else "",
        )
        keys = inquiry.view.passages([each.node for each in reached])
        excluded = inquiry.request.filters.exclude
        return [
            Found(key, 1.0 / (1 + each.distance), _why(each), distance=each.distance, path=each.path)
            for each in reached
            if each.node not in excluded
            for key in keys.get(each.node, ())
        ]

    def _starts(self, inquiry: Inquiry) -> list[str]:
        if inquiry.request.focus is not None:
            return [inquiry.request.focus]
        named = [node for title in inquiry.question.titles for node in inquiry.view.find(title)[:1]]
        if named:
            return named
        return inquiry.view.nodes_of([hit.key for hit in inquiry.word_hits[: self.seeds]])


def _why(reached: Reached) -> str:
    if not reached.path:
        return "start of the walk"
    arrows = (f"{'→' if step.direction == 'out' else '←'} {step.edge}" for step in reached.path)
    return " ".join(arrows) + (" (a hub was sampled)" if reached.sampled else "")
