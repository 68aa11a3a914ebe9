"""Office formats before 2007, converted by LibreOffice where it is installed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from weftwork.ingest.documents.docx import read_docx
from weftwork.ingest.documents.libreoffice import converted, libreoffice
from weftwork.ingest.documents.pptx import read_pptx
from weftwork.ingest.documents.values import Parsed, Tools, Unreadable
from weftwork.ingest.documents.xlsx import read_xlsx

NEWER = {"doc": ("docx", read_docx), "xls": ("xlsx", read_xlsx), "ppt": ("pptx", read_pptx)}


def read_old_office(path: Path, tools: Tools) -> Parsed:
    """A DOC, XLS or PPT as the newer format that LibreOffice makes of it."""
    extension = path.suffix.lower().removeprefix(".")
    newer, read = NEWER[extension]
    program = libreoffice()
    if program is None:
        raise Unreadable(
            f"is of a format before 2007, which LibreOffice reads: install it, or save the file as {newer.upper()}"
        )
    with TemporaryDirectory() as folder:
        parsed = read(converted(program, path, newer, Path(folder), tools.limits.seconds), tools)
        return replace(parsed, pages=iter(list(parsed.pages)))
