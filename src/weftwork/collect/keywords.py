"""Collectors of passages with all keywords of the query, and of those that resemble them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.text.analysis import MAX_REQUIRED

MOST_WORDS = 32
"""Words of a query that are compared by their looks: the first ones say what it is about."""


@dataclass(frozen=True, slots=True)
class KeywordCollector:
    """Passages with all keywords, as `a & b` of the thread contract; full text finds the partial ones."""

    limit: int | None = 10
    """Most hits; None for the search depth."""
    name: str = "keywords"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The best first; nothing for a query without keywords."""
        keywords = inquiry.question.keywords
        if not keywords:
            return []
        limit, filters = self.limit or inquiry.search_depth, inquiry.request.filters
        hits = inquiry.view.search_words(requiring(keywords), limit=limit, filters=filters)
        count = min(len(keywords), MAX_REQUIRED)
        why = f"all {count} keywords" if count > 1 else "the keyword"
        return [Found(hit.key, hit.score, f"{why} {hit.score:.2f}", "keywords") for hit in hits]


def requiring(words: Sequence[str]) -> str:
    """Return a query that requires all of these words.

    Words beyond the most that a search can require only count for the rank.
    """
    return " ".join([*(f'"{word}"' for word in words[:MAX_REQUIRED]), *words[MAX_REQUIRED:]])


@dataclass(frozen=True, slots=True)
class FuzzyCollector:
    """Paths, titles and words that look like the query, by their trigrams (thread contract)."""

    limit: int | None = 5
    """Most hits; None for the search depth."""
    threshold: float = 0.3
    name: str = "fuzzy"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The most alike first."""
        # Words that say nothing only make a path look less alike.
        text = " ".join(inquiry.question.words[:MOST_WORDS]) or inquiry.question.search
        limit, filters = self.limit or inquiry.search_depth, inquiry.request.filters
        hits = inquiry.view.search_fuzzy(text, limit=limit, filters=filters, threshold=self.threshold)
        return [Found(hit.key, hit.score, f"resembles the query {hit.score:.2f}", "fuzzy") for hit in hits]
