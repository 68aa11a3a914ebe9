"""Fusion of BM25 and cosine, as two independent reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.types import Candidate, Hit

TRUST_IN_VECTORS = 0.6
"""Weight of a cosine beside words: BM25 alone beats static embeddings on ad-hoc retrieval
(SciFact nDCG@10 0.68 against 0.51), so that a vector may lift a passage but not outvote words."""
UNSEEN = 0.8
"""A vector hit that is no word hit is assumed to have this share of the last word hit's score."""


def fuse(words: float, cosine: float) -> float:
    """1 − (1 − words)(1 − trust · cosine)."""
    return 1.0 - (1.0 - words) * (1.0 - TRUST_IN_VECTORS * max(0.0, cosine))


def found_by_words(candidate: Candidate) -> float:
    """Return the best score by words or trigrams; 0 without a match."""
    return candidate.found_as("words", "fuzzy") or 0.0


@dataclass(frozen=True, slots=True)
class Weighing:
    """Per-query weights of BM25 and cosine, derived from the scores of the word search.

    A score by words is a share of the highest that the query could give, so a long question has low ones throughout.
    Dividing by the square root of the best keeps words in play there, and still leaves more to the vectors where the
    best match is poor than where all words match.
    """

    scale: float = 1.0
    unseen: float = 0.0

    @classmethod
    def of(cls, hits: Sequence[Hit], depth: int) -> Weighing:
        """The weights for a word search with limit `depth`."""
        scores = [hit.score for hit in hits]
        if not any(scores):
            return cls()
        return cls(math.sqrt(max(scores)), UNSEEN * min(scores) if len(scores) >= depth else 0.0)

    def __call__(self, words: float | None, cosine: float) -> float:
        """The fused score; `words` is None for a passage that the word search did not return."""
        return fuse(min(1.0, (self.unseen if words is None else words) / self.scale), cosine)
