"""Truncation: keep the start, the end, the best sentences, or a summary (workspace contract, 5.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weftwork.errors import UnknownName, WeftError
from weftwork.text.extractive import extract
from weftwork.text.sentences import split_sentences

if TYPE_CHECKING:
    from weftwork.text.tokens import TokenCounter

Summarise = Callable[[str, int], str]
"""Summarises a text within a number of tokens."""

STRATEGIES = ("keep_start", "keep_end", "extractive", "summarise")
MARK = "…"
NEAR_SENTENCE = 0.3
NEAR_WORD = 0.2
"""The share of a cut text that may be given up to end at a sentence or a word."""

_SPACE = re.compile(r"\s+")
_ENDS = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"\s")))
"""Where a text may end, the best first: after a paragraph, a line, a word."""
_LOOK = 40
"""Characters on the other side of a cut that tell whether it falls between two sentences."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """A shorter text, the strategy that made it, and a note if that was not the one asked for."""

    text: str
    strategy: str
    note: str = ""


def check_strategy(strategy: str) -> None:
    """Refuse an unknown strategy; both spellings of "summarize" are accepted."""
    if strategy not in (*STRATEGIES, "summarize"):
        offered = ("summarize" if name == "summarise" else name for name in STRATEGIES)
        raise UnknownName("truncation strategy", strategy, offered)


def truncate(
    text: str,
    limit: int,
    *,
    strategy: str,
    counter: TokenCounter,
    words: Collection[str] = frozenset(),
    summarise: Summarise | None = None,
) -> Truncation:
    """A text of at most `limit` tokens; `words` are those of the query, for the extractive strategy."""
    strategy = "summarise" if strategy == "summarize" else strategy
    check_strategy(strategy)
    if limit <= 0:
        return Truncation("", strategy)
    if counter.count(text) <= limit:
        return Truncation(text, strategy)
    if strategy == "keep_start":
        return Truncation(_keep_start(text, limit, counter), strategy)
    if strategy == "keep_end":
        return Truncation(_keep_end(text, limit, counter), strategy)
    if strategy == "extractive":
        return _extractive(text, limit, words, counter)
    return _summarised(text, limit, words, counter, summarise)


def _keep_start(text: str, limit: int, counter: TokenCounter) -> str:
    for room in range(limit - 1, 0, -1):
        body = text[: _clean_end(text, len(counter.truncate(text, room)))].rstrip()
        if not body:
            break
        # Tokens of parts do not always add up to those of the whole.
        if counter.count(result := f"{body} {MARK}") <= limit:
            return result
    return counter.truncate(text, limit)


def _keep_end(text: str, limit: int, counter: TokenCounter) -> str:
    for room in range(limit - 1, 0, -1):
        body = text[_clean_start(text, len(text) - len(counter.truncate_start(text, room))) :].lstrip()
        if not body:
            break
        if counter.count(result := f"{MARK} {body}") <= limit:
            return result
    return counter.truncate_start(text, limit)


def _clean_end(text: str, cut: int) -> int:
    """The end of a sentence or a word near before the cut; the cut itself if there is none."""
    earliest = int(cut * (1 - NEAR_SENTENCE))
    whole = split_sentences(text[: cut + _LOOK])[:-1]
    ends = [sentence.end for sentence in whole if earliest <= sentence.end <= cut]
    spaces = [space.start() for space in _SPACE.finditer(text, int(cut * (1 - NEAR_WORD)), cut + 1)]
    return (ends or spaces or [cut])[-1]


def _clean_start(text: str, cut: int) -> int:
    """The start of a sentence or a word near after the cut; the cut itself if there is none."""
    rest = len(text) - cut
    latest = cut + int(rest * NEAR_SENTENCE)
    window = max(0, cut - _LOOK)
    whole = split_sentences(text[window : latest + _LOOK])[1:]
    starts = [window + sentence.start for sentence in whole if cut <= window + sentence.start <= latest]
    space = _SPACE.search(text, max(0, cut - 1), cut + int(rest * NEAR_WORD))
    return starts[0] if starts else space.end() if space else cut


def _extractive(text: str, limit: int, words: Collection[str], counter: TokenCounter) -> Truncation:
    best = extract(text, limit, words, counter)
    if best:
        return Truncation(best, "extractive")
    return Truncation(_keep_start(text, limit, counter), "keep_start", "no sentence fits: the start is kept")


def _summarised(
    text: str, limit: int, words: Collection[str], counter: TokenCounter, summarise: Summarise | None
) -> Truncation:
    if summarise is None:
        return _instead("there is no model to summarise", text, limit, words, counter)
    try:
        summary = summarise(text, limit).strip()
    except WeftError as error:
        return _instead(f"the summary failed ({error})", text, limit, words, counter)
    tokens = counter.count(summary)
    if not summary or tokens > limit:
        why = f"the summary has {tokens} tokens, not 1 to {limit}"
        return _instead(why, text, limit, words, counter)
    return Truncation(summary, "summarise")


def _instead(why: str, text: str, limit: int, words: Collection[str], counter: TokenCounter) -> Truncation:
    extracted = _extractive(text, limit, words, counter)
    instead = extracted.note or "the sentences nearest to the query are kept"
    return Truncation(extracted.text, extracted.strategy, f"{why}: {instead}")


def clean_end(text: str) -> int:
    """The best place to end a text, in its second half; its end if there is none."""
    half = len(text) // 2
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, half)]
        if ends:
            return ends[-1]
    return len(text)
