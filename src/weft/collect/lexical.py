"""What contains the words of the query, or words that look like them."""

from __future__ import annotations

from dataclasses import dataclass

from weft.collect.inquiry import Found, Inquiry


@dataclass(frozen=True, slots=True)
class LexicalCollector:
    """Full text; for words of the query that occur nowhere, titles, paths and words that look like them."""

    limit: int | None = None
    """How many; None leaves it to the size of the budget."""
    fuzzy_limit: int = 5
    fuzzy_threshold: float = 0.3
    name: str = "lexical"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """By words first, then by resemblance."""
        hits = inquiry.word_hits[: self.limit]
        found = [Found(hit.key, hit.score, f"words {hit.score:.2f}") for hit in hits]
        unknown = inquiry.view.unknown_words(inquiry.question.words) if self.fuzzy_limit else []
        if not unknown:
            return found
        known = {hit.key for hit in hits}
        alike = inquiry.view.search_fuzzy(
            " ".join(unknown),
            limit=self.fuzzy_limit,
            filters=inquiry.request.filters,
            threshold=self.fuzzy_threshold,
        )
        return found + [
            Found(hit.key, hit.score, f"resembles the query {hit.score:.2f}") for hit in alike if hit.key not in known
        ]
