"""BM25: how much a passage is about a query, by the statistics of what the viewer may see.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009),
https://www.staff.city.ac.uk/~sbrp622/papers/foundations_bm25_review.pdf; the idf is Lucene's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from weftwork.text.analysis import PREFIX

K1 = 1.2
B = 0.75

LEVELS = 8
"""How many steps of impact the index tells apart."""

_LOWEST = 0.3
_STEP = 1.3
REFERENCE_LENGTH = 64
"""The length of a passage with which others are compared when a word of theirs is filed under a step."""
BOUNDS = tuple(_LOWEST * math.pow(_STEP, step) for step in range(1, LEVELS))
"""The impacts at which the second step and those after it begin."""


def idf(documents: int, frequency: int) -> float:
    """What a word is worth that so many of the visible passages contain."""
    documents = max(documents, frequency)
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def score(idfs: Mapping[str, float], tokens: Sequence[str], average_length: float) -> float:
    """BM25 of a passage, given as its words; a term `pre*` stands for all words that begin with it."""
    counts = Counter(token for token in tokens if token in idfs)
    for term in idfs:
        if term.endswith(PREFIX):
            counts[term] = sum(token.startswith(term[:-1]) for token in tokens)
    return sum(idfs[term] * impact(count, len(tokens), average_length) for term, count in sorted(counts.items()))


def ceiling(idfs: Iterable[float]) -> float:
    """What no passage's score reaches."""
    return sum(idfs) * (K1 + 1)


def impact(frequency: int, length: int, average_length: float) -> float:
    """What occurring so often in a passage of this length makes of a word's worth, in [0, K1 + 1)."""
    relative = length / average_length if average_length > 0 else 1.0
    return (K1 + 1) * frequency / (frequency + K1 * (1 - B + B * relative))


@lru_cache(maxsize=4096)  # a quarter of the time that a passage takes to index
def level(frequency: int, length: int) -> int:
    """The step of impact under which the index files a word of a passage.

    The length is compared with a constant, not with an average: an average over the index would let
    passages that a viewer may not see decide which others are looked at.
    """
    above = impact(frequency, length, REFERENCE_LENGTH) / _LOWEST
    return min(int(math.log(above, _STEP)), LEVELS - 1) if above > 1 else 0


def worth(step: int) -> float:
    """The impact in the middle of a step."""
    return _LOWEST * math.pow(_STEP, step + 0.5)


def points(idf: float) -> list[int]:
    """What a word is worth in a shortlist at each step of its impact.

    Whole numbers, because sums of those are the same in whatever order they are added up.
    """
    return [max(1, round(1024 * idf * worth(step))) for step in range(LEVELS)]
