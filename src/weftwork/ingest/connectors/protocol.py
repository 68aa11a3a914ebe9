"""The connector protocol, and the values that connectors yield. A connector never sees the store.

A connector lists the sources of a path; a source is one unit of change: a file, or a page, thread or conversation
inside an export. The import (`weftwork.ingest.follow`) lists all sources each time, reads those that changed, and makes
the store agree with them: new ones are added, changed ones replace what they yielded before, those that are gone are
removed, and one that has another key but the same content was renamed and keeps its ids.

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
    """A name for a node of this source, by which links may refer to it, ignoring case.

    Of several nodes with one name, a path comes before a title, a title before an alias, the linking page's own folder
    before others, and a shorter key before a longer. Titles and aliases are also looked for as mentions in other texts.
    """

    node: str
    name: str
    kind: NameKind = "title"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place inside this source that a link's anchor may name: a heading, or `^block`."""

    node: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A reference by name. A dangling one is kept, and resolves when its target appears."""

    source: str
    """The id of the node, yielded by the same source, that the link stands in."""
    names: tuple[str, ...]
    """Candidate names of the target, see `Named`; the first that some node has wins."""
    anchor: str = ""
    """A place inside the target's source; the target itself is meant where there is no such place."""
    type: str = "reference"
    label: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file for the documents reader: PDF, DOCX, PPTX, XLSX, HTML, EPUB or a picture."""

    path: Path
    title: str
    where: str
    """The source that its citations name."""
    parent: str | None = None
    """The id that the source above proposes."""
    position: int = 0


Yielded = Node | Edge | Link | Named | Anchor | Document | Bundle | Skipped | Note
"""The values that a source yields.

An `Edge` has both ends in the same source. A source that is a document yields one `Document` (or one `Bundle` whose
root is the id that `read` was given) and nothing else but names, notes and what it skipped.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A unit of change. The first source of a path is its top, which all others hang below."""

    key: str
    """Stable within the path: a path from the top on, with `/`, or an id that the export has; folders end in `/`."""
    id: str
    """The id of its top node, unless it was renamed since it was first seen."""
    what: str
    """Its display name in reports."""
    fingerprint: Callable[[], str]
    """A hash of its content, called before and after `read` to detect a change meanwhile."""
    read: Callable[[str], Iterator[Yielded]]
    """Yield its pieces, given the id of its top node.

    Raises `Refused` if it holds nothing that can be added (what is stored of it goes), and OSError if it cannot be
    opened now (what is stored of it stays).
    """
    stamp: str = ""
    """Something cheaper than the fingerprint that changes whenever it does; empty if there is none."""
    movable: bool = True
    """Equal content under another key means that it was renamed."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A path that cannot be opened now: it is reported, and what is stored of it, or below it, stays."""

    key: str
    what: str
    why: str


Listed = Source | Unread | Skipped
"""The values that a connector lists for a path."""


class Connector(Protocol):
    """A reader of one kind of notes, documents or chats."""

    name: str
    summary: str
    """One line for the list of connectors."""
    version: int
    """Incremented when it reads the same content differently: then all sources are read again."""

    def recognises(self, path: Path) -> float:
        """Return the confidence, 0 to 1, that a path is its kind. It must not read much for that."""

    def sources(self, path: Path) -> Iterator[Listed]:
        """Yield all sources of the path: the top first, parents before children, in a stable order."""
