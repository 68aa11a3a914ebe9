"""Stripping comments, `%% … %%` and `<!-- … -->`, from Markdown."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence

_MARK = re.compile(r"`+|%%|<!--")
_CLOSING = {"%%": "%%", "<!--": "-->"}
_BLANK = re.compile(r"\n[ \t]*(?=\n)")
_INDENT = re.compile(r"^[ \t>]*", re.MULTILINE)
_REST = re.compile(r"[ \t]*(?:\n|\Z)")


def may_hold_comments(text: str) -> bool:
    """Return True if a text may hold comments; a cheap test."""
    return any(mark in text for mark in _CLOSING)


def without_comments(text: str, code: Sequence[tuple[int, int]]) -> str:
    """The text without comments; `code` are the spans of its code blocks, in order."""
    return _without(text, list(_comments(text, code)))


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Cut spans out of a text, with lines that held nothing else, and one of the two spaces around each."""
    parts, last = [], 0
    for start, end in spans:
        line_start = max(text.rfind("\n", last, start) + 1, last)
        line_end = _REST.match(text, end)
        begins = not text[line_start:start].strip() and (line_start == 0 or text[line_start - 1] == "\n")
        parts.append(text[last : line_start if begins and line_end else start])
        spaced = text[start - 1 : start] == " " == text[end : end + 1]
        last = line_end.end() if begins and line_end else end + spaced
    return "".join((*parts, text[last:]))


def _comments(text: str, code: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of comments, in linear time.

    A comment that begins a line may hold blank lines, one within a line may not: so a lone `%%` in a sentence hides
    nothing.
    """
    blanks = [match.start() for match in _BLANK.finditer(text)]
    ticks = _closing_ticks(text)
    starts = [start for start, _ in code]
    begins = {match.end() for match in _INDENT.finditer(text)}
    searched = dict.fromkeys(_CLOSING, 0)
    place = 0
    while mark_match := _MARK.search(text, place):
        start, mark = mark_match.start(), mark_match[0]
        place = mark_match.end()
        block = bisect(starts, start) - 1
        next_blank = bisect(blanks, start)
        paragraph_end = blanks[next_blank] if next_blank < len(blanks) else len(text)
        if block >= 0 and start < code[block][1]:
            place = code[block][1]
        elif mark not in _CLOSING:
            closing = ticks.get(start, len(text))
            place = closing + len(mark) if closing < paragraph_end else place
        elif (end := len(text) if start in begins else paragraph_end) > searched[mark]:
            closing = text.find(_CLOSING[mark], place, end)
            if closing >= 0:
                place = closing + len(_CLOSING[mark])
                yield start, place
            else:
                searched[mark] = end  # nothing up to there ends a comment


def _closing_ticks(text: str) -> dict[int, int]:
    """The position of the next run of backticks of the same length, by the position of each run."""
    following: dict[int, int] = {}
    closing: dict[int, int] = {}
    for run in reversed(list(re.finditer("`+", text))):
        length = run.end() - run.start()
        if length in following:
            closing[run.start()] = following[length]
        following[length] = run.start()
    return closing
