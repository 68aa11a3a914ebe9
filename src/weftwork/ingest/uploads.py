"""A file that somebody handed in: known by who did and by its name, and never by where it lies meanwhile."""

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
    """What was handed in, by whom and for whom."""

    name: str
    user: str
    at: datetime
    access: frozenset[str] | None = None
    """Who may see it; None for whom the workspace admits, or for whom it was there already."""


def upload_name(given: str) -> str:
    """The last part of a file name, whatever a browser put before it."""
    name = given.replace("\\", "/").rpartition("/")[2].strip()
    if not name.strip(".") or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"the document needs a file name of 1 to {LONGEST_NAME} printable characters: rename it")
    return name


def node_of(upload: Upload) -> str:
    """The id of the node that a file becomes: two users' files of one name are two nodes."""
    return identity("upload", f"{upload.user}/{upload.name}")


@contextmanager
def admitted(weft: Weft, upload: Upload, workspace: str) -> Iterator[None]:
    """A block that adds an upload, only where nobody else's node has its id: that one's readers would see it.

    If readers are named, they hold for a file that is there already before its new content comes, and no longer if it
    does not come.
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
    """The node, or the document with its pages, that a file holds."""
    if is_document(path):
        found = read_document(path, Place(node_of(upload), upload.name, upload.name), parser)
        yield replace(found, read=lambda: _owned(found, upload)) if isinstance(found, Bundle) else found
        return
    try:
        text = text_of(path)
    except Refused as error:
        yield Skipped(upload.name, str(error))
        return
    yield Node(
        id=node_of(upload), type="file", title=upload.name, text=text, source=upload.name, updated_at=upload.at,
        owner=upload.user, access=upload.access,
    )  # fmt: skip


def _owned(bundle: Bundle, upload: Upload) -> Iterator[Node | Attachment | Expected | Note]:
    """What a document holds, as its owner's; pages follow the access list of the document."""
    for piece in bundle.read():
        if isinstance(piece, Node):
            access = upload.access if piece.id == bundle.root else None
            yield replace(piece, owner=upload.user, access=access, updated_at=upload.at)
        else:
            yield piece
