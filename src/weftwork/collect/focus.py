"""What stands around the place where the user works, or inside the page that they look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.summary import page_summary
from weftwork.errors import NotFound
from weftwork.store.protocol import View
from weftwork.types import NodeInfo

Around = tuple[NodeInfo, float, str, int]
"""A node with its relevance, the reason, and its distance in the tree."""


@dataclass(frozen=True, slots=True)
class FocusCollector:
    """The focused node, its ancestors, siblings and children, with the relevance of the workspace contract."""

    ancestor_depth: int = 3
    sibling_count: int = 2
    children_limit: int = 5
    inside: int = 0
    """For a page or a database: how many of the blocks in it are offered instead of what stands around it."""
    inside_depth: int = 3
    passages: int = 8
    """How much of a long focused node is offered."""
    name: str = "focus"
    section: str = "focus"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The focus first, then by relevance."""
        focus, page = inquiry.request.focus, inquiry.request.page
        found = [] if focus is None else self._focused(inquiry, focus)
        if page is not None and page != focus:
            summary = self._page(inquiry, page)
            found = [summary, *(each for each in found if each.key != summary.key)]
        return sorted(found, key=lambda each: (-each.score, each.key))

    def _focused(self, inquiry: Inquiry, focus: str) -> list[Found]:
        view, excluded = inquiry.view, inquiry.request.filters.exclude
        own = _known(view, focus, self.passages)
        found = [
            Found(key, 1.0 - 0.01 * index, "the focus", "focus", distance=0, asked=True)
            for index, key in enumerate(own)
        ]
        if self.inside:
            (record,) = view.load(own[:1])
            summary = page_summary(view, record, inquiry.request.filters)
            found[0] = Found(own[0], 1.0, "the focus, as a summary", "focus", distance=0, record=summary, asked=True)
        near = self._inside(view, focus) if self.inside else self._around(view, focus)
        around = [each for each in near if each[0].id not in excluded]
        first = view.passages([node.id for node, *_ in around])
        return found + [
            Found(key, score, why, "focus", distance=hops)
            for node, score, why, hops in around
            for key in first.get(node.id, ())
        ]

    def _page(self, inquiry: Inquiry, page: str) -> Found:
        """The page that the focus stands on: as near as its parent, which it often is."""
        (record,) = inquiry.view.load(_known(inquiry.view, page, 1))
        summary = page_summary(inquiry.view, record, inquiry.request.filters)
        return Found(
            record.passage.key, 0.9, "the page of the focus, as a summary", "focus", record=summary, asked=True
        )

    def _around(self, view: View, focus: str) -> Iterator[Around]:
        for index, node in enumerate(view.ancestors(focus, self.ancestor_depth)):
            yield node, max(0.0, 0.9 - index * 0.1), f"ancestor {index + 1} of the focus", index + 1
        for index, node in enumerate(view.siblings(focus, self.sibling_count)):
            yield node, max(0.0, 0.8 - index * 0.05), f"sibling {index + 1} of the focus", 2
        for index, node in enumerate(view.children(focus, self.children_limit)):
            yield node, max(0.0, 0.85 - index * 0.05), f"child {index + 1} of the focus", 1

    def _inside(self, view: View, page: str) -> Iterator[Around]:
        """The blocks of a page in the order of reading: each a little less than the one before, all well above half."""
        waiting = [(child, 1) for child in reversed(view.children(page, self.inside))]
        for index in range(self.inside):
            if not waiting:
                return
            node, depth = waiting.pop()
            yield node, 0.95 - 0.35 * index / self.inside, f"block {index + 1} of the focus", depth
            if depth < self.inside_depth:
                below = view.children(node.id, self.inside - index)
                waiting += [(child, depth + 1) for child in reversed(below)]


def _known(view: View, node: str, limit: int) -> list[int]:
    """The first passages of a node that has to be there."""
    keys = view.passages([node], limit=limit).get(node)
    if not keys:
        raise NotFound(f"focus {node!r} does not exist in this workspace: check its id with  weftwork search")
    return keys
