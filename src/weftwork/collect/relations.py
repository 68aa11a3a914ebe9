"""Collector of the nodes that the focus is linked to."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.related import step_along
from weftwork.types import Edge, Step


@dataclass(frozen=True, slots=True)
class _Related:
    node: str
    score: float
    edge: Edge
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class RelationsCollector:
    """Related rows 0.75, links 0.7 and backlinks 0.65, as in the workspace contract."""

    max_items: int = 10
    max_depth: int = 1
    """Most links from the focus; the scores of the links on a path are multiplied."""
    name: str = "relations"
    section: str = "relations"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The strongest relation first, each node once."""
        focus = inquiry.request.focus
        if focus is None:
            return []
        related: dict[str, _Related] = {}
        nearest = [_Related(focus, 1.0, Edge(source=focus, target=focus), ())]
        for _ in range(self.max_depth):
            nearest = self._linked(inquiry, nearest, related.keys() | {focus})
            related |= {relation.node: relation for relation in nearest}
            # What is one link further off is always worth less: it cannot displace any of these.
            if len(related) >= self.max_items or not nearest:
                break
        keys = inquiry.view.passages(list(related))
        return [
            Found(key, relation.score, _why(relation), "link", distance=len(relation.path), path=relation.path)
            for relation in list(related.values())[: self.max_items]
            for key in keys.get(relation.node, ())
        ]

    def _linked(self, inquiry: Inquiry, starts: list[_Related], seen: set[str]) -> list[_Related]:
        """The nodes one link away from `starts` that are not in `seen`, the strongest first."""
        left_out = inquiry.request.filters.exclude | seen
        admits = inquiry.request.filters.in_period
        best: dict[str, _Related] = {}
        for start in starts:
            for edge, node in inquiry.view.neighbours(start.node, limit=self.max_items * 4):
                score = start.score * _worth(edge, start.node)
                if node.id not in left_out and admits(node) and (node.id not in best or best[node.id].score < score):
                    best[node.id] = _Related(node.id, score, edge, (*start.path, step_along(edge, start.node, node.id)))
        return sorted(best.values(), key=lambda found: (-found.score, found.node))[: self.max_items]


def _worth(edge: Edge, start: str) -> float:
    """The contract's score of a link, less for one that is only inferred."""
    score = 0.75 if edge.type == "relation" else 0.7 if edge.source == start else 0.65
    return score * min(1.0, edge.weight)


def _why(related: _Related) -> str:
    name = f"{related.edge.type} {related.edge.label}".strip()
    way = "of" if related.path[-1].direction == "out" else "to"
    return f"{name} {way} {'the focus' if len(related.path) == 1 else related.path[-2].node}"
