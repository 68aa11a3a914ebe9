"""What stands around the place where the user works."""

from __future__ import annotations

from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry
from weft.errors import NotFound
from weft.types import NodeInfo


@dataclass(frozen=True, slots=True)
class FocusCollector:
    """The focused node, its ancestors, siblings and children, with the relevance of the workspace contract."""

    ancestor_depth: int = 3
    sibling_count: int = 2
    children_limit: int = 5
    passages: int = 8
    """How much of a long focused node is offered."""
    name: str = "focus"
    section: str = "focus"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The focus first, then by relevance."""
        focus, view = inquiry.request.focus, inquiry.view
        if focus is None:
            return []
        own = view.passages([focus], limit=self.passages).get(focus)
        if not own:
            raise NotFound(f"focus {focus!r} does not exist in this workspace: check its id with  weft search")
        around = [
            *self._graded(view.ancestors(focus, self.ancestor_depth), 0.9, 0.1, "ancestor"),
            *self._graded(view.siblings(focus, self.sibling_count), 0.8, 0.05, "sibling"),
            *self._graded(view.children(focus, self.children_limit), 0.85, 0.05, "child"),
        ]
        first = view.passages([node.id for node, _, _ in around])
        found = [Found(key, 1.0 - 0.01 * index, "the focus", distance=0) for index, key in enumerate(own)]
        found += [Found(key, score, why, distance=1) for node, score, why in around for key in first.get(node.id, ())]
        return sorted(found, key=lambda each: (-each.score, each.key))

    @staticmethod
    def _graded(nodes: list[NodeInfo], top: float, step: float, kind: str) -> list[tuple[NodeInfo, float, str]]:
        return [
            (node, max(0.0, top - index * step), f"{kind} {index + 1} of the focus") for index, node in enumerate(nodes)
        ]
