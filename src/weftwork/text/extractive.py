"""Extractive summaries: the sentences of a text that share most with a query."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from weftwork.text.sentences import Sentence, split_sentences

if TYPE_CHECKING:
    from weftwork.text.tokens import TokenCounter

MARK = "…"
GAP = f" {MARK} "
FIRST_SENTENCE_BONUS = 0.25
"""In weights of a word that occurs in one sentence only: an opening often says what the text is about."""

_WORD = re.compile(r"\w+")
_DIVIDER = re.compile(r"\|(?: *:?-{3,}:? *\|)+")


def extract(text: str, limit: int, words: Collection[str], counter: TokenCounter) -> str:
    """The best sentences in their order, with a mark where some are left out; "" if none fits.

    A single sentence that fits only without its marks stands without them.
    """
    sentences = split_sentences(text)
    order = _by_worth(sentences, words)
    heads = _table_heads(sentences)
    chosen = _choose(text, sentences, order, heads, limit, counter)
    # Tokens of parts do not always add up to those of the whole, and the marks at both ends cost something too.
    for count in range(len(chosen), 0, -1):
        result = _join(text, sentences, chosen[:count], heads)
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


def _table_heads(sentences: Sequence[Sentence]) -> dict[int, int]:
    """The position of the header row of the table that a row belongs to; the divider follows the header."""
    heads: dict[int, int] = {}
    for index in range(1, len(sentences)):
        if _DIVIDER.fullmatch(sentences[index].text.strip()) and _is_row(sentences[index - 1]):
            heads[index - 1] = heads[index] = index - 1
        elif index - 1 in heads and _is_row(sentences[index]) and _touch(sentences[index - 1], sentences[index]):
            heads[index] = heads[index - 1]
    return heads


def _is_row(sentence: Sentence) -> bool:
    return sentence.text.strip().startswith("|") and sentence.text.strip().endswith("|")


def _touch(first: Sentence, second: Sentence) -> bool:
    """Return True if at most a line break stands between two rows."""
    return second.start - first.end <= 1


def _choose(
    text: str,
    sentences: Sequence[Sentence],
    order: Sequence[int],
    heads: Mapping[int, int],
    limit: int,
    counter: TokenCounter,
) -> list[int]:
    """Positions of the sentences that fit by the sum of their tokens, the best first; rows come with their header."""
    gap = counter.count(GAP.rstrip())
    chosen: list[int] = []
    taken: set[int] = set()
    used = -gap
    for index in order:
        head = heads.get(index)
        needed = [each for each in ((head, head + 1, index) if head is not None else (index,)) if each not in taken]
        cost = 0
        for each in dict.fromkeys(needed):
            # With the white space before it, since that is how it will stand in the result.
            before = sentences[each - 1].end if each else 0
            joins = (each - 1 in taken) + (each + 1 in taken)
            cost += counter.count(text[before : sentences[each].end]) + gap * (1 - joins)
        if needed and used + cost <= limit:
            chosen.extend(dict.fromkeys(needed))
            taken.update(needed)
            used += cost
        if used >= limit:
            break
    return chosen


def _join(text: str, sentences: Sequence[Sentence], chosen: Sequence[int], heads: Mapping[int, int]) -> str:
    """The chosen sentences with gap marks; one between rows of a table is a row."""
    parts: list[str] = []
    start = previous = -1
    for index in sorted(chosen):
        if not parts or index != previous + 1:
            if parts:
                in_table = index in heads and heads[index] == heads.get(previous)
                parts.append(f"\n| {MARK} |\n" if in_table else GAP)
            start = sentences[index].start
            parts.append("")
        parts[-1] = text[start : sentences[index].end]
        previous = index
    before = f"{MARK} " if min(chosen) > 0 else ""
    after = f" {MARK}" if previous < len(sentences) - 1 else ""
    return f"{before}{''.join(parts)}{after}"
