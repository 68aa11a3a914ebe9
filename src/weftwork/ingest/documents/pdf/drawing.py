"""Drawings on a PDF page: ruling lines and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pypdfium2.raw as pdfium
from pypdfium2 import PdfiumError

from weftwork.ingest.documents.layout.tables import MOST_RULES, Rule
from weftwork.ingest.documents.pdf.parts import Box
from weftwork.ingest.documents.pdf.runs import Turn

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

MOST_OBJECTS = 20_000
"""Objects of a page that are looked at: a map may have a million."""
THIN = 3.0
"""Points up to which a rectangle counts as a line."""
SMALLEST = 0.005
"""Share of a page below which a picture is an ornament."""


def look_at(page: PdfPage, turn: Turn) -> tuple[list[Rule], list[Box], float]:
    """Ruling lines, the places of pictures, and the share of the page that pictures cover."""
    width, height = page.get_size()
    area = max(width * height, 1.0)
    rules: list[Rule] = []
    pictures: list[Box] = []
    covered = 0.0
    for number, item in enumerate(page.get_objects(max_depth=4)):
        if number >= MOST_OBJECTS:
            return [], pictures, min(covered, 1.0)
        try:
            x0, y0, x1, y1 = item.get_bounds()
        except PdfiumError:
            continue
        if item.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            share = max(x1 - x0, 0) * max(y1 - y0, 0) / area
            pictures += [turn(x0, y0, x1, y1)] if share >= SMALLEST else []
            covered += share
        elif item.type == pdfium.FPDF_PAGEOBJ_PATH and item.level == 0 and len(rules) <= MOST_RULES:
            rules += _rules(*turn(x0, y0, x1, y1))
    return rules, pictures, min(covered, 1.0)


def _rules(x0: float, top: float, x1: float, bottom: float) -> list[Rule]:
    """A line, or the four sides of a rectangle."""
    if bottom - top <= THIN or x1 - x0 <= THIN:
        return [Rule(x0, top, x1, bottom)] if max(bottom - top, x1 - x0) > THIN else []
    return [Rule(x0, top, x1, top), Rule(x0, bottom, x1, bottom), Rule(x0, top, x0, bottom), Rule(x1, top, x1, bottom)]
