"""The values that travel through Weft, from what is stored to what is handed to a model.

A node is anything in a workspace; a passage is the part of a node's text that is searched and cited;
a candidate is a passage that a collector found; a context is what came of it, with a decision for
every candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

FieldValue = str | int | float | bool | None | tuple[str, ...]
Signals = Mapping[str, float | None]

EVERYONE = "*"
"""The principal that stands for every user of a workspace."""

SECTIONS = ("system", "focus", "references", "semantic", "relations", "activity", "history")
"""Sections in the order in which they are rendered: what changes least from turn to turn comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInfo:
    """A node without its text: all that a search result needs to know about its origin."""

    id: str
    type: str = "note"
    title: str = ""
    parent: str | None = None
    position: int = 0
    tags: tuple[str, ...] = ()
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    confidence: float | None = None
    conversation: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    source: str = ""
    owner: str | None = None
    access: frozenset[str] | None = None
    """Who may see it (`"ana"`, `"group:team"`, `"*"`); None inherits the parent's list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(NodeInfo):
    """A block, page, row, document page, memory, file, message or thread."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A typed link between two nodes."""

    source: str
    target: str
    type: str = "reference"
    label: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of a node's text; passages of a node tile its text without gaps."""

    ordinal: int
    start: int
    end: int
    text: str
    tokens: int
    digest: str
    """Hash of the text that is embedded: the key under which its vector is kept."""
    citation: str
    """Stable id, the same in every context as long as the text is the same."""
    key: int = 0
    """The store's own number for it; 0 before it is stored."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A node with the passages that it was split into, ready to be written."""

    node: Node
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A stored passage with its node, as a viewer reads it."""

    node: NodeInfo
    passage: Passage
    trail: tuple[str, ...] = ()
    """Titles of the ancestors that the viewer may see, from the nearest upwards."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search found, by its key."""

    key: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a search is restricted to; every index applies it inside its query."""

    types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    after: datetime | None = None
    before: datetime | None = None
    min_confidence: float | None = None
    conversation: str | None = None
    exclude: frozenset[str] = frozenset()
    """Ids of nodes to leave out."""


@dataclass(frozen=True, slots=True)
class Step:
    """One hop of a walk: along which edge, in which direction, to which node."""

    edge: str
    direction: Literal["out", "in"]
    node: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Reached:
    """A node that a walk reached, by the shortest path, and the start it came from."""

    node: str
    key: int
    distance: int
    path: tuple[Step, ...]
    start: str
    sampled: bool = False
    """True when a hub on the way had more neighbours than were followed."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a user did to a node."""

    node: str
    key: int
    kind: Literal["view", "edit"]
    at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """A node that was written or removed after a version."""

    node: str
    version: int
    deleted: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a node served, and what its readers said, each reader counted once."""

    used: int = 0
    useful: int = 0
    useless: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """That a collector found a passage, at which rank, how sure it was, and why."""

    collector: str
    rank: int
    score: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may enter the context."""

    node: NodeInfo
    passage: Passage
    section: str
    findings: tuple[Finding, ...]
    trail: tuple[str, ...] = ()
    distance: int | None = None
    path: tuple[Step, ...] = ()
    signals: Signals = field(default_factory=dict)
    score: float = 0.0

    @property
    def key(self) -> int:
        """The store's number for the passage: a candidate's identity within a request."""
        return self.passage.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many tokens there are, and which part of them each section may count on.

    A section's share that it does not use is there for the others, unless `share` is False: then
    it is a hard cap. A share of 0 closes the section.
    """

    total: int
    sections: Mapping[str, int] = field(default_factory=dict)
    share: bool = True


Form = Literal["full", "truncated", "summary", "line"]


@dataclass(frozen=True, slots=True)
class Rendering:
    """One way to show a candidate, with its exact cost and the share of its worth that it keeps."""

    form: Form
    text: str
    tokens: int
    worth: float = 1.0
    note: str = ""


Fate = Literal["included", "truncated", "summarised", "line", "dropped"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a candidate, and why: one for each candidate of a request."""

    citation: str
    node: str
    type: str
    title: str
    section: str
    findings: tuple[Finding, ...]
    signals: Signals
    score: float
    tokens: int
    """What it costs in full."""
    fate: Fate
    reason: str
    missing_tokens: int | None = None
    """How many tokens it lacked when its turn came; None if size was not the reason."""


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate as it stands in the context."""

    candidate: Candidate
    rendering: Rendering


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the context with its items, in the order of the text."""

    name: str
    title: str
    items: tuple[Item, ...]
    tokens: int
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a piece of the context comes from."""

    id: str
    node: str
    type: str
    title: str
    source: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Context:
    """What a request came to: the text for the model and the account of how it was made."""

    id: str
    query: str
    workspace: str
    user: str
    text: str
    tokens: int
    budget: int
    sections: tuple[Section, ...]
    overflow: tuple[Item, ...]
    citations: tuple[Citation, ...]
    trace: tuple[Decision, ...]
    stable_prefix_tokens: int = 0
    """How many tokens at the start stay the same as long as the same sources are chosen."""
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Milliseconds by stage; not part of the result's identity."""

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, in the order of the text."""
        return tuple(item for section in self.sections for item in section.items)
