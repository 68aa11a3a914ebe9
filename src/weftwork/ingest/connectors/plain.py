"""Files that are no notes: documents page by page, and any other text as it is."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from weftwork.ingest.connectors.folders import Found
from weftwork.ingest.connectors.protocol import Document, Named, Source, Yielded
from weftwork.ingest.documents.formats import is_document
from weftwork.ingest.documents.values import Limits
from weftwork.ingest.events import Skipped
from weftwork.ingest.files import LARGEST, identity, shown
from weftwork.types import Node

Reader = Callable[[Found, str], Iterator[Yielded]]


def source_of(found: Found, kind: str, read: Reader, most: int = LARGEST) -> Source | Skipped:
    """A file as a source, unless it has more bytes than what is taken for text."""
    if found.size > most:
        return Skipped(shown(str(found.path)), f"is larger than {most // 1_000_000:,} MB")
    return Source(
        key=found.key,
        id=identity(kind, found.name),
        what=shown(str(found.path)),
        fingerprint=found.fingerprint,
        stamp=found.stamp,
        read=lambda name: read(found, name),
    )


def plain_source(found: Found) -> Source | Skipped:
    """A file that is no note: a document, or text."""
    if is_document(found.path):
        return source_of(found, "document", _document, Limits().file_bytes)
    return source_of(found, "file", _text)


def path_names(node: str, key: str) -> Iterator[Named]:
    """What links may call a file: its path from the top on, any end of that path, and its name."""
    parts = key.split("/")
    yield Named(node, key, "path")
    for start in range(1, len(parts)):
        yield Named(node, "/".join(parts[start:]), "id")


def modified(found: Found) -> datetime | None:
    """When a file was last changed, where the calendar has that moment."""
    try:
        return datetime.fromtimestamp(found.modified, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _document(found: Found, name: str) -> Iterator[Yielded]:
    yield Document(
        path=found.path,
        title=shown(found.path.name),
        where=shown(str(found.path)),
        parent=found.parent,
        position=found.position,
    )
    yield from path_names(name, found.key)


def _text(found: Found, name: str) -> Iterator[Yielded]:
    yield Node(
        id=name,
        type="file",
        title=posixpath.basename(found.key),
        text=found.text(),
        source=shown(str(found.path)),
        parent=found.parent,
        position=found.position,
        updated_at=modified(found),
    )
    yield from path_names(name, found.key)
