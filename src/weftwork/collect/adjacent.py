"""What stands before and after what a search found: an answer often follows the words of the question."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.types import Filters

TURNS = frozenset({"message"})
"""Types that are said one after the other: what answers a question often does not repeat its words."""


@dataclass(frozen=True, slots=True)
class AdjacentCollector:
    """The turns or paragraphs around each hit; what they are worth is for the `window` signal to say."""

    count: int = 2
    types: frozenset[str] = frozenset()
    """Around hits of which types; empty means all."""
    name: str = "adjacent"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Around the best hit first, the nearest first."""
        hits = dict.fromkeys(hit.key for hit in (*inquiry.word_hits, *inquiry.vector_hits))
        if self.types:
            hits = {each.passage.key: None for each in inquiry.load(list(hits)) if each.node.type in self.types}
        around = inquiry.view.adjacent(list(hits), self.count) if hits else {}
        found: dict[int, Found] = {}
        for key in hits:
            for offset, other in sorted(around.get(key, ()), key=lambda each: (abs(each[0]), each[0])):
                if other not in hits:
                    place = "before" if offset < 0 else "after"
                    found.setdefault(other, Found(other, 0.0, f"{abs(offset)} {place} a hit", "adjacent"))
        filters = inquiry.request.filters
        if replace(filters, as_of=None) == Filters():
            return list(found.values())
        admitted = {each.passage.key for each in inquiry.view.load(list(found)) if filters.admits(each.node)}
        return [each for each in found.values() if each.key in admitted]
