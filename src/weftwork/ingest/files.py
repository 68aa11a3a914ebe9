"""Files and folders: each text file becomes a node, each document one with its pages, their folders the tree above."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.documents.formats import is_document
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.documents.reader import Place, read_document
from weftwork.ingest.documents.values import Unreadable
from weftwork.ingest.events import Bundle, Piece, Skipped
from weftwork.types import UNSEEN, FieldValue, Node

LARGEST = 20_000_000
"""Bytes above which a file is not taken for notes or code."""
FOLDER = "_folder"
"""The field that says where a folder that was added lies, to tell it from another one of the same name."""
HIDDEN = {"node_modules", "__pycache__", "venv"}


def read_files(root: Path, parser: Parser | None = None) -> Iterator[Piece]:
    """A file, known by its whole path, or all files below a folder, known by their paths from its name on."""
    with Parser() if parser is None else nullcontext(parser) as parsing:
        if root.is_file():
            yield _file(root, str(root.resolve()), None, parsing)
            return
        top = root.resolve().name or "files"
        place: dict[str, FieldValue] = {FOLDER: shown(str(root.resolve())), UNSEEN: (FOLDER,)}
        yield Node(id=identity("folder", top), type="folder", title=shown(top), source=shown(str(root)), fields=place)
        yield from _below(root, top, {os.path.realpath(root)}, parsing)


def _below(folder: Path, name: str, above: set[str], parser: Parser) -> Iterator[Piece]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(shown(str(folder)), f"cannot be listed ({error.strerror})")
        return
    for position, entry in enumerate(entries):
        path, inner = Path(entry.path), f"{name}/{entry.name}"
        if entry.name.startswith(".") or entry.name in HIDDEN or belongs_to_a_store(entry):
            continue
        if os.path.isdir(path):  # a link to itself is none; entry.is_dir() would raise an error
            real = os.path.realpath(path)
            if real in above:
                yield Skipped(shown(str(path)), "leads back to a folder above it")
                continue
            yield Node(
                id=identity("folder", inner), type="folder", title=shown(entry.name), source=shown(entry.path),
                parent=identity("folder", name), position=position,
            )  # fmt: skip
            yield from _below(path, inner, above | {real}, parser)
        else:
            yield _file(path, inner, (identity("folder", name), position), parser)


def belongs_to_a_store(entry: os.DirEntry[str]) -> bool:
    """Whether a folder holds the pictures or the indexes of a store that lies beside it."""
    kept = [entry.path.removesuffix(end) for end in (".files", ".index") if entry.path.endswith(end)]
    return bool(kept) and is_database(Path(kept[0]))


def is_database(path: Path) -> bool:
    """Whether a file is a database."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _file(path: Path, name: str, below: tuple[str, int] | None, parser: Parser) -> Node | Bundle | Skipped:
    """What a file holds, below a folder at a position."""
    parent, position = below or (None, 0)
    try:
        status = path.stat()
        if not path.is_file():
            return Skipped(shown(str(path)), "is not a regular file")
        if is_document(path):
            place = Place(identity("document", name), shown(path.name), shown(str(path)), parent, position)
            return read_document(path, place, parser)
        if status.st_size > LARGEST:
            return Skipped(shown(str(path)), f"is larger than {LARGEST // 1_000_000} MB")
        text = text_of(path.read_bytes())
    except OSError as error:
        return Skipped(shown(str(path)), f"cannot be read ({error.strerror})")
    except Unreadable as error:
        return Skipped(shown(str(path)), str(error))
    return Node(
        id=identity("file", name),
        type="file",
        title=shown(path.name),
        text=text,
        source=shown(str(path)),
        parent=parent,
        position=position,
        updated_at=datetime.fromtimestamp(status.st_mtime, UTC),
    )


def text_of(data: bytes) -> str:
    """The text that a file holds; raises Unreadable if it is none."""
    if b"\0" in data[:8192]:
        raise Unreadable("is not text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 text (byte {error.start})") from error


def check_path(path: Path) -> None:
    """Refuse what is not there, and pipes and devices, which would be waited for without an end."""
    if not path.exists():
        raise NotFound(f"{path} does not exist: give a file or a folder")
    if not path.is_file() and not path.is_dir():
        raise InvalidInput(f"{path} is neither a file nor a folder: give one of these")


def identity(kind: str, name: str) -> str:
    """An id of printable characters, whatever the name is made of: two names never have the same."""
    return f"{kind}:{''.join(map(_printable, name))}"


def _printable(letter: str) -> str:
    code = ord(letter)
    if letter.isprintable() and letter != "\\":
        return letter
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as Python has it in file names
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if 0x80 <= code <= 0xFF else ascii(letter)[1:-1]


def shown(name: str) -> str:
    """A file name as text, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
