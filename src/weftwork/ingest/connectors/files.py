"""Any file, and folders of all sorts: documents, notes, tables, source code and plain text, each read as what it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weftwork.ingest.connectors.code import code_source, is_code
from weftwork.ingest.connectors.folders import Found, walk
from weftwork.ingest.connectors.notes import is_note, note_source
from weftwork.ingest.connectors.plain import plain_source
from weftwork.ingest.connectors.protocol import Source, Unread
from weftwork.ingest.connectors.tables import SUFFIXES, table_sources
from weftwork.ingest.events import Skipped


class Files:
    """What no other connector knows better."""

    name = "files"
    summary = "Any files and folders: documents, text, source code, tables"
    version = 2

    def recognises(self, path: Path) -> float:
        """Anything, but less surely than any other."""
        return 0.1

    def sources(self, path: Path) -> Iterator[Source | Unread | Skipped]:
        """Each file by its kind."""
        for found in walk(path):
            if isinstance(found, Found):
                yield from file_sources(found)
            else:
                yield found


def file_sources(found: Found) -> Iterator[Source | Unread | Skipped]:
    """A file by its kind: a note, source code, a table, a document, or text."""
    if is_note(found):
        yield note_source(found, title_from_heading=True)
    elif is_code(found.path):
        yield code_source(found)
    elif found.path.suffix.lower() in SUFFIXES:
        yield from table_sources(found)
    else:
        yield plain_source(found)
