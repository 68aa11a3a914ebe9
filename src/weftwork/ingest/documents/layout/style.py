"""The typography of a document, learnt from a sample of its pages."""

from __future__ import annotations

from collections.abc import Sequence

from weftwork.ingest.documents.layout.blocks import Style
from weftwork.ingest.documents.layout.boxes import Run, body_size, lines_of
from weftwork.ingest.documents.layout.hyphens import words_of
from weftwork.ingest.documents.layout.running import Sampled, learn_running

LARGER = 1.14
"""Least size of a heading, as a multiple of the body's."""
MOST_LEVELS = 4


def learn_style(pages: Sequence[Sampled], *, larger: float = LARGER) -> Style:
    """Learn the style from some pages."""
    runs = [run for page in pages for run in page.runs]
    body = body_size(runs)
    lines = [line for page in pages for line in lines_of(run for run in page.runs if not run.sideways)]
    return Style(body, _levels(lines, body, larger), learn_running(pages), _bold_is_rare(runs), words_of(runs))


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
