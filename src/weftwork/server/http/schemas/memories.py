"""Memories: what is remembered, searched, changed and forgotten."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from weftwork.faces.memory import RankingOptions
from weftwork.faces.memory.adding import Change
from weftwork.faces.memory.types import Conflict, RelatedMemory
from weftwork.server.http.schemas.context import FiltersIn
from weftwork.server.http.schemas.faces import Asked, Said
from weftwork.server.http.schemas.values import (
    DEEPEST,
    LARGEST_BUDGET,
    MOST_IN_A_BATCH,
    MOST_NAMES,
    FieldValues,
    Limit,
    Model,
    Moment,
    Name,
    Names,
    Number,
    Reply,
    Several,
    Share,
    Text,
    Truth,
    Whole,
)

Metadata = Annotated[dict[Name, Text | Truth | Whole | Number], Field(max_length=MOST_NAMES)]
Slot = Annotated[str, Field(strict=True, max_length=2_000)]
LONGEST_VECTOR = 16_384
Tokens = Annotated[int, Field(strict=True, ge=1, le=LARGEST_BUDGET)]


class _Details(Model):
    type: Annotated[str, Field(strict=True, min_length=1, max_length=200)] | None = None
    """`fact`, if nothing is said."""
    confidence: Share | None = None
    tags: Names | None = None
    metadata: Metadata | None = None
    """Values for programs: searches can be restricted by them, and no context shows them."""
    pinned: Truth | None = None
    """True puts it into every context of its user."""
    conversation: Name | None = None
    created_at: Moment | None = None
    """When it was said; now, if nothing is said."""
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    access: Names | None = None
    """Readers beside its writer; nobody by default."""

    def details(self) -> dict[str, Any]:
        """The details that the request sets."""
        said = {name: getattr(self, name) for name in self.model_fields_set & (_Details.model_fields.keys() | _MORE)}
        return {name: value for name, value in said.items() if value is not None}


_MORE = {"contradicts"}


class MemoryIn(_Details):
    """Something worth remembering."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Ana prefers mornings.", "type": "preference"}]})

    text: Said
    contradicts: Names = []
    on_conflict: Literal["keep_both", "link", "supersede", "ask"] = "keep_both"
    """The policy where it probably repeats or contradicts a memory of the user's."""


class MemoryChange(_Details):
    """Another text, which becomes the next version, or other details, which are changed in place."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Ana prefers evenings."}]})

    text: Said | None = None
    contradicts: Names = []


class ConversationTurn(Model):
    """A message of a conversation."""

    id: Name | None = None
    role: Annotated[str, Field(strict=True, min_length=1, max_length=200)] = "user"
    text: Said
    at: Moment | None = None


class ConversationIn(_Details):
    """A conversation, the statements of which are to be remembered."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"messages": [{"role": "user", "text": "I moved to Lisbon in May."}]}]}
    )

    messages: Annotated[Several[ConversationTurn], Field(min_length=1, max_length=MOST_IN_A_BATCH)]
    on_conflict: Literal["keep_both", "link", "supersede"] | None = None
    """`supersede` with `extract`, else `keep_both`, if nothing is said."""
    extract: Truth = False
    """True has the server's language model find the facts."""
    dry_run: Truth = False


class MemoryQuery(Model):
    """A search for memories."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "When does Ana like to meet?", "limit": 5}]})

    query: Asked | None = None
    vector: Annotated[list[Number], Field(min_length=1, max_length=LONGEST_VECTOR)] | None = None
    """A query that was embedded before, in place of `query`."""
    limit: Limit | None = None
    memory_types: Names = []
    tags: Names = []
    metadata: Metadata = {}
    date_from: Moment | None = None
    date_to: Moment | None = None
    min_confidence: Share | None = None
    min_score: Share | None = None
    conversation_id: Name | None = None
    include_relationships: Truth = False
    relationship_depth: Annotated[int, Field(strict=True, ge=1, le=DEEPEST)] = 1
    as_of: Moment | None = None
    contradictions: Literal["both", "newer"] | None = None

    @model_validator(mode="after")
    def _asks_once(self) -> Self:
        if (self.query is None) == (self.vector is None):
            raise ValueError("give a query as text, or a vector: one of them")
        return self

    def options(self) -> dict[str, Any]:
        """The options that the request sets, the vector among them, beside the query."""
        return {name: getattr(self, name) for name in self.model_fields_set - {"query"}}


class TemplateIn(Model):
    """The layout of a context, in `{{variables}}`."""

    name: Name = "inline"
    item: Slot
    header: Slot = ""
    section: Slot = ""
    separator: Slot = "\n"
    line: Slot = ""
    overflow: Slot = ""
    empty: Slot | None = None
    footer: Slot = ""
    quote: Literal["fence", "cite", "escape", "plain"] = "escape"
    include_metadata: Truth = True
    fields_first: Truth = False
    reading_marks: Truth = False


class Weights(Model):
    """The weights of the default ranking."""

    similarity_weight: Number = 0.6
    recency_weight: Number = 0.2
    confidence_weight: Number = 0.2


class MemoryContextQuery(MemoryQuery):
    """A question that memories are to answer, as text."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "When does Ana like to meet?"}]})

    template: Name | TemplateIn | None = None
    """A template's name, or a template."""
    token_budget: Tokens | None = None
    ranker: Name = "default"
    ranking: Weights | None = None
    """The weights of the default ranking."""
    include_metadata: Truth | None = None
    pinned_tokens: Annotated[int, Field(strict=True, ge=0, le=LARGEST_BUDGET)] = 500
    min_support: Share | None = None
    """The least support of the query with which more than pinned memories is shown."""

    def options(self) -> dict[str, Any]:
        """The options that the request sets beside the query."""
        options = super().options()
        if isinstance(self.template, TemplateIn):
            options["template"] = self.template.model_dump(exclude_none=True)
        if self.ranking is None:
            options.pop("ranking", None)
        else:
            options["ranking"] = RankingOptions(**self.ranking.model_dump())
        return options


class ForgetIn(Model):
    """Memories to forget: by their ids, or all of the user's own that pass."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"filters": {"tags": ["draft"]}}]})

    ids: Names = []
    filters: FiltersIn | None = None
    metadata: Metadata | None = None
    versions: Truth = True
    """True removes their earlier versions as well."""


class MemoryOut(Reply):
    """A memory."""

    id: str
    content: str
    type: str
    confidence: float | None
    tags: list[str]
    metadata: FieldValues
    pinned: bool
    conversation_id: str | None
    created_at: str | None
    updated_at: str | None
    valid_from: str | None
    valid_until: str | None
    owner: str | None
    access: list[str] | None
    action: Literal["added", "superseded", "known", "asked"] | None
    """The outcome for a new one."""
    conflicts: list[Conflict]
    """Memories that a new one probably repeats or contradicts."""


class MemoryList(Reply):
    """Memories."""

    memories: list[MemoryOut]


class MemoryResult(Reply):
    """A memory that answers a query."""

    memory: MemoryOut
    score: float
    """Its similarity to the query, in [0, 1]."""
    rank: float | None
    """The score of the ranking; null before there was one."""
    relationships: list[RelatedMemory] | None
    """Null unless they were asked for."""


class MemoryResults(Reply):
    """The memories that answer a query, the most similar first."""

    results: list[MemoryResult]


class MemoryContext(Reply):
    """Memories as text, and which they are."""

    context: str
    token_count: int
    memories: list[MemoryResult]
    truncated: bool
    template: str
    warnings: list[str]


class AdditionOut(Reply):
    """The changes that a conversation made."""

    changes: list[Change]
    read: int
    known: int
