"""Snippets: the part of a text that shows why it matched, with the words marked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from weftwork.text.analysis import MARKS, UNSPACED, analyse, query_terms
from weftwork.text.languages import language_of

_WORD = re.compile(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[\w{MARKS}])+")
_MARK = re.compile(f"[{MARKS}]*")
_RUN = re.compile(f"[{UNSPACED}]+")
_SPACE = re.compile(r"\s")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")
WINDOW = 200


def excerpt(text: str, query: str, *, length: int = WINDOW, start: str = "<<<", stop: str = ">>>") -> str:
    """The stretch with most of the query's words, each marked; the start of the text without a match."""
    languages = dict.fromkeys((language_of(query, least=1), language_of(text)))
    own = {language: frozenset(query_terms(analyse(query, language, parts=False), language)) for language in languages}
    parts = {language: frozenset(query_terms(analyse(query, language), language)) for language in languages}
    spans = _matches(text, own) or _matches(text, parts)
    begin, end = _window(text, spans, length)
    pieces, position = [], begin
    for left, right in spans:
        if begin <= left and right <= end:
            pieces += [text[position:left], start, text[left:right], stop]
            position = right
    pieces.append(text[position:end])
    body = " ".join("".join(pieces).split())
    return ("… " if begin > 0 else "") + body + (" …" if end < len(text) else "")


def matching_words(texts: Iterable[str], query: str) -> list[list[str]]:
    """The words of each text that match a query by their stems, in lower case and each once."""
    own = language_of(query, least=1)
    stems: dict[str, Mapping[str, frozenset[str]]] = {}
    found = []
    for text in texts:
        language = language_of(text)
        if language not in stems:
            both = dict.fromkeys((own, language))
            stems[language] = {each: frozenset(query_terms(analyse(query, each), each)) for each in both}
        spans = _matches(text, stems[language])
        found.append(list(dict.fromkeys(text[left:right].casefold() for left, right in spans)))
    return found


def _matches(text: str, wanted: Mapping[str, frozenset[str]]) -> list[tuple[int, int]]:
    """The spans of words with a wanted stem, by language; each distinct word is analysed once."""
    pairs, matching = frozenset[str]().union(*wanted.values()), dict[str, bool]()
    spans = []
    for match in _WORD.finditer(text):
        word = match[0]
        if _RUN.fullmatch(word):
            spans += _pairs_in(text, match.start(), match.end(), pairs)
            continue
        if word not in matching:
            matching[word] = any(not stems.isdisjoint(analyse(word, language)) for language, stems in wanted.items())
        if matching[word]:
            spans.append(match.span())
    return spans


def _pairs_in(text: str, start: int, end: int, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """The spans of matching pairs of letters in a run without spaces, joined where they touch; no sign is cut off."""
    spans: list[tuple[int, int]] = []
    for place in range(start, max(start + 1, end - 1)):
        left, right = place, min(place + 2, end)
        if wanted.isdisjoint(analyse(text[left:right])):
            continue
        while left > start and _MARK.fullmatch(text[left]):
            left -= 1
        right = _MARK.match(text, right, end).end()  # type: ignore[union-attr]
        if spans and left <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(right, spans[-1][1]))
        else:
            spans.append((left, right))
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
