"""Apple Notes: the texts of a copy of iCloud's data, a folder for each note."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from weftwork.ingest.connectors.exported_notes import ExportedNote, note_pieces
from weftwork.ingest.connectors.exports import Entry, Export, export_sources, export_top, names_in
from weftwork.ingest.connectors.protocol import Listed, Source, Yielded
from weftwork.ingest.encodings import decoded
from weftwork.ingest.events import Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue

DELETED = "Recently Deleted"


class AppleNotes:
    """The folder or zip "iCloud Notes" that privacy.apple.com gives."""

    name = "apple-notes"
    summary = "Apple Notes: iCloud Notes of privacy.apple.com, its zip or folder"
    version = 2

    def recognises(self, path: Path) -> float:
        """A path in which texts stand in folders that are called like them."""
        if path.is_file() and path.suffix.lower() != ".zip":
            return 0.0
        texts = [name for name in names_in(path) if name.lower().endswith(".txt")]
        called = [name for name in texts if _is_note(name)]
        return 0.85 if called and len(called) * 2 > len(texts) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each note that was not deleted."""
        top = export_top(path, self.name, "Apple Notes")
        return export_sources(path, top, partial(_sources, path, top.id))


def _is_note(name: str) -> bool:
    """Return True for a text that is called like its folder."""
    path = PurePosixPath(name)
    return path.suffix.lower() == ".txt" and path.stem.strip() == path.parent.name.strip() != ""


def _sources(path: Path, top: str, export: Export) -> Iterator[Listed]:
    files: dict[str, list[str]] = {}
    for entry in export.files:
        folder, _, name = entry.name.rpartition("/")
        files.setdefault(folder, []).append(name)
    deleted = 0
    for entry in export.files:
        if not _is_note(entry.name):
            continue
        if DELETED in PurePosixPath(entry.name).parts:
            deleted += 1
            continue
        folder = entry.name.rpartition("/")[0]
        beside = tuple(name for name in files[folder] if name != PurePosixPath(entry.name).name)
        yield Source(
            key=f"notes/{folder}", id=identity("apple-notes", f"{top.partition(':')[2]}/{folder}"), what=entry.stem,
            movable=False, stamp=entry.stamp, fingerprint=entry.fingerprint, read=partial(_read, entry, beside, top),
        )  # fmt: skip
    if deleted:
        yield Skipped(shown(str(path)), f"{deleted} notes are in the trash")


def _read(entry: Entry, beside: tuple[str, ...], top: str, source_id: str) -> Iterator[Yielded]:
    title = entry.stem.strip()
    first, _, rest = decoded(entry.read()).lstrip().partition("\n")
    text = rest if first.strip() == title else f"{first}\n{rest}"
    fields: dict[str, FieldValue] = {"attachments": beside} if beside else {}
    yield from note_pieces(
        ExportedNote(
            id=source_id, title=title, text=text.strip(), parent=top, source=f"apple-notes:{title}", fields=fields
        )
    )
