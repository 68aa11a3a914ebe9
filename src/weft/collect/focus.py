"""What stands around the place where the user works."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry
from weft.errors import NotFound
from weft.store.protocol import View
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
        excluded = inquiry.request.filters.exclude
        found = [Found(key, 1.0 - 0.01 * index, "the focus", distance=0) for index, key in enumerate(own)]
        around = [each for each in self._around(view, focus) if each[0].id not in excluded]
        first = view.passages([node.id for node, *_ in around])
        found += [
            Found(key, score, why, distance=hops) for node, score, why, hops in around for key in first.get(node.id, ())
        ]
        return sorted(found, key=lambda each: (-each.score, each.key))

    def _around(self, view: View, focus: str) -> Iterator[tuple[NodeInfo, float, str, int]]:
        """Nodes with their relevance, the reason, and their distance in the tree."""
        for index, node in enumerate(view.ancestors(focus, self.ancestor_depth)):
            yield node, max(0.0, 0.9 - index * 0.1), f"ancestor {index + 1} of the focus", index + 1
        for index, node in enumerate(view.siblings(focus, self.sibling_count)):
            yield node, max(0.0, 0.8 - index * 0.05), f"sibling {index + 1} of the focus", 2
        for index, node in enumerate(view.children(focus, self.children_limit)):
            yield node, max(0.0, 0.85 - index * 0.05), f"child {index + 1} of the focus", 1
