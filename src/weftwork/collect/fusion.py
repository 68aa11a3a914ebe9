"""Fusion of BM25 and cosine, as two independent reasons, as far as the model can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.embed.card import CAUTIOUS, Trust
from weftwork.types import Candidate, Hit

UNSEEN = 0.8
"""A vector hit that is no word hit is assumed to have this share of the last word hit's score."""


def fuse(words: float, cosine: float, trust: Trust = CAUTIOUS) -> float:
    """(1 − (1 − words)(1 − weight · cosine))^power, the cosine on the model's own scale."""
    fused = 1.0 - (1.0 - words) * (1.0 - trust.weight * min(1.0, trust.reach(cosine)))
    return fused if trust.power == 1.0 else max(0.0, fused) ** trust.power


def found_by_words(candidate: Candidate) -> float:
    """Return the best score by words or trigrams; 0 without a match."""
    return candidate.found_as("words", "fuzzy") or 0.0


@dataclass(frozen=True, slots=True)
class Weighing:
    """Per-query weights of BM25 and cosine, derived from the scores of the word search and the model's card.

    A score by words is a share of the highest that the query could give, so a long question has low ones throughout.
    Dividing by a power of the best keeps words in play there, and still leaves more to the vectors where the
    best match is poor than where all words match.
    """

    scale: float = 1.0
    unseen: float = 0.0
    trust: Trust = CAUTIOUS

    @classmethod
    def of(cls, hits: Sequence[Hit], depth: int, trust: Trust = CAUTIOUS) -> Weighing:
        """The weights for a word search with limit `depth`."""
        scores = [hit.score for hit in hits]
        if not any(scores):
            return cls(trust=trust)
        return cls(max(scores) ** trust.level, UNSEEN * min(scores) if len(scores) >= depth else 0.0, trust)

    def __call__(self, words: float | None, cosine: float) -> float:
        """The fused score; `words` is None for a passage that the word search did not return."""
        return fuse(min(1.0, (self.unseen if words is None else words) / self.scale), cosine, self.trust)
