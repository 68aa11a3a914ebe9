"""The files of an export: a folder, a zip, or a zip of zips; never unpacked to disk."""

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

from weftwork.ingest.connectors.folders import stamp_of, why_not_followed
from weftwork.ingest.connectors.jsonstream import GLANCE, Damaged, Item, items
from weftwork.ingest.connectors.protocol import Listed, Source, Unread, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import FOLDER, identity, shown
from weftwork.types import UNSEEN, FieldValue, Node

TOP = "/"
"""The key of the source that all others of an export hang below."""
MOST_FILES = 200_000
MOST_BYTES = 20_000_000_000
"""Most bytes of a zip, and the zips in it, when unpacked."""
LARGEST_FILE = 200_000_000
"""Bytes of a file that is read as a whole; one that is read item by item may be larger."""
LARGEST_INNER = 1_000_000_000
"""Bytes of a zip inside a zip, which is held in memory."""
DEEPEST = 2
STEEPEST = 200
"""Highest compression ratio of a zip; that of text is rarely above twenty."""
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
        """Its extension in lower case."""
        return PurePosixPath(self.name).suffix.lower()

    def read(self) -> bytes:
        """Read all of it; raise Refused if it is too large or damaged."""
        if self.size > LARGEST_FILE:
            raise Refused(f"is larger than {LARGEST_FILE // 1_000_000} MB")
        try:
            with self.open() as file:
                return file.read()
        except _DAMAGE as error:
            raise Refused(f"is damaged ({error})") from error

    def text(self) -> str:
        """Decode it as UTF-8; raise Refused if it is not."""
        try:
            return self.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Refused(f"is not UTF-8 text (byte {error.start})") from error


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export, and what could not be read."""

    files: tuple[Entry, ...]
    skipped: tuple[Skipped | Unread, ...] = ()

    @property
    def json_files(self) -> list[Entry]:
        """Its JSON files."""
        return [entry for entry in self.files if entry.suffix == ".json"]

    def named(self, name: str) -> Entry | None:
        """The file with this name."""
        return next((entry for entry in self.files if entry.name == name), None)


@dataclass(slots=True)
class _Listing:
    where: str
    files: list[Entry] = field(default_factory=list)
    skipped: list[Skipped | Unread] = field(default_factory=list)
    bytes: int = 0

    def skip(self, name: str, why: str) -> None:
        self.skipped.append(Skipped(f"{self.where}: {_printable(name)}", why))

    def unread(self, name: str, why: str | None) -> None:
        """Record a path that cannot be opened now: all that is stored of the export stays then."""
        self.skipped.append(Unread("", f"{self.where}: {_printable(name)}", f"cannot be read ({why})"))


def open_export(path: Path) -> Export:
    """List the files of a folder or a zip, or a single file; refuse a damaged zip or a zip bomb."""
    listing = _Listing(shown(str(path)))
    if path.is_dir():
        _list_folder(path, listing)
    elif is_zip(path):
        _list_zip(path, "", 1, listing)
    else:
        listing.files.append(_on_disk(path, path.name))
    files = {entry.name: entry for entry in reversed(listing.files)}
    if len(files) < len(listing.files):
        listing.skip(
            "", f"{len(listing.files) - len(files)} files have the name of another; the first of each was taken"
        )
    return Export(tuple(files[name] for name in sorted(files)), tuple(listing.skipped))


def is_zip(path: Path) -> bool:
    """Return True for a file that begins like a zip."""
    try:
        with path.open("rb") as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except OSError:
        return False


def names_in(path: Path, most: int = 20_000) -> list[str]:
    """File names in a folder, two levels deep, or in a zip and a zip at its top, to recognise an export."""
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


def single_json(path: Path) -> Entry | None:
    """The JSON file of an export that has just one; None for a folder, and for any other."""
    if path.is_dir() or not any(name.lower().endswith(".json") for name in names_in(path, 50)):
        return None
    files = open_export(path).json_files
    return files[0] if len(files) == 1 else None


def first_item(entry: Entry) -> Item | None:
    """The first item of a JSON array, to recognise an export."""
    with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
        return next(items(text, largest=GLANCE), None)


def export_sources(path: Path, top: Source | None, read: Callable[[Export], Iterator[Listed]]) -> Iterator[Listed]:
    """Yield the top of an export, what of it could not be read, and its sources."""
    try:
        export = open_export(path)
    except (Refused, OSError) as refused:
        yield unread(path, str(refused))
        return
    if top is not None:
        yield top
    yield from export.skipped
    yield from read(export)


def entry_sources(path: Path, entries: Iterable[Entry], read: Callable[[Entry], Iterator[Listed]]) -> Iterator[Listed]:
    """Yield the sources of each file, up to where it is damaged."""
    for entry in entries:
        try:
            yield from read(entry)
        except (Damaged, Refused, OSError, zlib.error, EOFError, ValueError) as error:
            yield unread(path, f"{entry.name} {error}")


def export_top(path: Path, kind: str, title: str) -> Source:
    """The source of the export itself."""
    where = shown(str(path))
    fields: dict[str, FieldValue] = {FOLDER: shown(str(path.resolve())), UNSEEN: (FOLDER,)}

    def read(name: str) -> Iterator[Yielded]:
        yield Node(id=name, type="folder", title=title, source=where, fields=fields)

    return Source(
        key=TOP, id=identity(kind, path.resolve().name), what=where, fingerprint=lambda: digest(title, where),
        read=read, movable=False,
    )  # fmt: skip


def unread(path: Path, why: str, key: str = "") -> Unread:
    """An export, or the rest of it, that cannot be read now; its stored nodes stay."""
    return Unread(key, shown(str(path)), why)


def digest(*parts: str) -> str:
    """Hash several texts."""
    hashed = blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "big") + encoded)
    return hashed.hexdigest()


def fingerprints(entries: Iterable[Entry], *parts: str) -> str:
    """Hash the contents of several files and other texts."""
    return digest(*parts, *(entry.fingerprint() for entry in entries))


def stamps(entries: Iterable[Entry], *parts: str) -> str:
    """Hash the stamps of several files and other texts; empty if a file has none."""
    entry_stamps = [entry.stamp for entry in entries]
    return digest(*parts, *entry_stamps) if all(entry_stamps) else ""


def _shallow(path: Path) -> Iterator[str]:
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield from (f"{entry.name}/{inner}" for inner in sorted(os.listdir(entry.path)))
        else:
            yield entry.name


def _list_folder(root: Path, listing: _Listing) -> None:
    def unlisted(error: OSError) -> None:
        listing.unread(os.path.relpath(error.filename, root), error.strerror)

    top = os.path.realpath(root)
    for folder, inner, names in os.walk(root, onerror=unlisted):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "__MACOSX")
        for name in sorted(names):
            path = Path(folder, name)
            within = path.relative_to(root).as_posix()
            if name.startswith("."):
                continue
            if os.path.exists(path) and (why := why_not_followed(path, top)):
                listing.skip(within, why)
                continue
            try:
                listing.files.append(_on_disk(path, within))
            except Refused as refused:
                listing.skip(within, str(refused))
            except OSError as error:
                listing.unread(within, error.strerror)


def _on_disk(path: Path, name: str) -> Entry:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Refused("is not a regular file")

    def open_file() -> BinaryIO:
        return path.open("rb")

    return Entry(shown(name), status.st_size, stamp_of(status), open_file)


def _list_zip(file: Path | IO[bytes], prefix: str, depth: int, listing: _Listing) -> None:
    """List the files of a zip and of the zips in it; refuse it as a whole if it is damaged or a bomb."""
    try:
        archive = ZipFile(file)  # open as long as something of it may be read
    except _DAMAGE as error:
        raise Refused(f"is a damaged zip ({error})") from error
    members = [member for member in archive.infolist() if not member.is_dir()]
    listing.bytes += sum(member.file_size for member in members)
    if listing.bytes > MOST_BYTES or len(listing.files) + len(members) > MOST_FILES:
        raise Refused(
            f"would be {listing.bytes // 1_000_000:,} MB in {len(members):,} files when unpacked, "
            f"more than {MOST_BYTES // 1_000_000:,} MB or {MOST_FILES:,} files"
        )
    _refuse_burst(members, prefix)
    for member in members:
        _take_member(archive, member, prefix, depth, listing)


def _refuse_burst(members: list[ZipInfo], name: str) -> None:
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    if unpacked > HARMLESS and unpacked > STEEPEST * max(packed, 1):
        raise Refused(f"would burst: {packed:,} bytes{f' in {name}' if name else ''} come to {unpacked:,}")


def _take_member(archive: ZipFile, member: ZipInfo, prefix: str, depth: int, listing: _Listing) -> None:
    name = member.filename.replace("\\", "/")
    parts = name.split("/")
    if parts[0] == "__MACOSX" or parts[-1].startswith("."):
        return
    if name.startswith("/") or ".." in parts or _DRIVE.match(name):
        listing.skip(name, "would climb out of its folder")
    elif stat.S_ISLNK(member.external_attr >> 16):
        listing.skip(name, "is a link, which a zip cannot be trusted with")
    elif member.flag_bits & 1:
        listing.skip(name, "is protected by a password")
    elif name.lower().endswith(".zip"):
        _take_inner(archive, member, prefix, depth, listing)
    else:
        checksum, within = f"{member.CRC:08x}:{member.file_size}", prefix + _printable(name)
        listing.files.append(Entry(within, member.file_size, checksum, lambda: archive.open(member), checksum))


def _take_inner(archive: ZipFile, member: ZipInfo, prefix: str, depth: int, listing: _Listing) -> None:
    """List a zip in a zip: parts of one export are merged."""
    if depth >= DEEPEST:
        return listing.skip(member.filename, f"is a zip more than {DEEPEST} deep")
    if member.file_size > LARGEST_INNER:
        return listing.skip(member.filename, f"is a zip of more than {LARGEST_INNER // 1_000_000:,} MB inside a zip")
    try:
        inner = io.BytesIO(archive.read(member))
    except _DAMAGE as error:
        return listing.skip(member.filename, f"is damaged ({error})")
    _list_zip(inner, prefix, depth + 1, listing)


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in shown(name))
