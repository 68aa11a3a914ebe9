"""What a connector is, and what it yields. A connector never sees the store.

A connector tells which sources a path holds; a source is one unit of change: a file, or a page, thread or conversation
inside an export. What follows a path (`weftwork.ingest.follow`) asks for all sources each time, reads those that
changed, and makes the store agree with them: new ones are added, changed ones replace what they yielded before, those
that are gone are removed, and one that has another key but the same content was renamed and keeps its ids.

How ids work: a source proposes an `id` for its top node, and `read` is called with the id that it really has (after a
rename it is still the old one). The ids of all other nodes of the source begin with that id and `#`. Give them names
that do not depend on what stands elsewhere in the source: an id that the format has, or a name that `BlockNames` makes
of the content. A top node's `parent` is the id that the source above *proposed*; parents come before their children.
Nodes of other sources are reached by `Link`, never by guessing their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from weftwork.ingest.events import Bundle, Note, Skipped
from weftwork.types import Edge, Node

NameKind = Literal["path", "title", "alias", "id"]


@dataclass(frozen=True, slots=True)
class Named:
    """A name by which links may call a node of this source; case does not matter.

    Of several nodes with one name, a path comes before a title, a title before an alias, the linking page's own folder
    before others, and a shorter key before a longer. Titles and aliases are also looked for as mentions in other texts.
    """

    node: str
    name: str
    kind: NameKind = "title"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place inside this source that a link with an anchor means: a heading, or `^block`."""

    node: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A reference by name. It is kept if it points nowhere, and resolves when its target appears."""

    source: str
    """The id of the node, yielded by the same source, that the link stands in."""
    names: tuple[str, ...]
    """What the target may be called, as `Named` says; the first that some node has is meant."""
    anchor: str = ""
    """A place inside the target's source; the target itself is meant where there is no such place."""
    type: str = "reference"
    label: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file on disk for the documents reader to take apart: PDF, DOCX, PPTX, XLSX, HTML, EPUB or a picture."""

    path: Path
    title: str
    where: str
    """The source that its citations name."""
    parent: str | None = None
    """The id that the source above proposes."""
    position: int = 0


Yielded = Node | Edge | Link | Named | Anchor | Document | Bundle | Skipped | Note
"""What a source yields when it is read.

An `Edge` has both ends in the same source. A source that is a document yields one `Document` (or one `Bundle` whose
root is the id that `read` was given) and nothing else but names, notes and what it skipped.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One unit of change. The first source of a path is its top, which all others hang below."""

    key: str
    """Stable within the path: a path from the top on, with `/`, or an id that the export has; folders end in `/`."""
    id: str
    """The id of its top node, unless it was renamed since it was first seen."""
    what: str
    """How it is called in a report."""
    fingerprint: Callable[[], str]
    """A hash of its content: called before `read`, and again after it, to find out whether it changed meanwhile."""
    read: Callable[[str], Iterator[Yielded]]
    """What it holds, given the id of its top node.

    Raises `Refused` if it holds nothing that can be added (what is stored of it goes), and OSError if it cannot be
    opened now (what is stored of it stays).
    """
    stamp: str = ""
    """Something cheaper than the fingerprint that changes whenever it does; empty if there is nothing of the kind."""
    movable: bool = True
    """Whether equal content under another key means that it was renamed."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Something that cannot be opened now: it is reported, and what is stored of it, or below it, stays."""

    key: str
    what: str
    why: str


class Connector(Protocol):
    """One kind of notes, documents or chats."""

    name: str
    summary: str
    """What it reads, in a line of a list."""
    version: int
    """Raised when it reads the same content differently: then all sources are read again."""

    def recognises(self, path: Path) -> float:
        """How sure it is that a path is its own: 0 for not at all, 1 for certain. It must not read much to say so."""

    def sources(self, path: Path) -> Iterator[Source | Unread | Skipped]:
        """All sources that the path holds now, the top first, parents before children, in an order that stays."""
