"""The readers of documents by file extension."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePath

from weftwork.ingest.documents.libreoffice import DRAWN
from weftwork.ingest.documents.values import Parsed, Tools, Unreadable

READERS = {
    "pdf": "pdf.document:read_pdf",
    **dict.fromkeys(("docx", "docm", "dotx", "dotm"), "docx:read_docx"),
    **dict.fromkeys(("pptx", "pptm"), "pptx:read_pptx"),
    **dict.fromkeys(("xlsx", "xlsm", "xltx", "xltm"), "xlsx:read_xlsx"),
    "odt": "odf:read_odt",
    "ods": "odf:read_ods",
    "odp": "odf:read_odp",
    "rtf": "rtf:read_rtf",
    **dict.fromkeys(("doc", "xls", "ppt"), "old_office:read_old_office"),
    "html": "html:read_html",
    "htm": "html:read_html",
    "xhtml": "html:read_html",
    "epub": "epub:read_epub",
    **dict.fromkeys(("png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp", "gif"), "pictures:read_picture"),
}
"""Readers by extension; a reader's module is imported in the process that parses."""
NEEDED = ("pypdfium2", "PIL", "mammoth", "markdownify", "bs4", "lxml", "pptx", "openpyxl")
"""Packages of the extra `documents`."""


def extension_of(path: PurePath) -> str:
    """The extension by which a file's reader is chosen."""
    return path.suffix.lower().removeprefix(".")


def is_document(path: PurePath) -> bool:
    """Return True for a file that is read by page; without the extra, HTML is text like any other."""
    extension = extension_of(path)
    return extension in READERS and not (READERS[extension] == READERS["html"] and missing_packages())


def missing_packages() -> list[str]:
    """The packages of the extra that are not installed."""
    return [name for name in NEEDED if find_spec(name) is None]


def parse(path: Path, extension: str, tools: Tools) -> Parsed:
    """Open a document with the reader for its extension."""
    module, _, function = READERS[extension].partition(":")
    read = getattr(import_module(f"weftwork.ingest.documents.{module}"), function)
    parsed: Parsed = read(path, tools)
    if parsed.count > tools.limits.pages:
        raise Unreadable(f"has {parsed.count:,} pages, more than {tools.limits.pages:,}: split it")
    if extension in DRAWN:
        drawing = import_module("weftwork.ingest.documents.pdf.office_pictures")
        drawn: Parsed = drawing.with_pictures(path, parsed, tools)
        return drawn
    return parsed
