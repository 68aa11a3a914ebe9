"""How far the words of the query brought a candidate; words and meaning together are `weftwork.collect.fusion`."""

from __future__ import annotations

from weftwork.collect.fusion import TRUST_IN_VECTORS, fuse
from weftwork.types import Candidate

__all__ = ["TRUST_IN_VECTORS", "found_by_words", "fuse"]


def found_by_words(candidate: Candidate) -> float:
    """How well the words matched, 0 if they did not."""
    return candidate.found_as("words", "fuzzy") or 0.0
