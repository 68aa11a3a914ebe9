"""Splitting a text into spans that tile it, one for each passage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from weftwork.types import FieldValue, subject_of

TARGET = 900
"""Characters at which a passage is long enough (about 200 tokens of English)."""
LONGEST = 1_800
"""Characters that a passage never exceeds."""

_BLOCK = re.compile(r"\n[ \t]*\n+|\n(?=#{1,6} )")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"\s+")
_ITEM = re.compile(r"^[ \t>]*(?:\||[-*+•] |\d{1,9}[.)] )", re.MULTILINE)
"""The beginning of a table row or a list item."""


def embedded_text(title: str, fields: Mapping[str, FieldValue], text: str) -> str:
    """The text whose vector stands for a passage of a node: what the node is about, then the passage."""
    return f"{subject_of(title, fields)}\n{text}"


def spans(text: str) -> list[tuple[int, int]]:
    """Consecutive spans that cover the text, cut at the best boundary that is near enough."""
    tiles: list[tuple[int, int]] = []
    start = 0
    for boundary in _boundaries(text):
        if boundary - start >= TARGET:
            tiles.append((start, boundary))
            start = boundary
    if start < len(text) or not tiles:
        if tiles and len(text) - tiles[-1][0] <= LONGEST and len(text) - start < TARGET // 4:
            start = tiles.pop()[0]
        tiles.append((start, len(text)))
    return tiles


def _boundaries(text: str) -> Iterator[int]:
    """The positions to cut at: between blocks, and inside a block that is too long."""
    start = 0
    for end in [match.end() for match in _BLOCK.finditer(text)] + [len(text)]:
        if end - start > LONGEST - TARGET:
            yield from _inside(text, start, end)
        yield end
        start = end


def _inside(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts inside a long block: between rows and list items, within one only if it is itself too long."""
    starts = [place for match in _ITEM.finditer(text, start, end) if (place := match.start()) > start]
    for last, following in pairwise((start, *starts, end)):
        if following - last > LONGEST - TARGET or not starts:
            yield from _sentences(text, last, following)
        yield following


def _sentences(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts after sentences, else after words, else anywhere."""
    last = start
    for match in _SENTENCE.finditer(text, start, end):
        yield from _forced(text, last, match.end())
        yield match.end()
        last = match.end()
    yield from _forced(text, last, end)


def _forced(text: str, start: int, end: int) -> Iterator[int]:
    """Cuts in a stretch without sentences, so that no part exceeds what fits beside a full passage."""
    step = LONGEST - TARGET
    while end - start > step:
        space = None
        for match in _WORD.finditer(text, start + step // 2, start + step):
            space = match.end()
        start = space or start + step
        yield start
