"""Running heads, footers and page numbers: they belong to the sheet, not to the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from weftwork.ingest.documents.layout.boxes import Run, joined, rows_of

MARGIN = 0.13
"""Share of a page's height, at the top and at the bottom, in which headers and footers stand."""
NUMBER_MARGIN = 0.2
"""The same for page numbers, which say themselves what they are."""
MOST_ROWS = 4
"""Rows that a header or a footer has at most."""
LONGEST = 100
"""Characters of a row that may hold a page number."""
_FIGURES = re.compile(r"\d+|\b[ivxlc]+\b")
_EDGE = re.compile(
    r"^\W*(?:(?:page|p\.|seite|s\.)\s+)?(\d{1,4}|[ivxlc]{1,7})\b|\b(\d{1,4}|[ivxlc]{1,7})\W*$", re.IGNORECASE
)
_ALONE = re.compile(
    r"\W*(?:(?:page|p\.|seite|s\.)\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of|von)\s*\d+)?\W*", re.IGNORECASE
)
LARGE = 1.1
"""Size of a heading, relative to the body of the text: heads of pages are no larger."""
NEAR = 3
"""Pages by which a number that stands alone may differ from the count: covers are often not counted."""
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Sampled:
    """A page from which the style of a document is learnt; `number` counts from 1."""

    runs: Sequence[Run]
    height: float
    number: int = 1


@dataclass(frozen=True, slots=True)
class Running:
    """The recurring lines of a document's margins."""

    patterns: frozenset[str] = field(default_factory=frozenset)
    """Headers and footers as they look without their figures."""
    offsets: frozenset[int] = field(default_factory=frozenset)
    """Differences between printed page numbers and the count of pages."""


def learn_running(pages: Sequence[Sampled]) -> Running:
    """Learn which lines of the margins recur, with any figures, and which ones count the pages."""
    seen: Counter[str] = Counter()
    offsets: Counter[int] = Counter()
    for page in pages:
        margins = [row for rows in _margins(page.runs, page.height, MARGIN) for row in rows]
        if sum(map(len, margins)) < sum(not run.sideways for run in page.runs):  # else it is all that the page says
            seen.update({_pattern(joined(row).text) for row in margins})
        numbered = (row for rows in _margins(page.runs, page.height, NUMBER_MARGIN) for row in rows)
        offsets.update({number - page.number for row in numbered for number in _numbers(joined(row).text)})
    recurring = max(3, 0.4 * len(pages))
    counted = max(2, 0.3 * len(pages))
    return Running(
        frozenset(line for line, count in seen.items() if count >= recurring),
        frozenset(offset for offset, count in offsets.items() if count >= counted),
    )


def without_running(page: Sampled, running: Running, body: float = inf) -> list[Run]:
    """The runs of a page without its header, footer and page number.

    Words beside a page number go with it where they are the outermost row and no larger than the `body` of the text:
    else they are a numbered heading, or the first entry of a table of contents.
    """
    doomed: set[int] = set()
    for rows in _margins(page.runs, page.height, MARGIN):
        for row in rows:
            line = joined(row)
            pattern = _pattern(line.text)
            counts = "#" in pattern and line.size > LARGE * body  # headings that differ in their numbers
            if pattern in running.patterns and not counts:
                doomed.update(map(id, row))
    for rows in _margins(page.runs, page.height, NUMBER_MARGIN):
        outermost = True
        for row in rows:
            line = joined(row)
            offsets = [number - page.number for number in _numbers(line.text)]
            alone = _ALONE.fullmatch(line.text) and any(abs(offset) <= NEAR for offset in offsets)
            counted = any(offset in running.offsets for offset in offsets)
            beside = outermost and line.size <= LARGE * body
            if alone or (counted and (beside or _ALONE.fullmatch(line.text))):
                doomed.update(map(id, row))
            outermost = outermost and id(row[0]) in doomed
    return [run for run in page.runs if id(run) not in doomed]


def _numbers(text: str) -> Iterator[int]:
    """The figures at the ends of a row, arabic or roman."""
    if len(text) > LONGEST:
        return
    for match in _EDGE.finditer(text):
        figure = (match[1] or match[2]).lower()
        yield int(figure) if figure.isdigit() else _roman(figure)


def _roman(figure: str) -> int:
    values = [_ROMAN[letter] for letter in figure]
    after = [*values[1:], 0]
    return sum(-value if value < following else value for value, following in zip(values, after, strict=True))


def _margins(runs: Sequence[Run], height: float, margin: float) -> tuple[list[list[Run]], list[list[Run]]]:
    """The rows at the top and at the bottom of a page that a gap sets off, from the edge inwards."""
    rows = rows_of(run for run in runs if not run.sideways)
    header = [row for row in rows if row[0].bottom < margin * height]
    footer = [row for row in reversed(rows) if row[0].top > (1 - margin) * height]
    return _set_off(header, rows), _set_off(footer, rows[::-1])


def _set_off(margin: Sequence[list[Run]], rows: Sequence[list[Run]]) -> list[list[Run]]:
    """Rows from the edge inwards up to the last wide gap."""
    count = 0
    for number, row in enumerate(margin[:MOST_ROWS], start=1):
        inner = rows[number] if number < len(rows) else None
        gap = inf if inner is None else max(inner[0].top - row[0].bottom, row[0].top - inner[0].bottom)
        if gap > 0.75 * row[0].height:
            count = number
    return list(margin[:count])


def _pattern(text: str) -> str:
    return _FIGURES.sub("#", " ".join(text.lower().split()))
