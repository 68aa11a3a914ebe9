"""The result of parsing a document, and the limits of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from PIL.Image import Image

    from weftwork.ingest.documents.layout.boxes import Run

TextSource = Literal["text layer", "ocr", "none"]


class Unreadable(Exception):
    """A document cannot be added; the message completes a sentence that begins with its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on the size and time of a document."""

    file_bytes: int = 250_000_000
    pages: int = 5_000
    characters: int = 400_000
    """Of one page; the rest of a longer one is left out, and the report says so."""
    pixels: int = 100_000_000
    """Of one picture."""
    unpacked_bytes: int = 600_000_000
    """Of an archive (DOCX, PPTX, XLSX, EPUB) when it is unpacked."""
    seconds: float = 180.0
    """Until the next page is there; opening the document counts with the first one."""
    ocr_seconds: float = 90.0
    """For the OCR of one picture; a page that takes longer has no text, and the report says so."""
    document_seconds: float = 900.0
    """Until the last page is there: a worker is free again after that."""
    memory_bytes: int = 4_000_000_000
    """Of the process that parses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A parsed page."""

    markdown: str
    text_source: TextSource = "text layer"
    pictures: int = 0
    name: str = ""
    """Its own name: of a sheet, a slide, a chapter."""
    unit: str = "page"
    """The word for what it is: `section` where the format has no pages, or `slide`, `sheet`, `chapter`."""
    image: bytes = b""
    """The page as a JPEG picture; empty where the format has no pages to draw."""
    thumbnail: bytes = b""
    unread: bool = False
    """It has text, and pictures that are still to be read."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """An open document: the number of pages, and the pages, parsed lazily."""

    count: int
    pages: Iterator[Page]


@dataclass(frozen=True, slots=True)
class Tools:
    """The limits and the OCR engine of all parsers."""

    limits: Limits
    ocr: Callable[[Image], list[Run] | None] | None = None
    """Reads a picture, or None if that takes too long; None if the extra is not installed, or pictures come later."""
    later: bool = False
    """Pictures are read another time: pages that need it are told by their text source, `none`."""
