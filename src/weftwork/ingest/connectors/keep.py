"""Google Keep: the notes of a Takeout, with labels, checklists and links."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exported_notes import ExportedNote, first_line, note_pieces
from weftwork.ingest.connectors.exports import Entry, Export, entry_sources, export_sources, export_top, open_export
from weftwork.ingest.connectors.protocol import Listed, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue

MARK = "userEditedTimestampUsec"
"""A member that each note has."""
PROBES = 3
"""JSON files that are opened to recognise an export."""
LARGEST = 1_000_000
"""Bytes of a note."""


class Keep:
    """A Takeout of Keep: its zip, its folder, or one of its notes."""

    name = "keep"
    summary = "Google Keep: a Takeout's zip or folder"
    version = 2

    def recognises(self, path: Path) -> float:
        """A path whose first JSON files are notes."""
        suffixes = (".json", ".zip")
        if path.is_file() and path.suffix.lower() not in suffixes:
            return 0.0
        try:
            files = _folder_notes(path) if path.is_dir() else _notes(open_export(path))
            return 0.9 if files and all(_is_note(entry) for entry in files[:PROBES]) else 0.0
        except (Refused, OSError):
            return 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each note that is not in the trash."""
        top = export_top(path, self.name, "Keep")
        return export_sources(path, top, partial(_sources, path, top.id))


def _notes(export: Export) -> list[Entry]:
    """The JSON files below a folder Keep, or else all; `Labels.txt` and HTML copies of notes are no notes."""
    files = [entry for entry in export.json_files if entry.size <= LARGEST]
    return [entry for entry in files if "/Keep/" in f"/{entry.name}"] or files


def _folder_notes(path: Path) -> list[Entry]:
    """The first JSON files of a folder, or of `Keep` in it: recognising must not walk a whole vault."""
    for folder in (path, path / "Keep", path / "Takeout" / "Keep"):
        if files := sorted(islice(folder.glob("*.json"), PROBES)):
            return [entry for file in files for entry in open_export(file).files if entry.size <= LARGEST]
    return []


def _is_note(entry: Entry) -> bool:
    try:
        return _is_value(json.loads(entry.read()))
    except (ValueError, RecursionError, Refused):
        return False


def _is_value(value: Any) -> bool:
    return isinstance(value, dict) and MARK in value and "isTrashed" in value


def _sources(path: Path, top: str, export: Export) -> Iterator[Listed]:
    trashed: list[str] = []
    taken: set[str] = set()
    yield from entry_sources(path, _notes(export), partial(_note, top, taken, trashed))
    if trashed:
        yield Skipped(shown(str(path)), f"{len(trashed)} notes are in the trash")


def _note(top: str, taken: set[str], trashed: list[str], entry: Entry) -> Iterator[Listed]:
    value = _value(entry)
    if value.get("isTrashed") is True:
        trashed.append(entry.name)
        return
    created = value.get("createdTimestampUsec")
    name = str(created) if isinstance(created, int) and str(created) not in taken else entry.stem
    taken.add(name)
    yield Source(
        key=f"notes/{name}", id=identity("keep", f"{top.partition(':')[2]}/{name}"), what=entry.name, movable=False,
        fingerprint=entry.fingerprint, stamp=entry.stamp, read=partial(_read, entry, top),
    )  # fmt: skip


def _value(entry: Entry) -> Mapping[str, Any]:
    try:
        value = json.loads(entry.text())
    except (ValueError, RecursionError) as error:
        raise Refused(f"is no JSON ({error})") from error
    if not _is_value(value):
        raise Refused(f"is no note of Keep: it has no {MARK!r}")
    note: Mapping[str, Any] = value
    return note


def _read(entry: Entry, top: str, source_id: str) -> Iterator[Yielded]:
    value = _value(entry)
    lines = [*_strings(value, "textContent"), *_checklist(value), *_web_links(value)]
    text = "\n".join(lines)
    title = " ".join(" ".join(_strings(value, "title")).split()) or first_line(text) or entry.stem
    fields: dict[str, FieldValue] = {
        name: True for name, mark in (("pinned", "isPinned"), ("archived", "isArchived")) if value.get(mark) is True
    }
    if files := tuple(name for file in _objects(value, "attachments") for name in _strings(file, "filePath")):
        fields["attachments"] = files
    yield from note_pieces(
        ExportedNote(
            id=source_id, title=title, text=text, parent=top, source=f"keep:{entry.name.rpartition('/')[2]}",
            tags=[name for label in _objects(value, "labels") for name in _strings(label, "name")], fields=fields,
            created_at=_at(value.get("createdTimestampUsec")), updated_at=_at(value.get(MARK)),
        )
    )  # fmt: skip


def _checklist(value: Mapping[str, Any]) -> Iterator[str]:
    for item in _objects(value, "listContent"):
        for text in _strings(item, "text"):
            yield f"- [{'x' if item.get('isChecked') is True else ' '}] {' '.join(text.split())}"


def _web_links(value: Mapping[str, Any]) -> Iterator[str]:
    for link in _objects(value, "annotations"):
        title, url = "".join(_strings(link, "title")), "".join(_strings(link, "url"))
        if url:
            yield f"\n[{title or url}]({url})"


def _objects(value: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = value.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _strings(value: Mapping[str, Any], name: str) -> list[str]:
    text = value.get(name)
    return [text] if isinstance(text, str) and text.strip() else []


def _at(microseconds: Any) -> datetime | None:
    return moment(microseconds // 1000) if isinstance(microseconds, int) and microseconds > 0 else None
