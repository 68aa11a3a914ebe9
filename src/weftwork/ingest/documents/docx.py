"""DOCX, converted to HTML by mammoth; pages end where Word rendered page breaks at the last save."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import mammoth

from weftwork.ingest.documents.archive import open_archive
from weftwork.ingest.documents.docx_formulas import with_formulas
from weftwork.ingest.documents.docx_notes import with_notes
from weftwork.ingest.documents.html import markdown_of, sections
from weftwork.ingest.documents.values import Parsed, Tools, Unreadable

BODY = "word/document.xml"
STYLES = "\n".join([
    "br[type='page'] => hr.page-end", "p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh",
    "comment-reference => sup",
])  # fmt: skip
_RENDERED = re.compile(rb"<w:lastRenderedPageBreak\s*/>")


def read_docx(path: Path, tools: Tools) -> Parsed:
    """The pages of a DOCX, or its sections if it has no page breaks."""
    with open_archive(path, tools.limits) as archive:
        if BODY not in archive.namelist():
            raise Unreadable("is no Word document")
        try:
            result = mammoth.convert_to_html(
                _prepared(archive), style_map=STYLES, convert_image=mammoth.images.img_element(lambda _: {"src": ""})
            )
        except (BadZipFile, KeyError, ValueError, OSError) as error:
            raise Unreadable(f"is damaged ({error})") from error
    pages = sections(markdown_of(with_notes(result.value), page_end="page-end"))
    if not pages:
        raise Unreadable("has no text")
    return Parsed(len(pages), iter(pages))


def _prepared(archive: ZipFile) -> BytesIO:
    """The archive without pictures, with page breaks as elements and formulas as text."""
    out = BytesIO()
    with ZipFile(out, "w", ZIP_STORED) as copy:
        for member in archive.infolist():
            if member.filename.startswith(("word/media/", "word/embeddings/", "word/fonts/")):
                continue
            data = archive.read(member)
            if member.filename == BODY:
                data = _RENDERED.sub(b'<w:br w:type="page"/>', data)
                data = with_formulas(data)
            copy.writestr(member.filename, data)
    out.seek(0)
    return out
