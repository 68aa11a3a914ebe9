"""Connectors for Obsidian vaults and other folders of Markdown notes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from weftwork.ingest.connectors.files import file_sources
from weftwork.ingest.connectors.folders import FoundFile, walk_files
from weftwork.ingest.connectors.notes import SUFFIXES, is_note, note_source
from weftwork.ingest.connectors.protocol import Listed
from weftwork.ingest.files import HIDDEN

SEEN = 500
"""Entries of a folder that are looked at to recognise it."""
OPENED = 20
"""Notes that are opened for that."""


class Obsidian:
    """A vault: notes are titled by their file names."""

    name = "obsidian"
    summary = "Obsidian vaults: notes with links, tags, tasks and attachments"
    version = 8

    def recognises(self, path: Path) -> float:
        """A folder with `.obsidian`, or mostly notes of which a third link by name."""
        if not path.is_dir():
            return 0.0
        if (path / ".obsidian").is_dir():
            return 1.0
        share, notes = _notes(path)
        opened = notes[:OPENED]
        linking = sum(1 for note in opened if _links_by_name(note))
        return 0.7 if opened and share > 0.5 and linking * 3 >= len(opened) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """Notes as pages, attachments as documents or files."""
        return walk_files(path, partial(_sources, title_from_heading=False))


class Markdown:
    """A folder of notes that are titled by their first heading."""

    name = "markdown"
    summary = "Markdown files and folders of them"
    version = 8

    def recognises(self, path: Path) -> float:
        """A Markdown file, or a folder of which more than half is Markdown."""
        if not path.is_dir():
            return 0.8 if path.name.lower().endswith(SUFFIXES) else 0.0
        share, _ = _notes(path)
        return 0.6 if share > 0.5 else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """Notes as pages, other files as documents or text."""
        return walk_files(path, partial(_sources, title_from_heading=True))


def _sources(file: FoundFile, *, title_from_heading: bool) -> Iterable[Listed]:
    return [note_source(file, title_from_heading=title_from_heading)] if is_note(file) else file_sources(file)


def _notes(folder: Path) -> tuple[float, list[Path]]:
    """The share of Markdown among the first files of a folder, and those notes."""
    seen = list(islice(_files(folder), SEEN))
    notes = [path for path in seen if path.name.lower().endswith(SUFFIXES)]
    return (len(notes) / len(seen) if seen else 0.0), notes


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in HIDDEN)
        paths = (Path(place, name) for name in sorted(files) if not name.startswith("."))
        yield from (path for path in paths if path.is_file())  # to open a pipe would be to wait for ever


def _links_by_name(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"[[" in file.read(20_000)
    except OSError:
        return False
