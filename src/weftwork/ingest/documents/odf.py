"""OpenDocument: texts (ODT) by page or section, spreadsheets (ODS) by sheet, presentations (ODP) by slide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from lxml import etree

from weftwork.ingest.documents.archive import open_archive
from weftwork.ingest.documents.html import PAGE_END, PICTURE, sections
from weftwork.ingest.documents.layout.blocks import escaped, table
from weftwork.ingest.documents.values import Limits, Page, Parsed, Tools, Unreadable

_PARSER = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
_UNSEEN = frozenset({"tracked-changes", "annotation", "annotation-end", "forms", "sequence-decls", "event-listeners"})
"""Elements that hold no text of the document: deleted text and comments among them."""
MOST_REPEATED = 1_000
"""Copies of a cell or row that are written out: the rest of a sheet is often one empty cell, repeated."""


def read_odt(path: Path, tools: Tools) -> Parsed:
    """The pages of a text as they were when it was saved, or its sections if it has no page ends."""
    body = _body(path, tools.limits, "text")
    pages = sections("\n\n".join(_blocks(body)))
    if not pages:
        raise Unreadable("has no text")
    return Parsed(len(pages), iter(pages))


def read_ods(path: Path, tools: Tools) -> Parsed:
    """The sheets of a spreadsheet."""
    sheets = _children(_body(path, tools.limits, "spreadsheet"), "table")
    if not sheets:
        raise Unreadable("has no sheets")
    return Parsed(len(sheets), (_sheet(sheet, tools.limits.characters) for sheet in sheets))


def read_odp(path: Path, tools: Tools) -> Parsed:
    """The slides of a presentation, with their notes."""
    slides = _children(_body(path, tools.limits, "presentation"), "page")
    if not slides:
        raise Unreadable("has no slides")
    return Parsed(len(slides), (_slide(slide) for slide in slides))


def _body(path: Path, limits: Limits, kind: str) -> Any:
    with open_archive(path, limits) as archive:
        try:
            if b"encryption-data" in archive.read("META-INF/manifest.xml"):
                raise Unreadable("is protected by a password")
            content = etree.fromstring(archive.read("content.xml"), etree.XMLParser(**_PARSER))
        except (etree.LxmlError, KeyError, ValueError, BadZipFile) as error:
            raise Unreadable(f"is no OpenDocument file that can be read ({error})") from error
    body = content.find(f".//{{*}}body/{{*}}{kind}")
    if body is None:
        raise Unreadable(f"is no OpenDocument {kind}")
    return body


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _attribute(element: Any, name: str) -> str:
    return next((value for key, value in element.attrib.items() if etree.QName(key).localname == name), "")


def _children(element: Any, name: str) -> list[Any]:
    return [child for child in element if _name(child) == name]


def _sheet(sheet: Any, most: int) -> Page:
    name = " ".join(_attribute(sheet, "name").split())
    rows = [row for row in _rows(sheet, most) if any(row)]
    return Page(markdown=f"# {name}\n\n{table(rows)}" if rows else f"# {name}", name=name, unit="sheet")


def _slide(slide: Any) -> Page:
    titles = slide.xpath("./*[local-name()='frame'][@*[local-name()='class']='title']")
    name = " ".join(_text(titles[0]).split()) if titles else ""
    blocks = [f"# {name}"] if name else []
    for child in slide:
        if _name(child) == "notes":
            notes = "\n\n".join(_blocks(child))
            blocks += [f"## Notes\n\n{notes}"] if notes else []
        elif child not in titles[:1]:
            blocks += _blocks(child)
    text = "\n\n".join(blocks)
    return Page(
        unit="slide",
        markdown=text.replace(PICTURE, "").replace(PAGE_END, "").strip(),
        pictures=text.count(PICTURE),
        name=name,
    )


def _blocks(element: Any, depth: int = 0) -> Iterator[str]:
    """The blocks in an element as Markdown."""
    for child in element:
        match _name(child):
            case "h":
                level = _attribute(child, "outline-level")
                text = " ".join(_text(child).split())
                yield f"{'#' * min(int(level) if level.isdigit() else 1, 6)} {text}" if text else ""
            case "p":
                yield from filter(None, (_paragraph(part) for part in _text(child).split(PAGE_END)[:1]))
                for part in _text(child).split(PAGE_END)[1:]:
                    yield from (PAGE_END, *filter(None, [_paragraph(part)]))
            case "list":
                yield "\n".join(_items(child, 0))
            case "table":
                rows = [row for row in _rows(child) if any(row)]
                yield table(rows) if rows else ""
            case "soft-page-break":
                yield PAGE_END
            case "image":
                yield PICTURE
            case name if name and name not in _UNSEEN:
                yield from _blocks(child, depth + 1)


def _paragraph(text: str) -> str:
    return escaped(text.strip())


def _items(items: Any, depth: int) -> Iterator[str]:
    for item in items:
        first = True
        for child in item:
            if _name(child) == "list":
                yield from _items(child, depth + 1)
            elif text := " ".join(_text(child).replace(PAGE_END, " ").split()):
                yield f"{'  ' * depth}{'- ' if first else '  '}{text}"
                first = False


def _rows(element: Any, most: int = 0) -> Iterator[list[str]]:
    """The rows of a table, in groups or not, up to a number of characters."""
    characters = 0
    for row in element.iter("{*}table-row"):
        if next((above for above in row.iterancestors("{*}table")), None) is not element:
            continue  # of a table within a cell
        cells: list[str] = []
        for cell in row:
            if _name(cell) in ("table-cell", "covered-table-cell"):
                cells += [_cell(cell)] * _repeated(cell, "number-columns-repeated")
        while cells and not cells[-1]:
            cells.pop()
        for _ in range(_repeated(row, "number-rows-repeated") if cells else 0):
            yield cells
            characters += sum(map(len, cells))
            if most and characters > most:
                return


def _cell(cell: Any) -> str:
    return " ".join(" ".join(_text(part) for part in cell if _name(part) not in _UNSEEN).replace(PAGE_END, " ").split())


def _repeated(element: Any, name: str) -> int:
    times = _attribute(element, name)
    return min(int(times), MOST_REPEATED) if times.isdigit() else 1


def _text(element: Any) -> str:
    """The text of a paragraph, with its footnotes in brackets."""
    parts = [_clean(element.text)]
    for child in element:
        match _name(child):
            case "s":
                count = _attribute(child, "c")
                parts.append(" " * (min(int(count), MOST_REPEATED) if count.isdigit() else 1))
            case "tab":
                parts.append("\t")
            case "line-break":
                parts.append("\n")
            case "soft-page-break":
                parts.append(PAGE_END)
            case "note":
                note = " ".join(_text(body) for body in _children(child, "note-body"))
                parts.append(f" [{' '.join(note.split())}]")
            case name if name and name not in _UNSEEN:
                parts.append(_text(child))
        parts.append(_clean(child.tail))
    return "".join(parts)


def _clean(text: str | None) -> str:
    return (text or "").replace(PAGE_END, "").replace(PICTURE, "")
