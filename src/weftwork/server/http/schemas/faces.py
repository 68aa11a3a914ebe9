"""Threads, activity, feedback, documents and questions; the bodies that contracts prescribe."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from weftwork.faces.research.everything import Mode
from weftwork.faces.research.values import SourceDocument
from weftwork.server.http.schemas.nodes import NodeOut
from weftwork.server.http.schemas.values import (
    LARGEST_BUDGET,
    LONGEST_QUERY,
    MOST_IN_A_BATCH,
    Json,
    Model,
    Moment,
    Name,
    Names,
    Query,
    Reply,
    Several,
    Share,
    Title,
    Truth,
)

Said = Annotated[str, Field(strict=True, min_length=1, max_length=100_000, pattern=r"\S")]
Asked = Annotated[str, Field(strict=True, min_length=1, max_length=LONGEST_QUERY, pattern=r"\S")]


class ThreadIn(Model):
    """A thread to be started."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Maintenance", "references": ["ana/plan"]}]})

    title: Title = ""
    references: Names = []
    """Nodes that the thread is about."""
    access: Names | None = None
    """Readers beside its owner; nobody by default."""


class TitleIn(Model):
    """The new title of a thread."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Maintenance of the dome"}]})

    title: Title


class ThreadTurn(Model):
    """A message to be put into a thread."""

    role: Annotated[str, Field(strict=True, min_length=1, max_length=200)] = "user"
    text: Said
    at: Moment | None = None


class MessagesIn(Model):
    """Messages to be put at the end of a thread."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"thread": "ana/thread-1", "messages": [{"role": "user", "text": "Who has the keys?"}]}]
        }
    )

    thread: Name
    messages: Annotated[Several[ThreadTurn], Field(min_length=1, max_length=MOST_IN_A_BATCH)]


class ReferencesIn(Model):
    """Nodes that a thread is about, to be added or removed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"thread": "ana/thread-1", "nodes": ["ana/plan"]}]})

    thread: Name
    nodes: Annotated[list[Name], Field(min_length=1, max_length=MOST_IN_A_BATCH)]


class UsesIn(Model):
    """Sources that an answer used."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"references": ["k482913"]}]})

    references: Annotated[list[Name], Field(min_length=1, max_length=MOST_IN_A_BATCH)]
    """Nodes' ids or citations."""


class MessageList(Reply):
    """Messages of a thread, the oldest first."""

    messages: list[NodeOut]


class ActivityIn(Model):
    """That the user saw or changed a node."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"node": "ana/plan", "kind": "view"}]})

    node: Name
    kind: Literal["view", "edit"]
    at: Moment | None = None
    """Now, if nothing is said."""


BEACON: Json = {
    "requestBody": {
        "required": True,
        "content": {
            "text/plain": {
                "schema": {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": {"$ref": "#/components/schemas/ActivityIn"},
                    "examples": ['{"node": "ana/plan", "kind": "view"}'],
                }
            }
        },
    }
}
"""The body of a beacon, which a browser sends as text."""


class EventOut(Reply):
    """Something that the user did to a node."""

    node: str
    kind: Literal["view", "edit"]
    at: str


class EventList(Reply):
    """The user's own latest views or edits, newest first."""

    events: list[EventOut]


class FeedbackIn(Model):
    """Feedback on a source: helpful or not."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"reference": "k482913", "useful": True, "query": "Who greases the rollers?"}]}
    )

    reference: Name
    """A node's id or a citation."""
    useful: Truth
    query: Query | None = None
    """The question that it helped with; without one, the latest whose context held it. Empty is none in particular."""


class Done(Reply):
    """That it is done."""

    success: Literal[True] = True


class AskIn(Model):
    """A question to what a workspace holds."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "What does the plan pay for hearing aids?"}]})

    query: Asked
    num_results: Annotated[int, Field(strict=True, ge=1, le=100)] = 10
    max_tokens: Annotated[int, Field(strict=True, ge=1, le=LARGEST_BUDGET)] = 10_000
    mode: Mode = "everything"
    """What is searched: everything, or the pages of documents by their text, their look, or both."""
    min_support: Share | None = None
    """How little is an answer: below it there are no sources. 0 shows whatever is nearest."""
    extractive: Truth = False
    """Quote the sources, even if the server has a model."""


class CitationCheck(Reply):
    """The check of an answer's citations, by the numbers of its sources."""

    class Uncited(Reply):
        """A sentence that repeats a source without citing it."""

        sentence: str
        source: int

    cited: list[int]
    unknown: list[int]
    uncited: list[Uncited]


class ResearchOut(Reply):
    """An answer with `[1]`-style citations of its sources."""

    answer: str
    sources: list[SourceDocument]
    truncated: bool
    total_tokens: int
    model: str | None
    citations: CitationCheck
    note: str


class ResearchRequest(BaseModel):
    """The body of the research contract's route; what else a client sends is passed over."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "What does the plan pay for hearing aids?"}]})

    query: Asked


class PrimeContextRequest(BaseModel):
    """The body of the thread contract's route; what else a client sends is passed over."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"threadId": "ana/thread-1", "message": "Who greases the rollers?"}]}
    )

    threadId: Name
    message: Query


class PrimeItem(Reply):
    """An item of a prime context."""

    class Metadata(Reply):
        """Facts about an item beside its content."""

        node: str
        nodeType: str
        path: str | None
        createdAt: str | None
        matchedKeywords: list[str]
        searchRank: float | None

    id: str
    type: Literal["file", "chunk", "message", "reference"]
    content: str
    excerpt: str
    source: str
    relevance: float
    tokens: int
    metadata: Metadata


class PrimeCitation(Reply):
    """A source as an answer may name it."""

    id: str
    source: str
    type: Literal["file", "document", "message"]
    path: str | None
    excerpt: str
    relevance: float
    usedInResponse: bool


class PrimeContextOut(Reply):
    """The answer of the thread contract's route."""

    class Data(Reply):
        """A prime context."""

        class Stats(Reply):
            """The number of items retrieved in each way, and of those left out."""

            explicitCount: int
            searchCount: int
            historyCount: int
            excludedCount: int

        totalTokens: int
        items: list[PrimeItem]
        citations: list[PrimeCitation]
        stats: Stats
        text: str

    class Meta(Reply):
        """Counts."""

        tokenUsage: int
        sourceCount: int
        citationCount: int

    data: Data
    meta: Meta


class ContextFeedback(BaseModel):
    """The body of the thread contract's feedback route; what else a client sends is passed over."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"contextItemId": "k482913", "useful": True}]})

    contextItemId: Name
    useful: Truth


class ThreadList(Reply):
    """Threads that the user may see, those changed last first."""

    threads: list[NodeOut]


class TextNode(NodeOut):
    """A node with its text."""

    text: str


class JobOut(Reply):
    """The indexing of a document."""

    id: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    created_at: str
    updated_at: str
    name: str
    node: str
    """The id of the document's node, once it is there."""
    bytes: int
    done: int
    """Pages that were read so far."""
    expected: int | None
    """Pages that there are, as far as it is known."""
    read: int | None = None
    changed: int | None = None
    notes: list[str] = []
    """Notes on what was added."""
    why: str | None = None
    """Why it failed."""


class JobList(Reply):
    """Jobs, the latest first."""

    jobs: list[JobOut]


class DocumentList(Reply):
    """Documents and notes, those that changed last first."""

    documents: list[NodeOut]
    total: int
    """All that the user may see."""
