"""The PDF reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError

from weftwork.ingest.documents.layout.blocks import Style
from weftwork.ingest.documents.layout.boxes import Run
from weftwork.ingest.documents.layout.page import page_markdown
from weftwork.ingest.documents.layout.running import Sampled
from weftwork.ingest.documents.layout.style import learn_style
from weftwork.ingest.documents.ocr import LONGEST_SIDE
from weftwork.ingest.documents.pdf.drawing import look_at
from weftwork.ingest.documents.pdf.forms import filled_in
from weftwork.ingest.documents.pdf.garbled import is_strange, is_unspeakable
from weftwork.ingest.documents.pdf.parts import Parts, legible
from weftwork.ingest.documents.pdf.runs import read_runs
from weftwork.ingest.documents.pictures import PAGE_SIDE, encoded
from weftwork.ingest.documents.scan import scanned
from weftwork.ingest.documents.values import Page, Parsed, TextSource, Tools, Unreadable

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage

SAMPLE = 24
"""Pages from which the style of a document is learnt."""
FEWEST = 30
"""Characters below which a page that is covered by a picture counts as a scan."""
COVERED = 0.5
LARGEST_SCALE = 8.0
"""Largest enlargement of a page: a stamp of 10 points is no page of 1,400 pixels."""


def read_pdf(path: Path, tools: Tools) -> Parsed:
    """The pages of a PDF."""
    try:
        document = PdfDocument(path)
    except PdfiumError as error:
        # What pdfium says of one document may be what it said of another before.
        locked = getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD and b"/Encrypt" in path.read_bytes()
        why = "is protected by a password" if locked else "is no PDF that can be read: it is damaged or has no pages"
        raise Unreadable(why) from error
    with suppress(PdfiumError):  # a form that cannot be read leaves a document that can
        document.init_forms()
    count = len(document)
    if not count:
        raise Unreadable("has no pages")
    return Parsed(count, _pages(document, count, tools))


def _pages(document: PdfDocument, count: int, tools: Tools) -> Iterator[Page]:
    style, parts = _style(document, count), Parts(tools)
    for number in range(count):
        try:
            page = document[number]
        except PdfiumError as error:
            raise Unreadable(f"is damaged on page {number + 1} ({error})") from error
        try:
            yield _page(page, number + 1, style, parts)
        finally:
            page.close()


def _style(document: PdfDocument, count: int) -> Style:
    chosen = range(count) if count <= SAMPLE else sorted({number * count // SAMPLE for number in range(SAMPLE)})
    sample: list[Sampled] = []
    for number in chosen:
        try:
            page = document[number]
        except PdfiumError:
            continue  # reported when its turn comes
        runs, turn = read_runs(page)
        sample.append(Sampled(runs, turn.height, number + 1))
        page.close()
    return learn_style(sample)


def _page(page: PdfPage, number: int, style: Style, parts: Parts) -> Page:
    runs, turn = read_runs(page)
    rules, pictures, covered = look_at(page, turn)
    picture = render(page, PAGE_SIDE)
    image, thumbnail = encoded(picture)
    source: TextSource = "text layer"
    tools, in_pictures, unread = parts.tools, "", False
    if _is_scan(runs, covered, tools):
        markdown, source = scanned(render(page, LONGEST_SIDE) if tools.ocr else picture, tools, number)
    else:
        markdown = page_markdown(Sampled(runs, turn.height, number), style, rules)
        if page.get_rotation() == 90 * turn.quarter:  # drawn as it is read
            width, height = page.get_size()
            boxes, scale = legible(pictures, runs, width * height), _scale(page, LONGEST_SIDE)
            in_pictures, unread = parts.read(boxes, lambda: render(page, LONGEST_SIDE), scale)
    markdown = "\n\n".join(filter(None, [markdown, filled_in(page), in_pictures]))
    return Page(
        markdown=markdown,
        text_source=source,
        pictures=len(pictures),
        image=image,
        thumbnail=thumbnail,
        unread=unread,
    )


def _is_scan(runs: list[Run], covered: float, tools: Tools) -> bool:
    """Return True for a page that is a picture of text, or whose text layer does not say what it shows."""
    text = "".join(run.text for run in runs)
    if not text.strip():
        return covered > 0
    if (len(text) < FEWEST and covered >= COVERED) or is_strange(text):
        return True
    return (tools.ocr is not None or tools.later) and is_unspeakable(" ".join(run.text for run in runs))


def _scale(page: PdfPage, side: int) -> float:
    width, height = page.get_size()
    return min(side / max(float(width), float(height), 1.0), LARGEST_SCALE)


def render(page: PdfPage, side: int) -> Image:
    """Render a page whose longer side has `side` pixels."""
    bitmap = page.render(scale=_scale(page, side))
    try:
        picture: Image = bitmap.to_pil().convert("RGB")
        return picture
    finally:
        bitmap.close()
