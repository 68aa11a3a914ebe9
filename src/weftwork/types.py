"""The values that travel through Weftwork, from what is stored to what is handed to a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeGuard

from weftwork.frozen import frozen
from weftwork.notebook import Displayed
from weftwork.provenance import Origin

FieldValue = str | int | float | bool | None | tuple[str, ...]
Signals = Mapping[str, float | None]

UNSEEN = "_unseen"
"""The field that names fields which are kept for programs, but neither searched nor shown."""
ABOUT = "_about"
"""The field with the subject of a part, such as the titles above it: searched, but not shown."""
IDS = "_ids"
"""The field with the ids that an export has for what a node's text holds: found by, but neither searched nor shown."""

EVERYONE = "*"
"""The principal that stands for every user of a workspace."""

MEMORY, PINNED = "memory", "pinned"
"""The tags of memories, and of those that stand in every context of their user."""
PAGE = "document_page"
"""The type of a node that is a page of a document; its parent is the document."""
CONTAINERS = frozenset({"folder", "workspace"})
"""Types of nodes that only hold others: never a document, and nothing to quote."""

SECTIONS = ("system", "focus", "references", "memories", "semantic", "relations", "activity", "history")
"""Sections in the order in which they are rendered: what changes least from turn to turn comes first."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Return True for a number that a float can hold: neither infinite, nor a whole number larger than any float."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def subject_of(title: str, fields: Mapping[str, FieldValue]) -> str:
    """The subject of a node's texts: its title, after what it is a part of."""
    about = fields.get(ABOUT)
    return " > ".join(filter(None, (about, title))) if isinstance(about, str) else title


def shown_fields(fields: Mapping[str, FieldValue]) -> Mapping[str, FieldValue]:
    """The fields that are shown."""
    return {name: value for name, value in seen_fields(fields).items() if name != ABOUT}


def seen_fields(fields: Mapping[str, FieldValue]) -> Mapping[str, FieldValue]:
    """The fields that are searched."""
    unseen = fields.get(UNSEEN)
    if not isinstance(unseen, (tuple, list)):
        return fields
    return {name: value for name, value in fields.items() if name != UNSEEN and name not in unseen}


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
    valid_from: datetime | None = None
    """Start of its validity; None for always."""
    valid_until: datetime | None = None
    """End of its validity, excluded; None for no end."""
    source: str = ""
    origin: Origin = "written"
    """The way by which its text came in."""
    writer: str | None = None
    """The user who wrote its text last, if a server or a command knew; None for a program with the store."""
    owner: str | None = None
    access: frozenset[str] | None = None
    """The principals that may see it (`"ana"`, `"group:team"`, `"*"`); None inherits the parent's list."""

    def valid_at(self, moment: datetime | None) -> bool:
        """Return True if it is valid at a moment; None asks for no moment in particular."""
        if moment is None:
            return True
        begun = self.valid_from is None or self.valid_from <= moment
        return begun and (self.valid_until is None or moment < self.valid_until)


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


@frozen
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


@frozen
class Record:
    """A stored passage with its node, as a viewer reads it."""

    node: NodeInfo
    passage: Passage
    trail: tuple[str, ...] = ()
    """Titles of the ancestors that the viewer may see, from the nearest upwards."""
    document: str = ""
    """Id of the document that it is a part of, as far as the viewer may see that; empty for the node itself."""
    depth: int = 0
    """The number of titles above it that belong to the document, its own included."""


