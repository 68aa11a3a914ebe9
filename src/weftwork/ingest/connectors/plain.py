"""Files that are not notes: documents by page, other text as it is."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from weftwork.ingest.connectors.folders import FoundFile
from weftwork.ingest.connectors.protocol import Document, Named, Source, Yielded
from weftwork.ingest.documents.formats import is_document
from weftwork.ingest.documents.values import Limits
from weftwork.ingest.events import Note, Skipped
from weftwork.ingest.files import LARGEST, identity, shown
from weftwork.types import Node

Reader = Callable[[FoundFile, str], Iterator[Yielded]]


def source_of(file: FoundFile, kind: str, read: Reader, most: int = LARGEST) -> Source | Skipped:
    """A file as a source; Skipped if it has more than `most` bytes."""
    if file.size > most:
        return Skipped(shown(str(file.path)), f"is larger than {most // 1_000_000:,} MB")
    return Source(
        key=file.key,
        id=identity(kind, file.name),
        what=shown(str(file.path)),
        fingerprint=file.fingerprint,
        stamp=file.stamp,
        read=lambda name: read(file, name),
    )


def plain_source(file: FoundFile) -> Source | Skipped:
    """The source of a document or a text file."""
    if is_document(file.path):
        return source_of(file, "document", _document, Limits().file_bytes)
    return source_of(file, "file", _text)


def path_names(node: str, key: str) -> Iterator[Named]:
    """The names of a file for links: its path from the top on, and all suffixes of that path."""
    parts = key.split("/")
    yield Named(node, key, "path")
    for start in range(1, len(parts)):
        yield Named(node, "/".join(parts[start:]), "id")


def modified(file: FoundFile) -> datetime | None:
    """The modification time of a file; None if it is out of range."""
    try:
        return datetime.fromtimestamp(file.modified, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _document(file: FoundFile, name: str) -> Iterator[Yielded]:
    yield Document(
        path=file.path,
        title=shown(file.path.name),
        where=shown(str(file.path)),
        parent=file.parent,
        position=file.position,
    )
    yield from path_names(name, file.key)


def _text(file: FoundFile, name: str) -> Iterator[Yielded]:
    yield Node(
        id=name,
        type="file",
        title=posixpath.basename(file.key),
        text=file.text(),
        source=shown(str(file.path)),
        parent=file.parent,
        position=file.position,
        updated_at=modified(file),
    )
    if file.path.suffix.lower() == ".xml":
        yield Note(shown(str(file.path)), "XML of no known kind: its text is kept as it stands, with the markup")
    yield from path_names(name, file.key)
