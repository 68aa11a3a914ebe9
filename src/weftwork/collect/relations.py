"""Collector of the nodes that the focus is linked to."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.related import step_along
from weftwork.store.shares import in_shares
from weftwork.types import Edge, Filters, Step

SHARES = 4
"""What one other owner linked to the focus has one of so many shares of the places, and more if others leave them."""

_Related = tuple[float, Edge, tuple[Step, ...]]
"""The score of a node, the last edge that leads to it, and all steps from the focus."""


@dataclass(frozen=True, slots=True)
class RelationsCollector:
    """Related rows 0.75, links 0.7 and backlinks 0.65, as in the workspace contract."""

    max_items: int = 10
    max_depth: int = 1
    """Most links from the focus; the scores of the links on a path are multiplied."""
    name: str = "relations"
    section: str = "relations"
    for_commands: bool = True
    """False finds nothing for a command that is about the focus alone, such as "translate this"."""

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The strongest relation first, each node once."""
        focus = inquiry.request.focus
        if focus is None or (inquiry.question.needs_focus_alone and not self.for_commands):
            return []
        related: dict[str, _Related] = {}
        nearest: dict[str, _Related] = {focus: (1.0, Edge(source=focus, target=focus), ())}
        for _ in range(self.max_depth):
            nearest = self._linked(inquiry, nearest, related.keys() | {focus})
            related |= nearest
            # What is one link further off is always worth less: it cannot displace any of these.
            if len(related) >= self.max_items or not nearest:
                break
        keys = inquiry.view.passages(list(related))
        return [
            Found(key, score, _why(edge, path), "link", distance=len(path), path=path)
            for node, (score, edge, path) in list(related.items())[: self.max_items]
            for key in keys.get(node, ())
        ]

    def _linked(self, inquiry: Inquiry, starts: dict[str, _Related], seen: set[str]) -> dict[str, _Related]:
        """The nodes one link away from `starts` that are not in `seen`, the strongest first."""
        left_out = inquiry.request.filters.exclude | seen
        filters = inquiry.request.filters
        admits = Filters(after=filters.after, before=filters.before).admits
        owners = {node.id: node.owner for node in inquiry.view.nodes(list(starts))}
        best: dict[str, _Related] = {}
        linked_by: dict[str, str | None] = {}
        for start, (worth, _, path) in starts.items():
            for edge, node in inquiry.view.neighbours(start, limit=self.max_items * 4):
                score = 0.75 if edge.type == "relation" else 0.7 if edge.source == start else 0.65
                score *= worth * min(1.0, edge.weight)  # less for a link that is only inferred
                if node.id not in left_out and admits(node) and (node.id not in best or best[node.id][0] < score):
                    best[node.id] = (score, edge, (*path, step_along(edge, start, node.id)))
                    by_others = edge.target == start and node.owner not in (owners.get(start), inquiry.request.user)
                    linked_by[node.id] = node.owner if by_others else None
        strongest = sorted(best, key=lambda name: (-best[name][0], name))
        fair = in_shares(strongest, lambda name: linked_by[name], max(1, self.max_items // SHARES))
        return {name: best[name] for name in fair[: self.max_items]}


def _why(edge: Edge, path: tuple[Step, ...]) -> str:
    way = "of" if path[-1].direction == "out" else "to"
    return f"{f'{edge.type} {edge.label}'.strip()} {way} {'the focus' if len(path) == 1 else path[-2].node}"
