"""Plain files and folders: each text file becomes a node, its folders the tree above it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from weft.ingest.pieces import Piece, Skipped
from weft.types import Node

LARGEST = 20_000_000
"""Bytes above which a file is not taken for notes or code."""
HIDDEN = {"node_modules", "__pycache__", "venv"}


def read_files(root: Path) -> Iterator[Piece]:
    """A file, known by its whole path, or all text files below a folder, known by their paths from its name on."""
    if root.is_file():
        yield _file(root, str(root.resolve()), None)
        return
    top = root.resolve().name or "files"
    yield Node(id=_identity("folder", top), type="folder", title=_shown(top), source=_shown(str(root)))
    yield from _below(root, top, {os.path.realpath(root)})


def _below(folder: Path, name: str, above: set[str]) -> Iterator[Piece]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(_shown(str(folder)), f"cannot be listed ({error.strerror})")
        return
    for position, entry in enumerate(entries):
        path, inner = Path(entry.path), f"{name}/{entry.name}"
        if entry.name.startswith(".") or entry.name in HIDDEN:
            continue
        if os.path.isdir(path):  # a link to itself is none; entry.is_dir() would raise an error
            real = os.path.realpath(path)
            if real in above:
                yield Skipped(_shown(str(path)), "leads back to a folder above it")
                continue
            yield Node(
                id=_identity("folder", inner), type="folder", title=_shown(entry.name), source=_shown(entry.path),
                parent=_identity("folder", name), position=position,
            )  # fmt: skip
            yield from _below(path, inner, above | {real})
        else:
            yield _file(path, inner, _identity("folder", name), position)


def _file(path: Path, name: str, parent: str | None, position: int = 0) -> Node | Skipped:
    try:
        status = path.stat()
        if not path.is_file():
            return Skipped(_shown(str(path)), "is not a regular file")
        if status.st_size > LARGEST:
            return Skipped(_shown(str(path)), f"is larger than {LARGEST // 1_000_000} MB")
        data = path.read_bytes()
    except OSError as error:
        return Skipped(_shown(str(path)), f"cannot be read ({error.strerror})")
    if b"\0" in data[:8192]:
        return Skipped(_shown(str(path)), "is not text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Skipped(_shown(str(path)), f"is not UTF-8 text (byte {error.start})")
    return Node(
        id=_identity("file", name),
        type="file",
        title=_shown(path.name),
        text=text,
        source=_shown(str(path)),
        parent=parent,
        position=position,
        updated_at=datetime.fromtimestamp(status.st_mtime, UTC),
    )


def _identity(kind: str, name: str) -> str:
    return f"{kind}:{_shown(name)}"


def _shown(name: str) -> str:
    """A file name as text, whatever bytes it is made of."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
