"""The headings and tables of a text in Markdown, and the section in which it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 120
"""Characters of a heading that are kept in a path."""
_LINE = re.compile(r"^(?P<marks>#{1,6}) +(?P<text>.*?)(?: +#+)?$")
_DIVIDER = re.compile(r"^\|(?: *:?-{3,}:? *\|)+$")
_FENCE = re.compile(r"^(```|~~~)")

Headings = tuple[tuple[int, str], ...]
"""Levels and texts, from the outermost to the innermost."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a page's Markdown consists of."""

    section: Headings
    """The headings under which its first text stands."""
    after: Headings
    """Those under which the next page begins."""
    headings: int
    tables: int

    @property
    def section_path(self) -> str:
        """`Introduction > Methods`."""
        return " > ".join(text for _, text in self.section)

    @property
    def parent_heading(self) -> str:
        """The innermost heading."""
        return self.section[-1][1] if self.section else ""


def outline(markdown: str, before: Headings = ()) -> Outline:
    """The outline of a page that comes after these headings."""
    current, section = before, None
    headings = tables = 0
    fenced = False
    for line in markdown.splitlines():
        fenced ^= bool(_FENCE.match(line))
        if fenced or not line.strip():
            continue
        found = _LINE.match(line)
        if found and _plain(found["text"]):
            headings += 1
            current = _under(current, len(found["marks"]), _plain(found["text"]))
        else:
            tables += bool(_DIVIDER.match(line))
            section = current if section is None else section
    return Outline(current if section is None else section, current, headings, tables)


def _under(above: Sequence[tuple[int, str]], level: int, text: str) -> Headings:
    return (*(each for each in above if each[0] < level), (level, text))


def _plain(text: str) -> str:
    """A heading as one line of printable text without emphasis."""
    line = "".join(letter if letter.isprintable() else " " for letter in re.sub(r"[*_`]{1,3}", "", text))
    return " ".join(line.split())[:LONGEST]
