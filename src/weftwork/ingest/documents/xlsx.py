"""XLSX: a page for each sheet, as a table of its displayed values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from weftwork.ingest.documents.archive import open_archive
from weftwork.ingest.documents.layout.blocks import table
from weftwork.ingest.documents.values import Page, Parsed, Tools, Unreadable


def read_xlsx(path: Path, tools: Tools) -> Parsed:
    """The sheets of a workbook."""
    open_archive(path, tools.limits).close()
    try:
        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    except (InvalidFileException, BadZipFile, KeyError, ValueError, TypeError, AttributeError, SyntaxError) as error:
        raise Unreadable(f"is no workbook that can be read ({error})") from error
    if not book.worksheets:
        book.close()
        raise Unreadable("has no sheets")
    return Parsed(len(book.worksheets), _pages(book, tools.limits.characters))


def _pages(book: Any, most: int) -> Iterator[Page]:
    with closing(book):
        yield from (_sheet(sheet, most) for sheet in book.worksheets)


def _sheet(sheet: Any, most: int) -> Page:
    """A sheet, or a sentence in its place: a damaged one costs none of the others."""
    try:
        return _page(sheet, most)
    except (KeyError, ValueError, TypeError, AttributeError, SyntaxError, BadZipFile, OSError) as error:
        name = " ".join(sheet.title.split())
        return Page(
            markdown=f"# {name}\n\n[This sheet cannot be read: {type(error).__name__}]", name=name, unit="sheet"
        )


def _page(sheet: Any, most: int) -> Page:
    name = " ".join(sheet.title.split())
    rows = list(_rows(sheet, most))
    columns = [i for i in range(max(map(len, rows), default=0)) if any(i < len(row) and row[i] for row in rows)]
    cells = [[row[i] if i < len(row) else "" for i in columns] for row in rows]
    return Page(markdown=f"# {name}\n\n{table(cells)}" if cells else f"# {name}", name=name, unit="sheet")


def _rows(sheet: Any, most: int) -> Iterator[list[str]]:
    """Rows that are not empty, up to the characters of a page."""
    sheet.reset_dimensions()  # what a file says of its size need not be so
    characters = 0
    for row in sheet.iter_rows(values_only=True):
        texts = [_shown(value) for value in row]
        if any(texts):
            characters += sum(len(text) + 3 for text in texts if text)
            yield texts
        if characters > most:
            return


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return f"{value:.15g}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
    return str(value)
