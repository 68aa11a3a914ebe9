"""Collectors of passages with all keywords of the query, and of those that resemble them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.text.analysis import MAX_REQUIRED

MOST_WORDS = 32
"""Words of a query that are compared by their looks: the first ones say what it is about."""
MOST_NAMES = 4
"""Names of files in a query that are compared each by itself."""
_FILE_NAME = re.compile(r"[\w/-][\w./-]*\.[A-Za-z]\w{0,4}\b")


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
        names = _FILE_NAME.findall(inquiry.question.text)[:MOST_NAMES]
        limit, filters = self.limit or inquiry.search_depth, inquiry.request.filters
        scores: dict[int, float] = {}
        # Two names together look like neither file.
        for each in dict.fromkeys((text, *names)):
            for hit in inquiry.view.search_fuzzy(each, limit=limit, filters=filters, threshold=self.threshold):
                scores[hit.key] = max(hit.score, scores.get(hit.key, 0.0))
        parts = {
            record.passage.key for record in inquiry.load(list(scores)) if record.document not in ("", record.node.id)
        }
        # Of two names that are the same, that of a file comes before that of a section.
        best = sorted(scores, key=lambda key: (-scores[key], key in parts, key))[:limit]
        return [Found(key, scores[key], f"resembles the query {scores[key]:.2f}", "fuzzy") for key in best]
