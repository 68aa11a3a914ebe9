"""Collector of passages with the words of the query, or words that resemble them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.follow_up import borrowed
from weftwork.collect.inquiry import Found, Inquiry
from weftwork.query import INTENTS
from weftwork.types import Filters, Hit


@dataclass(frozen=True, slots=True)
class LexicalCollector:
    """Full text; where it finds nothing, titles, paths and words that resemble the query."""

    limit: int | None = None
    """Most hits; None derives it from the budget."""
    threshold: float = 0.0
    """The least score of a hit."""
    fuzzy_limit: int = 5
    """Most hits that only resemble the query; 0 corrects no typo either."""
    fuzzy_threshold: float = 0.3
    types: frozenset[str] = frozenset()
    """Types of nodes, unless the request names others; empty means all."""
    name: str = "lexical"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Word hits, or else fuzzy hits."""
        if hits := [hit for hit in self._hits(inquiry) if hit.score >= self.threshold]:
            near = [other for others in inquiry.corrections.values() for other in others] if self.fuzzy_limit else []
            read = f", also by {', '.join(near)}" if near else ""
            return [Found(hit.key, hit.score, f"words {hit.score:.2f}{read}", "words") for hit in hits]
        words = [word for word in inquiry.question.words if word not in INTENTS]
        if not (self.fuzzy_limit and words):
            return []
        alike = inquiry.view.search_fuzzy(
            " ".join(words),
            limit=self.fuzzy_limit,
            filters=within(inquiry.request.filters, self.types),
            threshold=self.fuzzy_threshold,
        )
        return [
            Found(hit.key, hit.score, f"resembles the query {hit.score:.2f}", "fuzzy")
            for hit in alike
            if hit.score >= self.threshold
        ]

    def _hits(self, inquiry: Inquiry) -> list[Hit]:
        """The shared hits, or those of a search of its own where only some types count."""
        filters = within(inquiry.request.filters, self.types)
        exact = not self.fuzzy_limit and bool(inquiry.corrections)
        if not inquiry.question.search.strip() or (filters == inquiry.request.filters and not exact):
            return inquiry.word_hits[: self.limit]
        most = inquiry.search_depth if self.limit is None else self.limit
        if exact:
            also = borrowed(inquiry.said_before, inquiry.question.text)
            return inquiry.view.search_words(inquiry.question.search, limit=most, filters=filters, also=also)
        return inquiry.search_words(inquiry.question.search, filters, most)


def within(filters: Filters, types: frozenset[str]) -> Filters:
    """The filters of a request, restricted to some types where it names none itself."""
    return replace(filters, types=types) if types and not filters.types else filters
