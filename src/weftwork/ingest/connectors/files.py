"""The connector of last resort: any file or folder, each file read by its kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weftwork.ingest.connectors.code import code_source, is_code
from weftwork.ingest.connectors.folders import FoundFile, walk_files
from weftwork.ingest.connectors.notes import is_note, note_source
from weftwork.ingest.connectors.plain import plain_source
from weftwork.ingest.connectors.protocol import Listed
from weftwork.ingest.connectors.tables import SUFFIXES, table_sources


class Files:
    """Connector for any path that no other one recognises."""

    name = "files"
    summary = "Any files and folders: documents, text, source code, tables"
    version = 3

    def recognises(self, path: Path) -> float:
        """Return the lowest confidence for any path."""
        return 0.1

    def sources(self, path: Path) -> Iterator[Listed]:
        """The sources of all files, by kind."""
        return walk_files(path, file_sources)


def file_sources(file: FoundFile) -> Iterator[Listed]:
    """The sources of a file by its kind: a note, source code, a table, a document, or text."""
    if is_note(file):
        yield note_source(file, title_from_heading=True)
    elif is_code(file.path):
        yield code_source(file)
    elif file.path.suffix.lower() in SUFFIXES:
        yield from table_sources(file)
    else:
        yield plain_source(file)
