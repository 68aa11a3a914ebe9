"""What contains the words of the query, or words that look like them."""

from __future__ import annotations

from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry


@dataclass(frozen=True, slots=True)
class LexicalCollector:
    """Full text; where that finds little, titles, paths and words with typos."""

    limit: int = 20
    fuzzy_limit: int = 5
    fuzzy_below: float = 0.35
    """Look for typos when the best hit by words scores less than this."""
    fuzzy_threshold: float = 0.3
    name: str = "lexical"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """By words first, then by resemblance."""
        hits = inquiry.word_hits[: self.limit]
        found = [Found(hit.key, hit.score, f"words {hit.score:.2f}") for hit in hits]
        if not self.fuzzy_limit or (hits and hits[0].score >= self.fuzzy_below) or not inquiry.question.words:
            return found
        known = {hit.key for hit in hits}
        alike = inquiry.view.search_fuzzy(
            " ".join(inquiry.question.words),
            limit=self.fuzzy_limit,
            filters=inquiry.request.filters,
            threshold=self.fuzzy_threshold,
        )
        return found + [
            Found(hit.key, hit.score, f"resembles the query {hit.score:.2f}") for hit in alike if hit.key not in known
        ]