@frozen
class OutlineNode:
    """A node of a document, with the keys and the token counts of its passages."""

    id: str
    type: str
    title: str
    depth: int
    """0 for the document itself."""
    keys: tuple[int, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """A document and its visible nodes in reading order, itself first; `derived` is what stages make of it alone."""

    head: NodeInfo
    trail: tuple[str, ...]
    """Titles above the document that the viewer may see, from the nearest upwards."""
    nodes: tuple[OutlineNode, ...]
    derived: dict[object, Any] = field(default_factory=dict, init=False, compare=False, repr=False)


@frozen
class Hit:
    """A passage that a search found, by its key."""

    key: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Restrictions of a search; every index applies them inside its query."""

    types: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    after: datetime | None = None
    before: datetime | None = None
    min_confidence: float | None = None
    conversation: str | None = None
    as_of: datetime | None = None
    """Restricts to what was valid at this moment; the engine fills in the present."""
    exclude: frozenset[str] = frozenset()
    exclude_types: frozenset[str] = frozenset()
    """Ids and types of nodes to leave out."""

    def admits(self, node: NodeInfo) -> bool:
        """Return True if a node passes these filters."""
        changed = node.updated_at
        return (
            node.type in (self.types or {node.type}) - self.exclude_types
            and self.tags <= set(node.tags)
            and (self.after is None or (changed is not None and changed >= self.after))
            and (self.before is None or (changed is not None and changed <= self.before))
            and (self.min_confidence is None or (node.confidence or 0.0) >= self.min_confidence)
            and self.conversation in (None, node.conversation)
            and node.id not in self.exclude
            and node.valid_at(self.as_of)
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One hop of a walk: along which edge, in which direction, to which node."""

    edge: str
    direction: Literal["out", "in"]
    node: str
    label: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Reached:
    """A node that a walk reached, by the shortest path, and the start it came from."""

    node: str
    key: int
    distance: int
    path: tuple[Step, ...]
    start: str
    hubs: tuple[str, ...] = ()
    """Nodes on the way that had more neighbours than were followed."""


@dataclass(frozen=True, slots=True)
class Reach:
    """A node reached by a topic's walk: start, distance, and the topic's weight beside the largest."""

    topic: str
    start: str
    distance: int
    weight: float = 1.0


Kind = Literal[
    "words", "fuzzy", "keywords", "vector", "look", "reference", "focus", "due", "history", "link", "link_rank",
    "contradiction", "adjacent", "similar", "activity", "other",
]  # fmt: skip
"""The kind of evidence for a passage: stages ask for this, never for a collector's name."""

SEARCHED: frozenset[Kind] = frozenset({"words", "fuzzy", "vector"})
"""Kinds of findings of a search for the query."""


@frozen
class Finding:
    """The evidence of a collector for a passage: rank, score, reason and kind."""

    collector: str
    rank: int
    score: float
    why: str = ""
    kind: Kind = "other"


@frozen
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
    reached: tuple[Reach, ...] = ()
    """The topics whose walks led here, the nearest first: `path` is the way from its start."""
    hubs: tuple[str, ...] = ()
    more: bool = False
    """True if the node's text goes on after this passage, where a collector looked."""
    note: str = ""
    """A remark beside its text, such as when it was contradicted."""
    document: str = ""
    depth: int = 0
    """Its document, and its depth in it, as in the `Record`."""
    asked: bool = False
    """True if the request or the query names its node."""
    levels: int | None = None
    """The levels below its node that may be shown for it; None for all."""

    @property
    def key(self) -> int:
        """The store's number for the passage: a candidate's identity within a request."""
        return self.passage.key

    def found_as(self, *kinds: Kind) -> float | None:
        """The best score among findings of these kinds; None if there is none."""
        if len(self.findings) == 1:  # as of most candidates
            (only,) = self.findings
            return only.score if only.kind in kinds else None
        return max([finding.score for finding in self.findings if finding.kind in kinds], default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens for a context, and each section's share: a hard cap if 0, if `capped`, or without `share`."""

    total: int
    sections: Mapping[str, int] = field(default_factory=dict)
    share: bool = True
    capped: frozenset[str] = frozenset()


Form = Literal["line", "hits", "window", "section", "whole"]
"""The extent of a document that is shown: its name, its hits, a window around them, their sections, or all of it."""

Ended = Literal["budget", "evidence", "workspace"]
Fate = Literal["included", "truncated", "line", "dropped"]


@frozen
class Decision:
    """The fate of a candidate and the reason; one for each candidate of a request."""

    citation: str
    node: str
    type: str
    title: str
    section: str
    findings: tuple[Finding, ...]
    signals: Signals
    score: float
    tokens: int
    """Its tokens in full."""
    fate: Fate
    reason: str
    missing_tokens: int | None = None
    """Tokens it lacked when its turn came, None if size was not the reason; `NearMisses` has exact figures."""
    start: str = ""
    """The start of the walk that led to it; empty for the focus, or if no walk did."""
    path: tuple[Step, ...] = ()
    """The path from there, through nodes that the viewer may see."""
    marks: tuple[str, ...] = ()
    """The marks of instructions to a model that its text has, if it is shown."""

    @classmethod
    def on(cls, candidate: Candidate, fate: Fate, reason: str, missing_tokens: int | None = None) -> Decision:
        """The decision on a candidate."""
        node, passage, reached = candidate.node, candidate.passage, candidate.reached
        return cls(
            passage.citation, node.id, node.type, node.title, candidate.section, candidate.findings, candidate.signals,
            candidate.score, passage.tokens, fate, reason, missing_tokens, reached[0].start if reached else "",
            candidate.path)  # fmt: skip


@frozen
class Item:
    """A passage as it stands in an excerpt."""

    candidate: Candidate
    text: str
    """The part of its own text that is shown."""
    truncated: bool = False
    hit: bool = True
    """False for the surroundings of a hit."""


@frozen
class Excerpt:
    """The part of one document that is shown: in reading order, under one heading."""

    document: NodeInfo
    section: str
    form: Form
    items: tuple[Item, ...]
    text: str
    """As it stands in the context, with its heading."""
    tokens: int
    score: float
    content: str = ""
    """The same without the heading and unquoted."""
    truncated: bool = False
    note: str = ""
    """A note on how it was made shorter."""
    trail: tuple[str, ...] = ()
    """Titles above the document, from the nearest upwards."""

    @property
    def citation(self) -> str:
        """The id under which the excerpt as a whole can be cited: that of its first passage with words."""
        first = next((item for item in self.items if item.text), self.items[0] if self.items else None)
        return first.candidate.passage.citation if first else ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the context with its excerpts, in the order of the text."""

    name: str
    title: str
    excerpts: tuple[Excerpt, ...]
    tokens: int
    budget: int | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        """The passages of all its excerpts."""
        return tuple(item for excerpt in self.excerpts for item in excerpt.items)


@frozen
class Citation:
    """The source of a piece of the context."""

    id: str
    node: str
    type: str
    title: str
    source: str
    start: int
    end: int
    score: float


@frozen
class Piece:
    """A stretch of a context's text: a source as it is shown, or the frame between sources."""

    name: str
    """The same in every context for the same passage or the same part of the frame."""
    text: str
    citation: str = ""
    """Empty where it shows no source."""


@dataclass(frozen=True, slots=True, repr=False)
class Context(Displayed):
    """The result of a request: the text for the model, and the account of how it was made."""

    id: str
    query: str
    workspace: str
    user: str
    text: str
    tokens: int
    budget: int
    sections: tuple[Section, ...]
    overflow: tuple[Excerpt, ...]
    """Documents that are named in one line each."""
    citations: tuple[Citation, ...]
    trace: tuple[Decision, ...]
    warnings: tuple[str, ...] = ()
    ended: Ended = "budget"
    """The reason why it ends: the budget is used up, nothing else was found, or all that is visible is there."""
    pieces: tuple[Piece, ...] = ()
    """The pieces of the text, without gaps."""
    support: float | None = None
    """How well the best evidence answers the query, in [0, 1]; None where not only its words decide."""
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Milliseconds by stage; not part of the result's identity."""

    @property
    def truncated(self) -> bool:
        """True if something was cut or left out for lack of room."""
        return any(each.truncated for each in self.excerpts) or any(
            each.missing_tokens is not None for each in self.trace
        )

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        """All excerpts, in the order of the text."""
        return tuple(excerpt for section in self.sections for excerpt in section.excerpts)

    @property
    def items(self) -> tuple[Item, ...]:
        """All passages that are shown, in the order of the text."""
        return tuple(item for excerpt in self.excerpts for item in excerpt.items)
