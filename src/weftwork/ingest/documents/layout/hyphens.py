"""Words that a line divides: whether the hyphen at its end belongs to the word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from weftwork.ingest.documents.layout.boxes import Run
from weftwork.text.tokens import get_counter

SHORTEST = 3
"""Letters that a part of a compound has at least; `re` and `ing` are parts of words."""
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_WORDS = re.compile(r"\b[^\W\d_]+(?:-[^\W\d_]+)*\b")
_LAST_WORD, _FIRST_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*$"), re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_HYPHENS = ("\u00ad", "-", "\u2010")


def words_of(runs: Iterable[Run]) -> frozenset[str]:
    """The words inside lines, in lower case, where a hyphen is no hyphenation."""
    return frozenset(word for run in runs for word in _WORDS.findall(run.text.lower()))


def join_lines(before: str, text: str, words: frozenset[str] = frozenset()) -> str:
    """Join two lines: divided words, and scripts without spaces, get no space."""
    if before.endswith(_HYPHENS) and text[:1].islower():
        first, second = _LAST_WORD.search(before[:-1]), _FIRST_WORD.match(text)
        if first and second and _is_compound(first[0], second[0], words):
            return f"{before[:-1]}-{text}"
    if before.endswith("\u00ad"):
        return before[:-1] + ("" if text[:1].islower() else "-") + text
    if before.endswith(("-", "\u2010")) and before[-2:-1].isalpha() and text[:1].islower():
        return before[:-1] + text
    if _CJK.match(before[-1:]) and _CJK.match(text[:1]):
        return before + text
    return f"{before} {text}"


def _is_compound(first: str, second: str, words: frozenset[str]) -> bool:
    """Return True if the document writes the word with a hyphen elsewhere, or if its parts are words and it is none."""
    if f"{first}-{second}".lower() in words:
        return True
    if (first + second).lower() in words:
        return False
    first = first.rpartition("-")[2]
    second = second.partition("-")[0]
    if min(len(first), len(second)) < SHORTEST or not first.isalpha():
        return False
    return _is_word(first) and _is_word(second) and not _is_word(first + second)


@lru_cache(maxsize=10_000)
def _is_word(word: str) -> bool:
    """Return True for a frequent word of any language: one that is a single token."""
    return len(get_counter().encode(f" {word}")) == 1
