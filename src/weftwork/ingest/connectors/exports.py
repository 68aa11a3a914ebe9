"""The files of an export, be it a folder, a zip, or a zip of zips: read where they lie, never unpacked to disk."""

from __future__ import annotations

import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from weftwork.ingest.connectors.folders import stamp_of
from weftwork.ingest.connectors.protocol import Source, Unread, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import FOLDER, identity, shown
from weftwork.types import UNSEEN, FieldValue, Node

TOP = "/"
"""The key of the source that all others of an export hang below."""
MOST_FILES = 200_000
MOST_BYTES = 20_000_000_000
"""What a zip, and the zips in it, may come to when unpacked."""
LARGEST_FILE = 200_000_000
"""Bytes of a file that is read as a whole; one that is read item by item may be larger."""
LARGEST_INNER = 1_000_000_000
"""Bytes of a zip inside a zip, which is held in memory."""
DEEPEST = 2
STEEPEST = 200
"""How many times its packed size a zip may come to; text rarely comes to more than twenty."""
HARMLESS = 50_000_000
"""Bytes below which a steep zip is harmless."""
_DRIVE = re.compile(r"[A-Za-z]:")
_DAMAGE = (BadZipFile, NotImplementedError, EOFError, ValueError, RuntimeError, zlib.error)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of an export."""

    name: str
    """Its path from the top on, with `/`."""
    size: int
    stamp: str
    """Changes whenever the content does; empty where nothing but the content tells."""
    open: Callable[[], IO[bytes]]
    checksum: str = ""
    """The hash of its content, where a zip says it."""

    def fingerprint(self) -> str:
        """The hash of its content."""
        if self.checksum:
            return self.checksum
        hashed = blake2b(digest_size=16)
        with self.open() as file:
            while block := file.read(1 << 20):
                hashed.update(block)
        return hashed.hexdigest()

    @property
    def stem(self) -> str:
        """Its name without folders and extension."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """Its extension in small letters."""
        return PurePosixPath(self.name).suffix.lower()

    def read(self) -> bytes:
        """All of it; Refused if it is too large or damaged."""
        if self.size > LARGEST_FILE:
            raise Refused(f"is larger than {LARGEST_FILE // 1_000_000} MB")
        try:
            with self.open() as file:
                return file.read()
        except _DAMAGE as error:
            raise Refused(f"is damaged ({error})") from error

    def text(self) -> str:
        """What it says; Refused if it is no text."""
        try:
            return self.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Refused(f"is not UTF-8 text (byte {error.start})") from error


@dataclass(frozen=True, slots=True)
class Export:
    """What a path holds, and what of it could not be taken."""

    files: tuple[Entry, ...]
    skipped: tuple[Skipped | Unread, ...] = ()

    def named(self, name: str) -> Entry | None:
        """The file of a name."""
        return next((entry for entry in self.files if entry.name == name), None)


@dataclass(slots=True)
class _Found:
    where: str
    files: list[Entry] = field(default_factory=list)
    skipped: list[Skipped | Unread] = field(default_factory=list)
    bytes: int = 0

    def skip(self, name: str, why: str) -> None:
        self.skipped.append(Skipped(f"{self.where}: {_printable(name)}", why))

    def unread(self, name: str, why: str | None) -> None:
        """Something cannot be opened now: as nobody knows what is in it, all that is stored of the export stays."""
        self.skipped.append(Unread("", f"{self.where}: {_printable(name)}", f"cannot be read ({why})"))


def open_export(path: Path) -> Export:
    """The files of a folder or a zip by name, or a file by itself; Refused for a zip that is damaged or bursts."""
    found = _Found(shown(str(path)))
    if path.is_dir():
        _list_folder(path, found)
    elif is_zip(path):
        _list_zip(path, "", 1, found)
    else:
        found.files.append(_on_disk(path, path.name))
    files = {entry.name: entry for entry in reversed(found.files)}
    if len(files) < len(found.files):
        found.skip("", f"{len(found.files) - len(files)} files have the name of another; the first of each was taken")
    return Export(tuple(files[name] for name in sorted(files)), tuple(found.skipped))


def is_zip(path: Path) -> bool:
    """Whether a file begins like a zip."""
    try:
        with path.open("rb") as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except OSError:
        return False


def names_in(path: Path, most: int = 20_000) -> list[str]:
    """Names of files in a folder, two levels deep, or in a zip and a zip at its top: enough to recognise an export."""
    try:
        if path.is_dir():
            return [name for name, _ in zip(_shallow(path), range(most), strict=False)]
        if is_zip(path):
            with ZipFile(path) as outer:
                names = outer.namelist()[:most]
                inner = [info for info in outer.infolist()[:20] if info.filename.lower().endswith(".zip")]
                if inner and len(inner) == len(names) and inner[0].file_size <= LARGEST_INNER:
                    _refuse_burst(inner, path.name)
                    with ZipFile(io.BytesIO(outer.read(inner[0]))) as archive:
                        names = archive.namelist()[:most]
                return names
    except (OSError, Refused, *_DAMAGE):
        return []
    return [path.name]


def export_top(path: Path, kind: str, title: str) -> Source:
    """The node that stands for the export itself."""
    where = shown(str(path))
    fields: dict[str, FieldValue] = {FOLDER: shown(str(path.resolve())), UNSEEN: (FOLDER,)}

    def read(name: str) -> Iterator[Yielded]:
        yield Node(id=name, type="folder", title=title, source=where, fields=fields)

    return Source(
        key=TOP, id=identity(kind, path.resolve().name), what=where, fingerprint=lambda: digest(title, where),
        read=read, movable=False,
    )  # fmt: skip


def unread(path: Path, why: str, key: str = "") -> Unread:
    """That an export, or from some place on the rest of it, cannot be read now: what is stored of it stays."""
    return Unread(key, shown(str(path)), why)


def digest(*parts: str) -> str:
    """One hash for several texts."""
    hashed = blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "big") + encoded)
    return hashed.hexdigest()


def fingerprints(entries: Iterable[Entry], *parts: str) -> str:
    """One hash for the content of several files and what else is read with them."""
    return digest(*parts, *(entry.fingerprint() for entry in entries))


def stamps(entries: Iterable[Entry], *parts: str) -> str:
    """The same by stamps; empty if one of them has none."""
    known = [entry.stamp for entry in entries]
    return digest(*parts, *known) if all(known) else ""


def _shallow(path: Path) -> Iterator[str]:
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield from (f"{entry.name}/{inner}" for inner in sorted(os.listdir(entry.path)))
        else:
            yield entry.name


def _list_folder(root: Path, found: _Found) -> None:
    def unlisted(error: OSError) -> None:
        found.unread(os.path.relpath(error.filename, root), error.strerror)

    for folder, inner, names in os.walk(root, onerror=unlisted):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "__MACOSX")
        for name in sorted(names):
            path = Path(folder, name)
            within = path.relative_to(root).as_posix()
            if name.startswith("."):
                continue
            try:
                found.files.append(_on_disk(path, within))
            except Refused as refused:
                found.skip(within, str(refused))
            except OSError as error:
                found.unread(within, error.strerror)


def _on_disk(path: Path, name: str) -> Entry:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Refused("is not a regular file")

    def open_file() -> BinaryIO:
        return path.open("rb")

    return Entry(shown(name), status.st_size, stamp_of(status), open_file)


def _list_zip(file: Path | IO[bytes], prefix: str, depth: int, found: _Found) -> None:
    """The files of a zip, and of the zips in it; one that is damaged or bursts is refused as a whole."""
    try:
        archive = ZipFile(file)  # open as long as something of it may be read
    except _DAMAGE as error:
        raise Refused(f"is a damaged zip ({error})") from error
    members = [each for each in archive.infolist() if not each.is_dir()]
    found.bytes += sum(each.file_size for each in members)
    if found.bytes > MOST_BYTES or len(found.files) + len(members) > MOST_FILES:
        raise Refused(
            f"would be {found.bytes // 1_000_000:,} MB in {len(members):,} files when unpacked, "
            f"more than {MOST_BYTES // 1_000_000:,} MB or {MOST_FILES:,} files"
        )
    _refuse_burst(members, prefix)
    for member in members:
        _take_member(archive, member, prefix, depth, found)


def _refuse_burst(members: list[ZipInfo], name: str) -> None:
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    if unpacked > HARMLESS and unpacked > STEEPEST * max(packed, 1):
        raise Refused(f"would burst: {packed:,} bytes{f' in {name}' if name else ''} come to {unpacked:,}")


def _take_member(archive: ZipFile, member: ZipInfo, prefix: str, depth: int, found: _Found) -> None:
    name = member.filename.replace("\\", "/")
    parts = name.split("/")
    if parts[0] == "__MACOSX" or parts[-1].startswith("."):
        return
    if name.startswith("/") or ".." in parts or _DRIVE.match(name):
        found.skip(name, "would climb out of its folder")
    elif stat.S_ISLNK(member.external_attr >> 16):
        found.skip(name, "is a link, which a zip cannot be trusted with")
    elif member.flag_bits & 1:
        found.skip(name, "is protected by a password")
    elif name.lower().endswith(".zip"):
        _take_inner(archive, member, prefix, depth, found)
    else:
        known, within = f"{member.CRC:08x}:{member.file_size}", prefix + _printable(name)
        found.files.append(Entry(within, member.file_size, known, lambda: archive.open(member), known))


def _take_inner(archive: ZipFile, member: ZipInfo, prefix: str, depth: int, found: _Found) -> None:
    """A zip in a zip: parts of one export stand side by side, as if they were one."""
    if depth >= DEEPEST:
        return found.skip(member.filename, f"is a zip more than {DEEPEST} deep")
    if member.file_size > LARGEST_INNER:
        return found.skip(member.filename, f"is a zip of more than {LARGEST_INNER // 1_000_000:,} MB inside a zip")
    try:
        inner = io.BytesIO(archive.read(member))
    except _DAMAGE as error:
        return found.skip(member.filename, f"is damaged ({error})")
    _list_zip(inner, prefix, depth + 1, found)


def _printable(name: str) -> str:
    return "".join(each if each.isprintable() else "\ufffd" for each in shown(name))
