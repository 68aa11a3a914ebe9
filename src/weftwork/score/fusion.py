"""The word score of a candidate; its fusion with cosine is `weftwork.collect.fusion`."""

from __future__ import annotations

from weftwork.collect.fusion import TRUST_IN_VECTORS, fuse
from weftwork.types import Candidate

__all__ = ["TRUST_IN_VECTORS", "found_by_words", "fuse"]


def found_by_words(candidate: Candidate) -> float:
    """Return the best score by words or trigrams; 0 without a match."""
    return candidate.found_as("words", "fuzzy") or 0.0
