"""Collector of what the user wants remembered: facts of a line, which longer texts would crowd out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.types import Filters

MEMORY, PINNED = "memory", "pinned"
"""The tags of memories, and of those that stand in every context of their owner."""


@dataclass(frozen=True, slots=True)
class MemoriesCollector:
    """The user's own pinned memories, and the memories with words of the query."""

    limit: int = 10
    """Most memories of each kind."""
    name: str = "memories"
    section: str = "memories"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Pinned memories first; none where the request asks for some types or tags alone."""
        filters = inquiry.request.filters
        if filters.types or filters.tags:
            return []
        memories = replace(filters, tags=frozenset({MEMORY}))
        if not inquiry.view.select(memories, limit=1):
            return []
        found = self._pinned(inquiry, replace(filters, tags=frozenset({MEMORY, PINNED})))
        known = {finding.key for finding in found}
        words = inquiry.question.search
        hits = inquiry.search_words(words, memories, self.limit) if words.strip() else []
        return found + [
            Found(hit.key, hit.score, f"a memory, words {hit.score:.2f}", "words")
            for hit in hits
            if hit.key not in known
        ]

    def _pinned(self, inquiry: Inquiry, filters: Filters) -> list[Found]:
        view = inquiry.view
        own = [node.id for node in view.select(filters, limit=self.limit) if node.owner == view.user]
        return [Found(keys[0], 1.0, "pinned", "other") for keys in view.passages(own).values()]
