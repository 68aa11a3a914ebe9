"""The connector of last resort: any file or folder, each file read by its kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weftwork.ingest.connectors.canvas import canvas_source, is_canvas
from weftwork.ingest.connectors.code import code_source, is_code
from weftwork.ingest.connectors.folders import FoundFile, walk_files
from weftwork.ingest.connectors.nested import claimant, nested_sources, place_of_file, place_of_folder
from weftwork.ingest.connectors.notes import is_note, note_source
from weftwork.ingest.connectors.plain import plain_source
from weftwork.ingest.connectors.protocol import Listed
from weftwork.ingest.connectors.tables import SUFFIXES, table_sources
from weftwork.ingest.documents.formats import is_document


class Files:
    """Connector for any path that no other one recognises."""

    name = "files"
    summary = "Any files and folders: documents, text, source code, tables"
    version = 8

    def recognises(self, path: Path) -> float:
        """Return the lowest confidence for any path."""
        return 0.1

    def sources(self, path: Path) -> Iterator[Listed]:
        """The sources of all files, by kind; a folder that is an export is read by its connector."""
        return walk_files(path, file_sources, folder_sources)


def folder_sources(path: Path, key: str, name: str, parent: str) -> Iterator[Listed] | None:
    """The sources of a folder that another connector is confident of; None for any other."""
    connector = claimant(path)
    return nested_sources(connector, place_of_folder(path, key, name, parent)) if connector else None


def file_sources(file: FoundFile) -> Iterator[Listed]:
    """The sources of a file by its kind: a note, code, a table, a document, what a connector knows, or text."""
    if is_note(file):
        yield note_source(file, title_from_heading=True)
    elif is_canvas(file):
        yield canvas_source(file)
    elif is_code(file.path):
        yield code_source(file)
    elif file.path.suffix.lower() in SUFFIXES:
        yield from table_sources(file)
    elif file.parent is not None and not is_document(file.path) and (connector := claimant(file.path)):
        yield from nested_sources(connector, place_of_file(file))
    else:
        yield plain_source(file)
