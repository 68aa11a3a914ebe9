"""Uploads: files identified by their user and name, never by their temporary path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from weftwork.engine import Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.documents.formats import is_document
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.reader import Place, read_document
from weftwork.ingest.events import Attachment, Bundle, Expected, Note, Piece, Refused, Skipped
from weftwork.ingest.files import identity, text_of
from weftwork.types import Node
from weftwork.write.permit import Kind, permitted

LONGEST_NAME = 200
FILE = Kind("file", "upload it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An uploaded file: its name, owner, time and readers."""

    name: str
    user: str
    at: datetime
    access: frozenset[str] | None = None
    """The readers; None for the workspace's default, or for the list of the stored file."""


def upload_name(file_name: str) -> str:
    """The base name of a file name, whichever path a browser put before it."""
    name = file_name.replace("\\", "/").rpartition("/")[2].strip()
    if not name.strip(".") or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"the document needs a file name of 1 to {LONGEST_NAME} printable characters: rename it")
    return name


def node_of(upload: Upload) -> str:
    """The id of an upload's node: two users' files of one name are two nodes."""
    return identity("upload", f"{upload.user}/{upload.name}")


@contextmanager
def admitted(weft: Weft, upload: Upload, workspace: str) -> Iterator[None]:
    """Guard a block that adds an upload: refuse an id that another user's node has.

    If readers are named, the new access list holds for an existing file before its new content comes, and is
    restored if the block fails.
    """
    name = node_of(upload)
    with permitted(weft.store, workspace, upload.user, FILE) as permit:
        old = permit.replaceable(name)
    if old is None or upload.access in (None, old.access):
        yield
        return
    _set_access(weft, workspace, name, upload.access)
    try:
        yield
    except BaseException:
        _set_access(weft, workspace, name, old.access)
        raise


def _set_access(weft: Weft, workspace: str, name: str, access: frozenset[str] | None) -> None:
    with suppress(NotFound), weft.atomic(workspace) as batch:
        batch.set_access(name, access)


def read_upload(path: Path, upload: Upload, parser: Parser) -> Iterator[Piece]:
    """Yield the node, or the document with its pages."""
    if is_document(path):
        document = read_document(path, Place(node_of(upload), upload.name, upload.name), parser)
        yield replace(document, read=lambda: _owned(document, upload)) if isinstance(document, Bundle) else document
        return
    try:
        text = text_of(path)
    except Refused as error:
        yield Skipped(upload.name, str(error))
        return
    yield Node(
        id=node_of(upload), type="file", title=upload.name, text=text, source=upload.name, updated_at=upload.at,
        owner=upload.user, access=upload.access, writer=upload.user, origin="upload",
    )  # fmt: skip


def _owned(bundle: Bundle, upload: Upload) -> Iterator[Node | Attachment | Expected | Note]:
    """The pieces of a document with their owner; pages inherit the access list of the document."""
    for piece in bundle.read():
        if isinstance(piece, Node):
            access = upload.access if piece.id == bundle.root else None
            owned = replace(piece, owner=upload.user, writer=upload.user, origin="upload")
            yield replace(owned, access=access, updated_at=upload.at)
        else:
            yield piece
