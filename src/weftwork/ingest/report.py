"""Options and report of an import."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.events import Note, Skipped
from weftwork.ingest.links import Unresolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of an import."""

    workspace: str = DEFAULT_WORKSPACE
    user: str = DEFAULT_USER
    mentions: bool = True
    """Make edges of titles that occur in other texts."""
    access: frozenset[str] | None = None
    """The access list of what is added at the top; None leaves that as it is."""
    origin: Callable[[str], str] = str
    """Gives the address that citations name for a path: of a live source, the files here are copies."""
    again: bool = False
    """Read every source anew, changed or not."""
    dry_run: bool = False
    """Say what would happen, and change nothing."""
    pictures: Literal["now", "later"] = "now"
    """When scans and pictures are read by OCR: always after all texts, or the next time."""
    progress: Callable[[int], None] = lambda _: None
    """Receives the number of sources read."""
    expected: Callable[[int], None] = lambda _: None
    """Receives the number of sources to read."""
    parser: Parser | None = None
    """The parser of documents, if several paths share it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one source."""

    what: str
    became: Literal["added", "changed", "moved", "removed", "unchanged", "skipped"]
    why: str = ""


@dataclass(slots=True)
class Followed:
    """The counts of an import, in sources: files, folders, pages or threads."""

    connector: str = ""
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    nodes: int = 0
    """Nodes that were written."""
    links: int = 0
    """Links that point somewhere."""
    mentions: int = 0
    unresolved: list[Unresolved] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    """What became of each source, in the order in which they were found; those that are gone come last."""
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
