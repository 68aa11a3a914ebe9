"""Collector of passages with the words of the query, or words that resemble them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.query import INTENTS
from weftwork.types import Filters, Hit

DOCUMENTS = frozenset({"file", "document", "document_page", "page", "note"})
"""Types that the thread contract calls files: what has a content of its own and is no turn of a conversation."""


@dataclass(frozen=True, slots=True)
class LexicalCollector:
    """Full text; for words of the query that occur nowhere, trigram matches in titles, paths and words."""

    limit: int | None = None
    """Most hits; None derives it from the budget."""
    threshold: float = 0.0
    """The least score of a hit."""
    fuzzy_limit: int = 5
    fuzzy_threshold: float = 0.3
    types: frozenset[str] = frozenset()
    """Types of nodes, unless the request names others; empty means all."""
    name: str = "lexical"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Word hits first, then fuzzy hits."""
        hits = [hit for hit in self._hits(inquiry) if hit.score >= self.threshold]
        findings = [Found(hit.key, hit.score, f"words {hit.score:.2f}", "words") for hit in hits]
        # A word for a type of node, such as "tasks", is no misspelled "asks".
        words = [word for word in inquiry.question.words if word not in INTENTS]
        unknown = inquiry.view.unknown_words(words) if self.fuzzy_limit and words else []
        if not unknown:
            return findings
        keys = {hit.key for hit in hits}
        alike = inquiry.view.search_fuzzy(
            " ".join(unknown),
            limit=self.fuzzy_limit,
            filters=within(inquiry.request.filters, self.types),
            threshold=self.fuzzy_threshold,
        )
        return findings + [
            Found(hit.key, hit.score, f"resembles the query {hit.score:.2f}", "fuzzy")
            for hit in alike
            if hit.key not in keys and hit.score >= self.threshold
        ]

    def _hits(self, inquiry: Inquiry) -> list[Hit]:
        """The shared hits, or those of a search of its own where only some types count."""
        filters = within(inquiry.request.filters, self.types)
        if filters == inquiry.request.filters or not inquiry.question.search.strip():
            return inquiry.word_hits[: self.limit]
        most = inquiry.search_depth if self.limit is None else self.limit
        return inquiry.view.search_words(inquiry.searched_words, limit=most, filters=filters)


def within(filters: Filters, types: frozenset[str]) -> Filters:
    """The filters of a request, restricted to some types where it names none itself."""
    return replace(filters, types=types) if types and not filters.types else filters
