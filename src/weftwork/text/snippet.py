"""Snippets: the part of a text that shows why it matched, with the words marked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection

from weftwork.text.analysis import analyse, query_terms, stems

_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")
WINDOW = 200


def excerpt(text: str, query: str, *, length: int = WINDOW, start: str = "<<<", stop: str = ">>>") -> str:
    """The stretch with most of the query's words, each marked; the start of the text without a match."""
    spans = _matches(text, query_terms(stems(query))) or _matches(text, query_terms(analyse(query)))
    begin, end = _window(text, spans, length)
    pieces, position = [], begin
    for left, right in spans:
        if begin <= left and right <= end:
            pieces += [text[position:left], start, text[left:right], stop]
            position = right
    pieces.append(text[position:end])
    body = " ".join("".join(pieces).split())
    return ("… " if begin > 0 else "") + body + (" …" if end < len(text) else "")


def _matches(text: str, wanted: Collection[str]) -> list[tuple[int, int]]:
    """The spans of matching words; each distinct word is analysed once."""
    wanted, matching = frozenset(wanted), dict[str, bool]()
    spans = []
    for match in _WORD.finditer(text):
        word = match[0]
        if word not in matching:
            matching[word] = not wanted.isdisjoint(analyse(word))
        if matching[word]:
            spans.append(match.span())
    return spans


def _window(text: str, spans: list[tuple[int, int]], length: int) -> tuple[int, int]:
    """The bounds of the stretch: at words, around the densest group of matches."""
    if len(text) <= length:
        return 0, len(text)
    lefts = [left for left, _ in spans]
    best = max(
        lefts,
        key=lambda left: (bisect_left(lefts, left + length) - bisect_left(lefts, left), -left),
        default=0,
    )
    begin = max(0, min(best - length // 5, len(text) - length))
    end = begin + length
    if begin and (space := _SPACE.search(text, begin, best)):
        begin = space.end()
    if end < len(text):
        end = max((word.end() for word in _WORD_END.finditer(text, best + 1, end)), default=end)
    return begin, end
