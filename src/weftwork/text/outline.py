"""The headings and tables of a Markdown text, and its section."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    label: str = ""
    """The page's own first heading, the innermost one above a text; without any, the one that it goes on under."""

    @property
    def section_path(self) -> str:
        """`Introduction > Methods`."""
        return " > ".join(text for _, text in self.section)

    @property
    def levels(self) -> str:
        """The levels of the headings in the path, such as `1 3`."""
        return " ".join(str(level) for level, _ in self.section)

    @property
    def parent_heading(self) -> str:
        """The innermost heading."""
        return self.section[-1][1] if self.section else ""


def outline(markdown: str, before: Headings = ()) -> Outline:
    """The outline of a page that follows these headings."""
    current, section, label = before, None, ""
    headings = tables = 0
    for line, heading in _lines(markdown):
        if heading is not None:
            headings += 1
            current = _below(current, heading)
        else:
            tables += bool(_DIVIDER.match(line))
            section = current if section is None else section
            label = label or (current[-1][1] if headings else "")
    section = current if section is None else section
    return Outline(section, current, headings, tables, label or (current[-1][1] if current else ""))


def sections(markdown: str, first: Headings) -> list[tuple[Headings, str]]:
    """The sections of a page with their texts; `first` are the headings under which its first text stands."""
    current: Headings | None = None
    parts: list[tuple[Headings, list[str]]] = []
    for line, heading in _lines(markdown):
        if heading is None:
            current = first if current is None else current
            if not parts or parts[-1][0] != current:
                parts.append((current, []))
            parts[-1][1].append(line)
        elif current is not None:  # headings above the first text are part of `first`
            current = _below(current, heading)
    return [(headings, "\n".join(lines)) for headings, lines in parts]


def headings_of(section_path: str, levels: str) -> Headings:
    """The headings of a path with their levels; those of a path without levels are one below the other."""
    texts = section_path.split(" > ") if section_path else []
    numbers = [int(level) for level in levels.split()] if levels else []
    return tuple(zip(numbers if len(numbers) == len(texts) else range(1, len(texts) + 1), texts, strict=True))


def _lines(markdown: str) -> Iterator[tuple[str, tuple[int, str] | None]]:
    """The lines that say something, with level and text of those that are headings."""
    fenced = False
    for line in markdown.splitlines():
        fenced ^= bool(_FENCE.match(line))
        if fenced or not line.strip():
            continue
        heading = _LINE.match(line)
        text = _plain(heading["text"]) if heading else ""
        yield line, (len(heading["marks"]), text) if heading and text else None


def _below(current: Headings, heading: tuple[int, str]) -> Headings:
    return (*(above for above in current if above[0] < heading[0]), heading)


def _plain(text: str) -> str:
    """A heading as one printable line without emphasis."""
    line = "".join(letter if letter.isprintable() else " " for letter in re.sub(r"[*_`]{1,3}", "", text))
    return " ".join(line.split())[:LONGEST]
