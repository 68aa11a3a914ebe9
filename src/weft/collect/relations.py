"""What the focus is linked to."""

from __future__ import annotations

from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry
from weft.types import Edge, Step


@dataclass(frozen=True, slots=True)
class RelationsCollector:
    """Related rows 0.75, links 0.7 and backlinks 0.65, as in the workspace contract."""

    max_items: int = 10
    name: str = "relations"
    section: str = "relations"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The strongest relation first, each node once."""
        focus = inquiry.request.focus
        if focus is None:
            return []
        left_out = inquiry.request.filters.exclude | {focus}
        best: dict[str, tuple[float, Edge]] = {}
        for edge, node in inquiry.view.neighbours(focus, limit=self.max_items * 4):
            score = _worth(edge, focus)
            if node.id not in left_out and (node.id not in best or best[node.id][0] < score):
                best[node.id] = (score, edge)
        ranked = sorted(best.items(), key=lambda each: (-each[1][0], each[0]))[: self.max_items]
        keys = inquiry.view.passages([node for node, _ in ranked])
        return [
            Found(key, score, _why(edge, focus), distance=1, path=(_step(edge, focus, node),))
            for node, (score, edge) in ranked
            for key in keys.get(node, ())
        ]


def _worth(edge: Edge, focus: str) -> float:
    if edge.type == "relation":
        return 0.75
    return 0.7 if edge.source == focus else 0.65


def _why(edge: Edge, focus: str) -> str:
    name = f"{edge.type} {edge.label}".strip()
    return f"{name} of the focus" if edge.source == focus else f"{name} to the focus"


def _step(edge: Edge, focus: str, node: str) -> Step:
    return Step(edge.type, "out" if edge.source == focus else "in", node, edge.label)
