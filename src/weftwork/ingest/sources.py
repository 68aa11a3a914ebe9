"""Recognising what a path holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weftwork.errors import NotFound
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.events import Piece
from weftwork.ingest.files import read_files
from weftwork.ingest.jsonlines import read_json_lines


def open_source(path: Path, parser: Parser | None = None) -> Iterator[Piece]:
    """What a path holds, read as it is consumed; several sources may share what parses their documents."""
    if not path.exists():
        raise NotFound(f"{path} does not exist: give a file or a folder")
    if path.suffix in (".jsonl", ".ndjson") and path.is_file():
        return read_json_lines(path)
    return read_files(path, parser)
