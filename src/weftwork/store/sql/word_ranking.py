"""Ranking of passages by words: the size of the shortlist, and trigram similarity."""

from __future__ import annotations

from collections.abc import Iterable

from weftwork.store.index.rows import Row
from weftwork.text.trigrams import share_of_words, similarity
from weftwork.types import Hit

SPARE = 10
"""Minimum of passages that are shortlisted beyond the limit, since the shortlist uses quantised impacts."""


def shortlist_size(limit: int) -> int:
    """The number of passages to score exactly for `limit` results."""
    return limit + max(SPARE, limit // 2)


def best_hits(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """The hits with the highest scores, ties in the order of their keys."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]


def resembling(text: str, rows: Iterable[Row], limit: int, threshold: float) -> list[Hit]:
    """The passages whose title, path or words resemble a text by more than the threshold, best first."""
    best = best_hits((Hit(row.key, _resemblance(text, row)) for row in rows), limit)
    return [hit for hit in best if hit.score > threshold]


def _resemblance(text: str, row: Row) -> float:
    """Trigram similarity to the title, the path, or words inside; words count a little less."""
    words = [word for word in text.split() if len(word) > 3]
    inside = share_of_words(words, row.searchable)
    return max(similarity(text, row.title), similarity(text, row.source), 0.9 * inside)
