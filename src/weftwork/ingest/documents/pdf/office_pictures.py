"""Pictures of the pages and slides of Office documents, which LibreOffice draws."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pypdfium2 import PdfDocument, PdfiumError

from weftwork.ingest.documents.libreoffice import converted, libreoffice
from weftwork.ingest.documents.pdf.document import render
from weftwork.ingest.documents.pictures import PAGE_SIDE, encoded
from weftwork.ingest.documents.values import Page, Parsed, Tools, Unreadable

SHARE = 0.4
"""Of the time limit of a page that the conversion may take: the text of a document is worth more than its pictures."""
_WORD = re.compile(r"\w{3,}")


def with_pictures(path: Path, parsed: Parsed, tools: Tools) -> Parsed:
    """The document with a picture for each page; as it is where LibreOffice is missing or fails."""
    program = libreoffice()
    return parsed if program is None else replace(parsed, pages=_drawn(program, path, parsed, tools))


def _drawn(program: str, path: Path, parsed: Parsed, tools: Tools) -> Iterator[Page]:
    with TemporaryDirectory() as folder:
        try:
            document = PdfDocument(converted(program, path, "pdf", Path(folder), SHARE * tools.limits.seconds))
        except (Unreadable, PdfiumError):
            yield from parsed.pages
            return
        try:
            texts = (
                [] if len(document) == parsed.count else [_words(document, number) for number in range(len(document))]
            )
            for number, page in enumerate(parsed.pages):
                place = number if not texts else _most_alike(page, texts)
                with suppress(PdfiumError):
                    image, thumbnail = encoded(render(document[place], PAGE_SIDE))
                    page = replace(page, image=image, thumbnail=thumbnail)  # noqa: PLW2901
                yield page
        finally:
            document.close()


def _words(document: PdfDocument, number: int) -> frozenset[str]:
    try:
        text = document[number].get_textpage().get_text_bounded()
    except PdfiumError:
        return frozenset()
    return frozenset(word.lower() for word in _WORD.findall(text))


def _most_alike(page: Page, texts: Sequence[frozenset[str]]) -> int:
    """The drawn page that has most of a page's words: a document may be paged in another way than by its author."""
    words = {word.lower() for word in _WORD.findall(page.markdown)}
    return max(range(len(texts)), key=lambda place: (len(words & texts[place]), -place))
