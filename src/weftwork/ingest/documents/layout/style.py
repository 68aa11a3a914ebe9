"""The typography of a document, learnt from a sample of its pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import inf

from weftwork.ingest.documents.layout.blocks import Style, compounds_of
from weftwork.ingest.documents.layout.boxes import Run, body_size, joined, lines_of, rows_of

MARGIN = 0.13
"""Share of a page's height, at the top and at the bottom, in which headers and footers stand."""
MOST_ROWS = 4
"""Rows that a header or a footer has at most."""
LARGER = 1.14
"""Least size of a heading, as a multiple of the body's."""
MOST_LEVELS = 4
_FIGURES = re.compile(r"\d+|\b[ivxlc]+\b")


def learn_style(pages: Sequence[tuple[Sequence[Run], float]], *, larger: float = LARGER) -> Style:
    """Learn the style from runs and height of some pages."""
    runs = [run for page, _ in pages for run in page]
    body = body_size(runs)
    lines = [line for page, _ in pages for line in lines_of(run for run in page if not run.sideways)]
    return Style(body, _levels(lines, body, larger), _running(pages), _bold_is_rare(runs), compounds_of(runs))


def without_running(runs: Sequence[Run], height: float, style: Style) -> list[Run]:
    """The runs of a page without its header and footer."""
    if not style.running:
        return list(runs)
    doomed: set[int] = set()
    for row in _margins(runs, height):
        if _pattern(joined(row).text) in style.running:
            doomed.update(map(id, row))
    return [run for run in runs if id(run) not in doomed]


def _levels(lines: Sequence[Run], body: float, larger: float) -> tuple[float, ...]:
    """Font sizes above the body's, largest first; nearly equal ones are merged."""
    levels: list[float] = []
    for size in sorted({line.size for line in lines if line.size >= larger * body}, reverse=True):
        if not levels or size < 0.93 * levels[-1]:
            levels.append(size)
        else:
            levels[-1] = size
    if len(levels) > MOST_LEVELS:
        levels = [*levels[: MOST_LEVELS - 1], levels[-1]]
    return tuple(levels)


def _bold_is_rare(runs: Sequence[Run]) -> bool:
    """Return False where so much is bold that it marks no headings."""
    letters = sum(len(run.text) for run in runs)
    return sum(len(run.text) for run in runs if run.bold) < 0.4 * letters


def _running(pages: Sequence[tuple[Sequence[Run], float]]) -> frozenset[str]:
    """Patterns of lines in the margins that recur on most pages, with any digits."""
    if len(pages) < 3:
        return frozenset()
    seen: Counter[str] = Counter()
    for runs, height in pages:
        seen.update({_pattern(joined(row).text) for row in _margins(runs, height)})
    return frozenset(line for line, count in seen.items() if count >= max(3, 0.4 * len(pages)))


def _margins(runs: Sequence[Run], height: float) -> list[list[Run]]:
    """The rows at the top and at the bottom of a page that a gap sets off."""
    rows = rows_of(run for run in runs if not run.sideways)
    header = [row for row in rows if row[0].bottom < MARGIN * height]
    footer = [row for row in reversed(rows) if row[0].top > (1 - MARGIN) * height]
    return _set_off(header, rows) + _set_off(footer, rows[::-1])


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
