"""The text of a scanned page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from weftwork.ingest.documents.layout.boxes import Run
from weftwork.ingest.documents.layout.page import page_markdown
from weftwork.ingest.documents.layout.running import Sampled
from weftwork.ingest.documents.layout.style import learn_style
from weftwork.ingest.documents.values import TextSource, Tools

if TYPE_CHECKING:
    from PIL.Image import Image

LARGER = 1.45
"""Least height of a heading, as a multiple of the usual one: boxes around scanned lines vary."""


def scanned(picture: Image, tools: Tools, number: int = 1) -> tuple[str, TextSource]:
    """The OCR text of a picture as Markdown, and its source."""
    if tools.ocr is None:
        return "", "none"
    seen = tools.ocr(picture)
    if seen is None:
        return "", "none"
    runs = _even(seen)
    if not runs:
        return "", "ocr"
    page = Sampled(runs, picture.height, number)
    style = learn_style([page], larger=LARGER)
    return page_markdown(page, replace(style, bold_headings=False)), "ocr"


def _even(runs: Sequence[Run]) -> list[Run]:
    """Set runs of nearly the median size to it."""
    heights: Counter[float] = Counter()
    for run in runs:
        heights[run.size] += len(run.text)
    reached, half = 0, sum(heights.values()) / 2
    usual = 1.0
    for size in sorted(heights):
        reached += heights[size]
        usual = size
        if reached >= half:
            break
    return [replace(run, size=usual) if run.size < LARGER * usual else run for run in runs]
