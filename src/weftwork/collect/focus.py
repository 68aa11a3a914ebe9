"""Collector of the nodes around the focus, or inside the page that the user looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.errors import NotFound
from weftwork.store.protocol import View
from weftwork.types import CONTAINERS, NodeInfo

Around = tuple[NodeInfo, float, str, int]
"""A node with its relevance, the reason, and its distance in the tree."""


@dataclass(frozen=True, slots=True)
class FocusCollector:
    """The focus, its ancestors, siblings and children, scored as in the workspace contract."""

    ancestor_depth: int = 3
    sibling_count: int = 2
    children_limit: int = 5
    around: bool = True
    """False for a page or a database: only what stands in it is of interest, not what stands around it."""
    levels: int | None = None
    """Levels shown below the focus; None for all."""
    name: str = "focus"
    section: str = "focus"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The focus first, then by relevance."""
        focus, page = inquiry.request.focus, inquiry.request.page
        findings = [] if focus is None else self._focused(inquiry, focus)
        if page is not None and page != focus:
            key = _known(inquiry.view, page)
            if all(finding.key != key for finding in findings):
                findings.append(Found(key, 0.9, "the page of the focus", "focus"))
        return sorted(findings, key=lambda finding: (-finding.score, finding.key))

    def _focused(self, inquiry: Inquiry, focus: str) -> list[Found]:
        view, excluded = inquiry.view, inquiry.request.filters.exclude
        focused = Found(
            _known(view, focus), 1.0, "the focus", "focus", distance=0, asked=True, levels=self.levels, by_id=True
        )
        around = [relative for relative in self._around(view, focus) if relative[0].id not in excluded]
        levels = None if self.levels is None else self.levels - 1
        first = view.passages([node.id for node, *_ in around])
        return [focused] + [
            Found(key, score, why, "focus", distance=hops, levels=levels)
            for node, score, why, hops in around
            for key in first.get(node.id, ())
        ]

    def _around(self, view: View, focus: str) -> Iterator[Around]:
        if self.around:
            above = view.ancestors(focus, self.ancestor_depth)
            for index, node in enumerate(above):
                yield node, max(0.0, 0.9 - index * 0.1), f"ancestor {index + 1} of the focus", index + 1
            # What lies in the same folder is another document, and no surroundings of this one.
            siblings = [] if above and above[0].type in CONTAINERS else view.siblings(focus, self.sibling_count)
            for index, node in enumerate(siblings):
                yield node, max(0.0, 0.8 - index * 0.05), f"sibling {index + 1} of the focus", 2
        for index, node in enumerate(view.children(focus, self.children_limit)):
            yield node, max(0.0, 0.85 - index * 0.05), f"child {index + 1} of the focus", 1


def _known(view: View, node: str) -> int:
    """The first passage of a node that has to be there."""
    keys = view.passages([node]).get(node)
    if not keys:
        raise NotFound(f"focus {node!r} does not exist in this workspace: check its id with  weftwork search")
    return keys[0]
