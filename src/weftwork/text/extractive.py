"""Extractive summaries: the sentences of a text that share most with a query."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from weftwork.text.sentences import Sentence, split_sentences

if TYPE_CHECKING:
    from weftwork.text.tokens import TokenCounter

MARK = "…"
GAP = f" {MARK} "
FIRST_SENTENCE_BONUS = 0.25
"""In weights of a word that occurs in one sentence only: an opening often says what the text is about."""

_WORD = re.compile(r"\w+")


def extract(text: str, limit: int, words: Collection[str], counter: TokenCounter) -> str:
    """The best sentences in their order, with a mark where some are left out; "" if none fits.

    A single sentence that fits only without its marks stands without them.
    """
    sentences = split_sentences(text)
    order = _by_worth(sentences, words)
    chosen = _choose(text, sentences, order, limit, counter)
    # Tokens of parts do not always add up to those of the whole, and the marks at both ends cost something too.
    for count in range(len(chosen), 0, -1):
        result = _join(text, sentences, chosen[:count])
        if counter.count(result) <= limit:
            return result
    alone = sentences[chosen[0]].text.strip() if chosen else ""
    return alone if counter.count(alone) <= limit else ""


def _by_worth(sentences: Sequence[Sentence], words: Collection[str]) -> list[int]:
    """Positions of the sentences, the best first; among equals, the earlier."""
    terms = sorted({word.casefold() for word in words} - {""})
    shared_terms = [_shared(sentence.text.casefold(), terms) for sentence in sentences]
    spread = {word: sum(word in shared for shared in shared_terms) for word in terms}

    def worth(index: int) -> float:
        weights = [math.log1p(len(sentences) / spread[word]) for word in terms if word in shared_terms[index]]
        bonus = FIRST_SENTENCE_BONUS * math.log1p(len(sentences)) if index == 0 else 0.0
        return math.fsum([*weights, bonus])

    return sorted(range(len(sentences)), key=lambda index: (-worth(index), index))


def _shared(sentence: str, terms: Sequence[str]) -> frozenset[str]:
    present = frozenset(_WORD.findall(sentence))
    # Scripts that do not separate words are one long "word" to the pattern.
    return frozenset(word for word in terms if word in present or (not word.isascii() and word in sentence))


def _choose(
    text: str, sentences: Sequence[Sentence], order: Sequence[int], limit: int, counter: TokenCounter
) -> list[int]:
    """Positions of the sentences that fit by the sum of their tokens, the best first."""
    gap = counter.count(GAP.rstrip())
    chosen: list[int] = []
    taken: set[int] = set()
    used = -gap
    for index in order:
        # With the white space before it, since that is how it will stand in the result.
        before = sentences[index - 1].end if index else 0
        joins = (index - 1 in taken) + (index + 1 in taken)
        cost = counter.count(text[before : sentences[index].end]) + gap * (1 - joins)
        if used + cost <= limit:
            chosen.append(index)
            taken.add(index)
            used += cost
        if used >= limit:
            break
    return chosen


def _join(text: str, sentences: Sequence[Sentence], chosen: Sequence[int]) -> str:
    parts: list[str] = []
    start = previous = -1
    for index in sorted(chosen):
        if not parts or index != previous + 1:
            start = sentences[index].start
            parts.append("")
        parts[-1] = text[start : sentences[index].end]
        previous = index
    before = f"{MARK} " if min(chosen) > 0 else ""
    after = f" {MARK}" if previous < len(sentences) - 1 else ""
    return f"{before}{GAP.join(parts)}{after}"
