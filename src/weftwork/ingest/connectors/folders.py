"""Walking a folder: a source for each folder, and the files for a connector to read."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from weftwork.identity import text_hash
from weftwork.ingest.connectors.protocol import Listed, Source, Unread, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import FOLDER, HIDDEN, belongs_to_a_store, identity, is_database, shown, text_of
from weftwork.types import UNSEEN, FieldValue, Node

SETTLED = 2_000_000_000
"""Nanoseconds within which a second change may not show in a file's times: clocks are coarse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A regular file below the top, or the top itself."""

    path: Path
    key: str
    """Its path from the top on, with `/`, as text."""
    name: str
    """The base of its id: the name of the top and the key; the whole path if it is the top."""
    size: int
    modified: float
    stamp: str
    parent: str | None
    """The id that its folder proposes."""
    position: int

    def fingerprint(self) -> str:
        """The hash of its bytes."""
        hashed = blake2b(digest_size=16)
        with self.path.open("rb") as file:
            while block := file.read(1 << 20):
                hashed.update(block)
        return hashed.hexdigest()

    def text(self) -> str:
        """Its text; Refused if it is binary."""
        with self.path.open("rb") as file:
            if file.read(4) == b"PK\x03\x04":
                raise Refused("is a zip archive: add it by itself if it is an export, or unpack it")
        return text_of(self.path)


Claim = Callable[[Path, str, str, str], Iterator[Listed] | None]
"""The sources of a folder that is read otherwise, given its path, key, name and parent; None for any other folder."""


def walk(root: Path, claim: Claim = lambda *_: None) -> Iterator[Listed | FoundFile]:
    """Yield the folder itself, then all that is in it, sorted by name; a single file yields itself.

    Hidden files and folders and what belongs to a store are left out.
    """
    if not root.is_dir():
        yield _file(root, root.name, str(root.resolve()), None)
        return
    top = root.resolve().name or "files"
    place: dict[str, FieldValue] = {FOLDER: shown(str(root.resolve())), UNSEEN: (FOLDER,)}
    yield _folder(root, "", Node(id=identity("folder", top), type="folder", title=shown(top), fields=place))
    yield from _below(root, "", top, os.path.realpath(root), claim)


def walk_files(
    root: Path, read: Callable[[FoundFile], Iterable[Listed]], claim: Claim = lambda *_: None
) -> Iterator[Listed]:
    """Walk a folder, with the sources that `read` makes of each file in its place."""
    for entry in walk(root, claim):
        if isinstance(entry, FoundFile):
            yield from read(entry)
        else:
            yield entry


def why_not_followed(path: Path, root: str) -> str:
    """The reason not to follow a symbolic link; empty for other files, and for links within the folder."""
    if not path.is_symlink():
        return ""
    real = os.path.realpath(path)
    if real == root or _is_within(root, real):
        return "leads back to a folder above it"
    if not _is_within(real, root):
        return "leads out of what is added: add where it leads by itself"
    return "leads to a folder that is read where it stands" if os.path.isdir(real) else ""


def _is_within(inner: str, outer: str) -> bool:
    return inner.startswith(outer.rstrip(os.sep) + os.sep)


def _below(folder: Path, prefix: str, top: str, root: str, claim: Claim) -> Iterator[Listed | FoundFile]:
    parent = identity("folder", f"{top}/{prefix}".rstrip("/"))
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Unread(shown(prefix), shown(str(folder)), f"cannot be listed ({error.strerror})")
        return
    for entry in entries:
        path, inner = Path(entry.path), f"{prefix}{entry.name}"
        if entry.name.startswith(".") or entry.name in HIDDEN or belongs_to_a_store(entry):
            continue
        if os.path.exists(path) and (why := why_not_followed(path, root)):
            yield Skipped(shown(str(path)), why)
            continue
        if not os.path.isdir(path):  # a link to itself is none; entry.is_dir() would raise an error
            yield _file(path, inner, f"{top}/{inner}", parent)
            continue
        if (claimed := claim(path, inner, f"{top}/{inner}", parent)) is not None:
            yield from claimed
            continue
        node = Node(
            id=identity("folder", f"{top}/{inner}"), type="folder", title=shown(entry.name), parent=parent,
            position=place_of(entry.name),
        )  # fmt: skip
        yield _folder(path, f"{inner}/", node)
        yield from _below(path, f"{inner}/", top, root, claim)


def _folder(path: Path, key: str, node: Node) -> Source:
    where = shown(str(path))

    def read(name: str) -> Iterator[Yielded]:
        yield Node(
            id=name, type=node.type, title=node.title, source=where, parent=node.parent, position=node.position,
            fields=node.fields,
        )  # fmt: skip

    content = text_hash(f"{node.title}\n{node.parent}")
    return Source(
        key=shown(key) or "/", id=node.id, what=where, fingerprint=lambda: content, read=read, movable=False
    )  # fmt: skip


def _file(path: Path, key: str, name: str, parent: str | None) -> FoundFile | Unread | Skipped:
    try:
        status = path.stat()
    except OSError as error:
        return Unread(shown(key), shown(str(path)), f"cannot be read ({error.strerror})")
    if not stat.S_ISREG(status.st_mode):
        return Skipped(shown(str(path)), "is not a regular file")
    if not path.name.endswith(".md") and is_database(path):
        return Skipped(shown(str(path)), "is a database")
    return FoundFile(
        path=path, key=shown(key), name=name, size=status.st_size, modified=status.st_mtime, stamp=stamp_of(status),
        parent=parent, position=place_of(path.name),
    )  # fmt: skip


def stamp_of(status: os.stat_result) -> str:
    """Size, times and inode of a file; empty if it changed so lately that another change may not show."""
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    if time.time_ns() - changed < SETTLED:
        return ""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def place_of(name: str) -> int:
    """A position among siblings in alphabetical order that no new neighbour changes."""
    return int.from_bytes(shown(name).casefold().encode()[:6].ljust(6, b"\0"), "big")
