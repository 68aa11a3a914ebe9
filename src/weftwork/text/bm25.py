"""BM25, by the statistics of the passages that the viewer may see.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009),
https://www.staff.city.ac.uk/~sbrp622/papers/foundations_bm25_review.pdf; the idf is Lucene's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from weftwork.text.analysis import PREFIX

K1 = 1.2
B = 0.75

LEVELS = 8
"""Number of levels that impacts are quantised into."""

_LOWEST = 0.3
_STEP = 1.3
REFERENCE_LENGTH = 64
"""Reference passage length for quantising impacts into levels."""
BOUNDS = tuple(_LOWEST * math.pow(_STEP, step) for step in range(1, LEVELS))
"""Lower bounds of the levels from the second on."""


def idf(documents: int, frequency: int) -> float:
    """The inverse document frequency of a word in `frequency` of the visible passages."""
    documents = max(documents, frequency)
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def score(idfs: Mapping[str, float], tokens: Sequence[str], average_length: float) -> float:
    """The BM25 score of a passage, given as its words; a term `pre*` matches all words with that prefix."""
    return score_stems(idfs, joined(tokens), len(tokens), average_length)


def joined(tokens: Sequence[str]) -> str:
    """The words of a passage as one text, each between two NULs, in which they are counted fast."""
    return "\0" + "\0\0".join(tokens) + "\0"


def score_stems(idfs: Mapping[str, float], words: str, length: int, average_length: float) -> float:
    """The same as `score`, for the words as `joined` puts them together."""
    total = 0.0
    for term in sorted(idfs):
        count = words.count(f"\0{term[:-1]}" if term.endswith(PREFIX) else f"\0{term}\0")
        if count:
            total += idfs[term] * impact(count, length, average_length)
    return total


def ceiling(idfs: Iterable[float]) -> float:
    """An upper bound of any passage's score."""
    return sum(idfs) * (K1 + 1)


def impact(frequency: int, length: int, average_length: float) -> float:
    """The factor for a word's frequency and the passage's length, in [0, K1 + 1)."""
    relative = length / average_length if average_length > 0 else 1.0
    return (K1 + 1) * frequency / (frequency + K1 * (1 - B + B * relative))


@lru_cache(maxsize=4096)  # a quarter of the time that a passage takes to index
def level(frequency: int, length: int) -> int:
    """The quantised impact under which the index files a word of a passage.

    The length is compared with a constant, not with an average: an average over the index would let
    passages that a viewer may not see decide which others are looked at.
    """
    above = impact(frequency, length, REFERENCE_LENGTH) / _LOWEST
    return min(int(math.log(above, _STEP)), LEVELS - 1) if above > 1 else 0


def worth(step: int) -> float:
    """The impact in the middle of a level."""
    return _LOWEST * math.pow(_STEP, step + 0.5)


def points(idf: float) -> list[int]:
    """The integer score of a word in a shortlist, by level.

    Integers, because their sum does not depend on the order of addition.
    """
    return [max(1, round(1024 * idf * worth(step))) for step in range(LEVELS)]
