"""Bear backups and TextBundles: a folder or zip for each note, with its text and `info.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from weftwork.ingest.connectors import inline
from weftwork.ingest.connectors.dates import moment
from weftwork.ingest.connectors.exported_notes import ExportedNote, first_line, links_by_title, note_pieces
from weftwork.ingest.connectors.exports import (
    Entry,
    Export,
    export_sources,
    export_top,
    fingerprints,
    names_in,
    stamps,
)  # fmt: skip
from weftwork.ingest.connectors.protocol import Link, Listed, Named, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue

APP = "net.shinyfrog.bear"
_TEXT = re.compile(r"(?:^|/)text\.(?:md|markdown|txt)$", re.IGNORECASE)
_SPACED_TAG = re.compile(r"(?<!\S)#([^\s#][^#\n]*[^\s#])#(?!\w)")
_NOTE_LINK = re.compile(r"bear://x-callback-url/open-note\?[^)\s]*?\bid=([\w-]+)")


class Bear:
    """A backup (`.bear2bk`), a TextBundle, a TextPack, or a folder or zip of them."""

    name = "bear"
    summary = "Bear backups (.bear2bk), TextBundle and TextPack"
    version = 2

    def recognises(self, path: Path) -> float:
        """A path whose texts each stand in a bundle with an `info.json`."""
        kinds = (".bear2bk", ".bearbk", ".textbundle", ".textpack", ".zip")
        if path.is_file() and path.suffix.lower() not in kinds:
            return 0.0
        names = {name.rstrip("/") for name in names_in(path)}
        texts = [name for name in names if _TEXT.search(name)]
        whole = [name for name in texts if _beside(name, "info.json") in names]
        return 0.95 if whole and len(whole) == len(texts) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each note that is not in the trash."""
        top = export_top(path, self.name, shown(path.resolve().stem))
        return export_sources(path, top, partial(_sources, path, top.id))


def _beside(name: str, other: str) -> str:
    return str(PurePosixPath(name).with_name(other))


@dataclass(frozen=True, slots=True)
class _Bundle:
    name: str
    text: Entry
    info: Entry | None
    about: Mapping[str, Any]


def _sources(path: Path, top: str, export: Export) -> Iterator[Listed]:
    taken: set[str] = set()
    trashed = 0
    for entry in export.files:
        if not _TEXT.search(entry.name):
            continue
        info = export.named(_beside(entry.name, "info.json"))
        name = PurePosixPath(entry.name).parent.name.removesuffix(".textbundle") or shown(path.stem)
        try:
            bundle = _Bundle(name, entry, info, _about(info))
        except Refused as refused:
            yield Skipped(f"{shown(str(path))}: {name}", str(refused))
            continue
        if bundle.about.get("trashed"):
            trashed += 1
        elif bundle.about.get("encrypted") or bundle.about.get("encryptedData"):
            yield Skipped(f"{shown(str(path))}: {name}", "is encrypted: open it in Bear before the backup is made")
        else:
            yield _source(bundle, top, taken)
    if trashed:
        yield Skipped(shown(str(path)), f"{trashed} notes are in the trash")


def _about(info: Entry | None) -> Mapping[str, Any]:
    try:
        value = json.loads(info.read()) if info is not None else {}
    except (ValueError, RecursionError) as error:
        raise Refused(f"its info.json is no JSON ({error})") from error
    own = value.get(APP) if isinstance(value, dict) else None
    return own if isinstance(own, dict) else {}


def _source(bundle: _Bundle, top: str, taken: set[str]) -> Source:
    unique = bundle.about.get("uniqueIdentifier")
    name = unique if isinstance(unique, str) and unique.isprintable() and unique not in taken else bundle.name
    while name in taken:
        name += "+"
    taken.add(name)
    files = [entry for entry in (bundle.text, bundle.info) if entry is not None]
    return Source(
        key=f"notes/{name}", id=identity("bear", f"{top.partition(':')[2]}/{name}"), what=bundle.name, movable=False,
        stamp=stamps(files, bundle.name), fingerprint=partial(fingerprints, files, bundle.name),
        read=partial(_read, bundle, top),
    )  # fmt: skip


def _read(bundle: _Bundle, top: str, source_id: str) -> Iterator[Yielded]:
    text, about = bundle.text.text(), bundle.about
    if not text.strip():
        raise Refused("has no text")
    title = first_line(text) if text.lstrip().startswith("# ") else bundle.name
    fields: dict[str, FieldValue] = {name: True for name in ("pinned", "archived") if about.get(name)}
    yield from note_pieces(
        ExportedNote(
            id=source_id, title=title, text=text, parent=top, source=f"bear:{bundle.name}", fields=fields,
            created_at=moment(about.get("creationDate")), updated_at=moment(about.get("modificationDate")),
            links=_links, tags_in=_tags,
        )
    )  # fmt: skip
    if isinstance(unique := about.get("uniqueIdentifier"), str):
        yield Named(source_id, unique, "id")


def _links(node: str, text: str) -> Iterator[Link]:
    for link in links_by_title(node, text):
        note, _, heading = link.names[0].partition("/")
        yield replace(link, names=(*link.names, note), anchor=heading) if heading else link
    yield from (Link(source=node, names=(match[1],)) for match in _NOTE_LINK.finditer(text))


def _tags(text: str) -> list[str]:
    """Tags, also those with spaces, which end in another `#`."""
    spaced = [match[1] for match in _SPACED_TAG.finditer(text)]
    return list(dict.fromkeys([*spaced, *inline.tags(_SPACED_TAG.sub(" ", text))]))
