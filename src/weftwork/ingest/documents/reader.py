"""A document as a node with one child for each page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from weftwork.errors import MissingExtra
from weftwork.ingest.documents.formats import extension_of, missing_packages
from weftwork.ingest.documents.libreoffice import DRAWN, libreoffice
from weftwork.ingest.documents.long_tables import with_repeated_headers
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.values import Page, Unreadable
from weftwork.ingest.events import TIMESTAMP, Attachment, Bundle, Expected, Note, Refused, Skipped
from weftwork.store.files import FILE_FIELDS
from weftwork.text.outline import Headings, outline
from weftwork.types import PAGE, UNSEEN, FieldValue, Node

EDITION = 9
"""Incremented when documents are read differently: adding them again then replaces them."""
SEEN = ("page", "section_path")
"""Fields of a page that say more than its title: the others are for programs."""
PATHS = dict(zip(("page", "thumb"), FILE_FIELDS, strict=True))
"""Fields with the paths of page files, by kind."""
UNREAD = "-unread"
"""Ends the version of a document of which a page had no text because there was no OCR."""
UNDRAWN = "-undrawn"
"""Ends the version of a document that has no pictures of its pages because there was no LibreOffice."""


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a document: its id, title, source, parent and position."""

    id: str
    title: str
    source: str
    parent: str | None = None
    position: int = 0


@dataclass(slots=True)
class _Seen:
    """Totals of the pages read so far."""

    pages: int = 0
    headings: Headings = ()
    without_text: int = 0
    unread_pictures: int = 0
    """Pages with text, and pictures that are still to be read."""
    drawn: bool = False
    cut: list[str] = field(default_factory=list)


def read_document(path: Path, place: Place, parser: Parser) -> Bundle | Skipped:
    """A document as a bundle, which is read only if its version is not stored."""
    if missing_packages():
        return Skipped(place.source, str(MissingExtra("what reads documents", "documents")))
    try:
        status = path.stat()
        if status.st_size > parser.limits.file_bytes:
            return Skipped(place.source, f"is larger than {parser.limits.file_bytes // 1_000_000:,} MB")
        if not status.st_size:
            return Skipped(place.source, "is empty")
        version = f"{EDITION}-{_digest(path)}"
    except OSError as error:
        return Skipped(place.source, f"cannot be read ({error.strerror})")
    top = Node(
        id=place.id,
        type="document",
        title=place.title,
        source=place.source,
        parent=place.parent,
        position=place.position,
        updated_at=datetime.fromtimestamp(status.st_mtime, UTC),
        fields={"filename": place.title, "extension": extension_of(path)},
    )
    return Bundle(place.id, place.source, _versions(version, parser), lambda: _read(path, top, version, parser))


def missing_in(version: str) -> tuple[str, ...]:
    """Parts that a document lacks, by its version: they need something installed, or time."""
    return tuple(part for part in (UNREAD, UNDRAWN) if part in version)


def _versions(version: str, parser: Parser) -> tuple[str, ...]:
    """The versions that need not be read again, given what is installed now."""
    unread = ("",) if parser.reads_pictures else ("", UNREAD)
    undrawn = ("",) if libreoffice() else ("", UNDRAWN)
    return tuple(version + one + other for one in unread for other in undrawn)


def _digest(path: Path) -> str:
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _read(path: Path, top: Node, version: str, parser: Parser) -> Iterator[Node | Attachment | Expected | Note]:
    seen = _Seen()
    try:
        for answer in parser.pages(path, str(top.fields["extension"])):
            if isinstance(answer, int):
                top = replace(top, fields={**top.fields, "pages": answer})
                yield Expected(answer)
                continue
            page, cut = answer
            seen.pages += 1
            if cut:
                seen.cut.append(f"page {seen.pages} is cut after {parser.limits.characters:,} characters")
            yield from _page(page, top, seen)
    except Unreadable as error:
        raise Refused(str(error)) from error
    unread = seen.without_text and not parser.reads_pictures
    unseen = seen.unread_pictures and not parser.reads_pictures
    undrawn = not seen.drawn and top.fields["extension"] in DRAWN and not libreoffice()
    version += (UNREAD if unread or unseen else "") + (UNDRAWN if undrawn else "")
    yield replace(top, fields=_for_programs({**top.fields, "version": version}))
    yield from (Note(top.source, text) for text in seen.cut)
    few = f"{seen.without_text} of {seen.pages} pages"
    if unread and parser.later:
        yield Note(top.source, f"{few} have no text yet: their pictures are still to be read, by  weftwork add")
    elif unread:
        yield Note(top.source, f"{few} have no text: to read pictures, run  pip install 'weftwork[ocr]'")
    elif seen.without_text:
        yield Note(top.source, f"{few} have no text: reading their pictures takes too long")
    if unseen:
        how = "weftwork add" if parser.later else "pip install 'weftwork[ocr]', then  weftwork add"
        beside = f"{seen.unread_pictures} of {seen.pages} pages have pictures beside their text"
        yield Note(top.source, f"{beside} that are not read yet: to read them, run  {how}")


def _for_programs(fields: dict[str, FieldValue]) -> dict[str, FieldValue]:
    """The fields, with all but those for people marked as neither searched nor shown."""
    return fields | {UNSEEN: tuple(sorted((fields.keys() | {TIMESTAMP, *PATHS.values()}) - set(SEEN)))}


def _page(page: Page, top: Node, seen: _Seen) -> Iterator[Node | Attachment]:
    page_outline = outline(page.markdown, seen.headings)
    seen.headings = page_outline.after
    seen.without_text += page.text_source == "none"
    seen.unread_pictures += page.unread
    name = f"{top.id}#page={seen.pages}"
    for short, data in (("page", page.image), ("thumb", page.thumbnail)):
        if data:
            seen.drawn = True
            yield Attachment(name, PATHS[short], f"{short}-{seen.pages:04}.jpg", data)
    fields: dict[str, FieldValue] = {
        **top.fields,
        "page": seen.pages,
        "section_path": page_outline.section_path or None,
        "parent_heading": page_outline.parent_heading or None,
        "section_levels": page_outline.levels or None,
        "headings": page_outline.headings,
        "tables": page_outline.tables,
        "pictures": page.pictures,
        "text_source": page.text_source,
    }
    yield Node(
        id=name,
        type=PAGE,
        title=": ".join(filter(None, [f"{top.title}, {page.unit} {seen.pages}", page_outline.label])),
        text=with_repeated_headers(page.markdown),
        source=top.source,
        parent=top.id,
        position=seen.pages,
        updated_at=top.updated_at,
        fields=_for_programs({name: value for name, value in fields.items() if value is not None}),
    )
