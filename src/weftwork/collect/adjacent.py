"""Collector of the passages right before and after the hits, where the answer often stands."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.types import Filters

TURNS = frozenset({"message"})
"""Types that are said one after the other: what answers a question often does not repeat its words."""


@dataclass(frozen=True, slots=True)
class AdjacentCollector:
    """The turns or paragraphs around each hit; scored by the `window` signal."""

    count: int = 2
    types: frozenset[str] = frozenset()
    """Types of hits; empty means all."""
    name: str = "adjacent"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Around the best hit first, the nearest first."""
        hits = dict.fromkeys(hit.key for hit in (*inquiry.word_hits, *inquiry.vector_hits))
        if self.types:
            hits = {record.passage.key: None for record in inquiry.load(list(hits)) if record.node.type in self.types}
        around = inquiry.view.adjacent(list(hits), self.count) if hits else {}
        findings: dict[int, Found] = {}
        for key in hits:
            for offset, other in sorted(around.get(key, ()), key=lambda record: (abs(record[0]), record[0])):
                if other not in hits:
                    place = "before" if offset < 0 else "after"
                    findings.setdefault(other, Found(other, 0.0, f"{abs(offset)} {place} a hit", "adjacent"))
        filters = inquiry.request.filters
        if replace(filters, as_of=None) == Filters():
            return list(findings.values())
        admitted = {
            neighbour.passage.key for neighbour in inquiry.view.load(list(findings)) if filters.admits(neighbour.node)
        }
        return [finding for finding in findings.values() if finding.key in admitted]
