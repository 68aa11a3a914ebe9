"""PPTX: a page for each slide, with its title, texts, tables, charts and notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml.etree import LxmlError
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.exc import PythonPptxError

from weftwork.ingest.documents.archive import open_archive
from weftwork.ingest.documents.layout.blocks import escaped, table
from weftwork.ingest.documents.values import Page, Parsed, Tools, Unreadable

DEEPEST = 10
"""Depth to which groups of shapes are followed."""
MOST_POINTS = 200
"""Values of a chart that are written out."""


def read_pptx(path: Path, tools: Tools) -> Parsed:
    """The slides of a presentation."""
    open_archive(path, tools.limits).close()
    try:
        slides = list(Presentation(str(path)).slides)
    except (PythonPptxError, LxmlError, KeyError, ValueError, AttributeError) as error:
        raise Unreadable(f"is no presentation that can be read ({error})") from error
    if not slides:
        raise Unreadable("has no slides")
    return Parsed(len(slides), (_page(slide) for slide in slides))


def _page(slide: Any) -> Page:
    title = slide.shapes.title
    name = " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""
    blocks = [f"# {name}"] if name else []
    pictures = 0
    for shape in _shapes(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        pictures += _is_picture(shape)
        blocks += filter(None, [_block(shape)])
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None and notes.text.strip():
        blocks.append(f"## Notes\n\n{_paragraphs(notes)}")
    return Page(markdown="\n\n".join(blocks), pictures=pictures, name=name, unit="slide")


def _shapes(shapes: Any, depth: int = 0) -> Iterator[Any]:
    """Shapes top down, groups flattened."""
    for shape in sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0)):
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP and depth < DEEPEST:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _is_picture(shape: Any) -> bool:
    return shape.shape_type == MSO_SHAPE_TYPE.PICTURE or (shape.is_placeholder and hasattr(shape, "image"))


def _block(shape: Any) -> str:
    if shape.has_text_frame:
        return _paragraphs(shape.text_frame)
    if getattr(shape, "has_table", False):
        rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
        return table(rows) if rows and rows[0] else ""
    if getattr(shape, "has_chart", False):
        return _chart(shape.chart)
    alternative = shape._element.xpath(".//p:cNvPr/@descr") if _is_picture(shape) else []
    return f"![{' '.join(alternative[0].split())}]()" if alternative and alternative[0].strip() else ""


def _paragraphs(frame: Any) -> str:
    """The paragraphs of a text frame; several, or indented ones, become a list."""
    paragraphs = [
        (paragraph.level, " ".join(paragraph.text.split())) for paragraph in frame.paragraphs if paragraph.text.strip()
    ]
    if len(paragraphs) > 1 or any(level for level, _ in paragraphs):
        return "\n".join(f"{'  ' * level}- {text}" for level, text in paragraphs)
    return "\n".join(escaped(text) for _, text in paragraphs)


def _chart(chart: Any) -> str:
    """A chart as its title and a table of its values."""
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    plots = list(chart.plots)
    if not plots:
        return title
    series = [(line.name or "", list(line.values)[:MOST_POINTS]) for plot in plots for line in plot.series]
    labels = [str(category) for category in plots[0].categories][:MOST_POINTS]
    rows = [["", *(name for name, _ in series)]]
    for number, label in enumerate(labels):
        values = [values[number] if number < len(values) else None for _, values in series]
        rows.append([label, *("" if value is None else f"{value:g}" for value in values)])
    return "\n\n".join(filter(None, [title, table(rows) if len(rows) > 1 else ""]))
