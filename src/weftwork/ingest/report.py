"""How a path is to be followed, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.events import Note, Skipped
from weftwork.ingest.links import Unresolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a path is followed."""

    workspace: str = DEFAULT_WORKSPACE
    user: str = DEFAULT_USER
    mentions: bool = True
    """Whether titles that occur in other texts become edges."""
    dry_run: bool = False
    """Say what would happen, and change nothing."""
    progress: Callable[[int], None] = lambda _: None
    """Is told how many sources were read."""
    expected: Callable[[int], None] = lambda _: None
    """Is told how many will be."""
    parser: Parser | None = None
    """What parses documents, if several paths share it."""


@dataclass(slots=True)
class Followed:
    """What following a path came to, in sources: files, folders, pages or threads."""

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
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
