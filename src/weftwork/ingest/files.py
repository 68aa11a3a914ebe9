"""Files that are read: their text, their ids, and what belongs to a store."""

from __future__ import annotations

import os
from pathlib import Path

from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.encodings import decoded
from weftwork.ingest.events import Refused

LARGEST = 20_000_000
"""Bytes above which a file is not taken for notes or code."""
FOLDER = "_folder"
"""The field that says where a folder that was added lies, to tell it from another one of the same name."""
HIDDEN = {"node_modules", "__pycache__", "venv"}


def belongs_to_a_store(entry: os.DirEntry[str]) -> bool:
    """Return True for a store's folder of files, indexes or copies of live sources."""
    stores = [entry.path.removesuffix(end) for end in (".files", ".index", ".sources") if entry.path.endswith(end)]
    return bool(stores) and is_database(Path(stores[0]))


def is_database(path: Path) -> bool:
    """Return True for a SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def text_of(path: Path) -> str:
    """Read a file as text; raise Refused if it is too large or binary."""
    if path.stat().st_size > LARGEST:
        raise Refused(f"is larger than {LARGEST // 1_000_000} MB")
    return decoded(path.read_bytes())


def check_path(path: Path) -> None:
    """Refuse a missing path, and pipes and devices, which would block."""
    if not path.exists():
        raise NotFound(f"{path} does not exist: give a file or a folder")
    if not path.is_file() and not path.is_dir():
        raise InvalidInput(f"{path} is neither a file nor a folder: give one of these")


def identity(kind: str, name: str) -> str:
    """An id of printable characters; injective, so distinct names give distinct ids."""
    return f"{kind}:{''.join(map(_printable, name))}"


def _printable(letter: str) -> str:
    code = ord(letter)
    if letter.isprintable() and letter != "\\":
        return letter
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as Python has it in file names
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if 0x80 <= code <= 0xFF else ascii(letter)[1:-1]


def shown(name: str) -> str:
    """Decode a file name, with backslash escapes for bytes that are not UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
