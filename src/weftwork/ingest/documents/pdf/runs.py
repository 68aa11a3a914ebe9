"""The text of a PDF page as runs, with position and typography."""

from __future__ import annotations

import ctypes
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pypdfium2.raw as pdfium

from weftwork.ingest.documents.layout.boxes import Run
from weftwork.ingest.documents.pdf.garbled import mended

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

MOST_GLYPHS = 1_000_000
"""Characters of a page that are read: more than its limit, so that a cut is reported."""
PROBES = 100
"""Characters whose direction is sampled."""
BOLD = 600
_HYPHENS = {0x02, 0xFFFE}
"""Code points of pdfium for a hyphen at the end of a line."""

Box = tuple[float, float, float, float]
Glyph = tuple[int, str, Box]


@dataclass(frozen=True, slots=True)
class Turn:
    """Transforms pdfium's coordinates, which grow upwards, to those of the page as it is read.

    A page may declare a rotation; what counts is the direction of its text.
    """

    quarter: int
    """The direction of text: 0 to the right, 1 upwards, 2 to the left, 3 downwards."""
    cropped: Box

    def __call__(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Transform a box to (x0, top, x1, bottom)."""
        x0, y0, x1, y1 = self.cropped
        match self.quarter:
            case 1:
                return bottom - y0, left - x0, top - y0, right - x0
            case 2:
                return x1 - right, bottom - y0, x1 - left, top - y0
            case 3:
                return y1 - top, x1 - right, y1 - bottom, x1 - left
        return left - x0, y1 - top, right - x0, y1 - bottom

    @property
    def height(self) -> float:
        """The height of the page as it is read."""
        x0, y0, x1, y1 = self.cropped
        return x1 - x0 if self.quarter % 2 else y1 - y0


def read_runs(page: PdfPage) -> tuple[list[Run], Turn]:
    """The runs of a page in document order, and its orientation."""
    textpage = page.get_textpage()
    try:
        turn = Turn(_usual_quarter(textpage), page.get_cropbox())
        runs = [run for group in _groups(textpage, turn) if (run := _run(textpage, group, turn)) is not None]
        return runs, turn
    finally:
        textpage.close()


def _usual_quarter(textpage: PdfTextPage) -> int:
    """The direction of most of the text."""
    count = textpage.count_chars()
    sample = range(0, count, max(1, count // PROBES))
    quarters = Counter(_quarter(textpage, index) for index in sample)
    return max(quarters, key=lambda quarter: (quarters[quarter], -quarter)) if quarters else 0


def _quarter(textpage: PdfTextPage, index: int) -> int:
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFText_GetMatrix(textpage, index, matrix) or not (matrix.a or matrix.b):
        return 0
    return round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4


def _groups(textpage: PdfTextPage, turned: Turn) -> Iterator[list[Glyph]]:
    """Consecutive characters of one line without a wide gap."""
    group: list[Glyph] = []
    for glyph in _glyphs(textpage, turned):
        # What runs in another direction is one piece as far as pdfium says that it is a line.
        if glyph[1] == "\n" or (group and _apart(group[-1], glyph) and _quarter(textpage, glyph[0]) == turned.quarter):
            if group:
                yield group
            group = []
        if glyph[1] != "\n":
            group.append(glyph)
    if group:
        yield group


def _glyphs(textpage: PdfTextPage, turned: Turn) -> Iterator[Glyph]:
    rectangle = pdfium.FS_RECTF()
    last: Box = (0.0, 0.0, 0.0, 0.0)
    for index in range(min(textpage.count_chars(), MOST_GLYPHS)):
        code = pdfium.FPDFText_GetUnicode(textpage, index)
        if code in (0x0A, 0x0D):
            yield index, "\n", last
        elif code in _HYPHENS:
            yield index, "\u00ad", last
        elif code in (0x20, 0xA0):
            yield index, " ", last
        elif code >= 0x20 and pdfium.FPDFText_GetLooseCharBox(textpage, index, rectangle):
            last = turned(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            yield index, chr(code) if not 0xD800 <= code <= 0xDFFF else "\ufffd", last


def _apart(one: Glyph, other: Glyph) -> bool:
    """Return True if the second character begins a new run."""
    if other[1] in " \u00ad":
        return False
    x0, top, x1, bottom = one[2]
    height = max(bottom - top, other[2][3] - other[2][1], 1.0)
    if abs((top + bottom) - (other[2][1] + other[2][3])) / 2 > 0.6 * height:
        return True
    backwards = other[2][0] < x0 - 0.5 * height and unicodedata.bidirectional(other[1]) not in ("R", "AL", "NSM", "EN")
    return other[2][0] - x1 > 0.9 * height or backwards


def _run(textpage: PdfTextPage, group: Sequence[Glyph], turned: Turn) -> Run | None:
    text = unicodedata.normalize("NFKC", mended("".join(glyph[1] for glyph in group))).strip(" ")
    shown = [glyph for glyph in group if glyph[1] not in " \u00ad"]
    if not text or not shown:
        return None
    probes = [shown[0][0], shown[len(shown) // 2][0], shown[-1][0]]
    sizes = sorted(_size(textpage, index) for index in probes)
    return Run(
        text=text,
        x0=min(glyph[2][0] for glyph in shown),
        top=min(glyph[2][1] for glyph in shown),
        x1=max(glyph[2][2] for glyph in shown),
        bottom=max(glyph[2][3] for glyph in shown),
        size=sizes[1] if sizes[1] > 0.5 else max(shown[0][2][3] - shown[0][2][1], 1.0),
        bold=all(_bold(textpage, index) for index in probes),
        sideways=_quarter(textpage, probes[1]) != turned.quarter,
    )


def _size(textpage: PdfTextPage, index: int) -> float:
    """The effective size: a font of 1 point scaled by twelve has 12 points."""
    matrix = pdfium.FS_MATRIX()
    size = float(pdfium.FPDFText_GetFontSize(textpage, index))
    if not pdfium.FPDFText_GetMatrix(textpage, index, matrix):
        return size
    return round(size * math.hypot(matrix.c, matrix.d), 1)


def _bold(textpage: PdfTextPage, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(textpage, index) >= BOLD:
        return True
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(textpage, index, name, 128, flags)
    font_name = name.raw[: max(0, min(length, 128) - 1)].lower()
    return b"bold" in font_name or b"black" in font_name or b"heavy" in font_name
