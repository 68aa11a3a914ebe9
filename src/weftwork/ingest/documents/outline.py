"""The headings and tables of a Markdown text, and its section."""

from __future__ import annotations

import re
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
    """The outline of a page."""

    section: Headings
    """The headings under which its first text stands."""
    after: Headings
    """The headings under which the next page begins."""
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
    """The outline of a page that follows these headings."""
    current, section = before, None
    headings = tables = 0
    fenced = False
    for line in markdown.splitlines():
        fenced ^= bool(_FENCE.match(line))
        if fenced or not line.strip():
            continue
        heading = _LINE.match(line)
        if heading and _plain(heading["text"]):
            headings += 1
            level = len(heading["marks"])
            current = (*(above for above in current if above[0] < level), (level, _plain(heading["text"])))
        else:
            tables += bool(_DIVIDER.match(line))
            section = current if section is None else section
    return Outline(current if section is None else section, current, headings, tables)


def _plain(text: str) -> str:
    """A heading as one printable line without emphasis."""
    line = "".join(letter if letter.isprintable() else " " for letter in re.sub(r"[*_`]{1,3}", "", text))
    return " ".join(line.split())[:LONGEST]
