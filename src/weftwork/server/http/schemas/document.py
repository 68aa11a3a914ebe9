"""The parts of a context and of a delta in the form `document`, as `render/jsonform.py` writes them."""

from __future__ import annotations

from weftwork.provenance import Origin, Trust
from weftwork.server.http.schemas.values import FieldValues, Reply
from weftwork.types import Citation, Decision, Form


class ItemOut(Reply):
    """A passage of an excerpt."""

    node: str
    type: str
    title: str
    path: list[str]
    """Titles above it, from the top."""
    tags: list[str]
    fields: FieldValues
    source: str
    origin: Origin
    writer: str | None
    trust: Trust
    """By origin and writer, for whoever asked."""
    confidence: float | None
    valid_from: str | None
    valid_until: str | None
    created_at: str | None
    updated_at: str | None
    distance: int | None
    """Links from where a walk began; null if no walk led here."""
    citation: str
    score: float
    hit: bool
    """False for the surroundings of a hit."""
    truncated: bool
    tokens: int
    content: str


class ExcerptOut(Reply):
    """The part of one document that is shown."""

    document: str
    type: str
    title: str
    path: list[str]
    source: str
    citation: str
    form: Form
    truncated: bool
    note: str
    """A note on how it was made shorter."""
    score: float
    tokens: int
    content: str
    items: list[ItemOut]


class SectionOut(Reply):
    """A part of the context with its excerpts, in the order of the text."""

    name: str
    title: str
    tokens: int
    budget: int | None
    excerpts: list[ExcerptOut]


class ContextOut(Reply):
    """A context: the text for the model, and the account of how it was made."""

    id: str
    query: str
    workspace: str
    user: str
    text: str
    tokens: int
    budget: int
    ended: str
    stable_prefix_tokens: int
    sections: list[SectionOut]
    overflow: list[ExcerptOut]
    """Documents that are named in one line each."""
    citations: list[Citation]
    warnings: list[str]
    decisions: list[Decision]
    """One for each candidate, in or out."""
    timings: dict[str, float]
    """Milliseconds by stage; empty unless for an admin key."""


class AddedPiece(Reply):
    """A source that the earlier context did not have."""

    name: str
    citation: str
    text: str


class ChangedPiece(AddedPiece):
    """A source that the earlier context had otherwise."""

    was: str
    """The id under which it was cited."""


class WithdrawnPiece(Reply):
    """A source of the earlier context that is to be disregarded."""

    citation: str
    reason: str


class DeltaOut(Reply):
    """The difference to an earlier context, with its pieces."""

    since: str
    id: str
    """The id of the fresh context, to be named next time."""
    added: list[AddedPiece]
    changed: list[ChangedPiece]
    withdrawn: list[WithdrawnPiece]
    frame: dict[str, str]
    """Headings and the like that the earlier context did not have, or not so, by their names."""
    order: list[str]
    """Names of all pieces of the fresh context."""
    text: str
    tokens: int
    whole: bool
    """True if the text is the whole fresh context."""
