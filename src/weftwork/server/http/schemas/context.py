"""Asking for contexts, and searching."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from weftwork.answer import Quote
from weftwork.provenance import Trust
from weftwork.recipe import Recipes
from weftwork.request import Message, Topic
from weftwork.results import SearchResult
from weftwork.server.http.schemas.values import (
    DEEPEST,
    LARGEST_BUDGET,
    MOST_NAMES,
    Limit,
    Model,
    Moment,
    Name,
    Names,
    Number,
    Query,
    Reply,
    Several,
    Share,
    Text,
    Truth,
)
from weftwork.types import Budget, Citation, Filters

QUERY = "When do the rollers need grease?"
Tokens = Annotated[int, Field(strict=True, ge=1, le=LARGEST_BUDGET)]
Positive = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]


class FiltersIn(Model):
    """Conditions on the nodes that are searched."""

    types: Names = []
    tags: Names = []
    """All of them must be there."""
    after: Moment | None = None
    before: Moment | None = None
    min_confidence: Share | None = None
    conversation: Name | None = None
    as_of: Moment | None = None
    """Only what was valid at this moment; now, if nothing is said."""
    exclude: Names = []
    exclude_types: Names = []

    def value(self) -> Filters:
        """The filters."""
        return Filters(
            types=frozenset(self.types),
            tags=frozenset(self.tags),
            after=self.after,
            before=self.before,
            min_confidence=self.min_confidence,
            conversation=self.conversation,
            as_of=self.as_of,
            exclude=frozenset(self.exclude),
            exclude_types=frozenset(self.exclude_types),
        )


class BudgetIn(Model):
    """A number of tokens, and how the sections share them."""

    total: Tokens
    sections: Annotated[
        dict[str, Annotated[int, Field(strict=True, ge=0, le=LARGEST_BUDGET)]], Field(max_length=MOST_NAMES)
    ] = {}
    share: Truth = True
    """True if the others may use what a section leaves over."""
    capped: Names = []
    """Sections that never take more than their share."""

    def value(self) -> Budget:
        """The budget."""
        return Budget(total=self.total, sections=self.sections, share=self.share, capped=frozenset(self.capped))


class MessageIn(Model):
    """A turn of the conversation that is not stored."""

    role: Name
    text: Text
    at: Moment | None = None


class TopicIn(Model):
    """One of several things that the context is about."""

    text: Annotated[str, Field(strict=True, min_length=1, max_length=2_000, pattern=r"\S")]
    weight: Positive = 1.0


class ContextIn(Model):
    """A request for a context."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": QUERY, "budget": 2000, "recipe": "default"}]})

    query: Query = ""
    budget: Tokens | BudgetIn | None = None
    """None for the recipe's or the server's own."""
    recipe: Name = "default"
    """One of `GET /v1/recipes`."""
    lens: Name | None = None
    """One of `GET /v1/lenses`."""
    packer: Name | None = None
    """Instead of the recipe's own."""
    template: Name | None = None
    """Instead of the recipe's own; one of `GET /v1/templates`."""
    focus: Name | None = None
    page: Name | None = None
    thread: Name | None = None
    history: Annotated[Several[MessageIn], Field(max_length=200)] = []
    filters: FiltersIn = FiltersIn()
    include: Names = []
    prefer_types: Names = []
    boosts: Annotated[dict[str, Number], Field(max_length=MOST_NAMES)] = {}
    edge_types: Names = []
    edge_order: Names = []
    depth: Annotated[int, Field(strict=True, ge=1, le=DEEPEST)] | None = None
    topics: Annotated[Several[TopicIn], Field(max_length=20)] = []
    show_fields: Truth = True
    key_fields: Names = []
    truncation: Literal["extractive", "keep_start", "keep_end", "summarize", "summarise"] = "extractive"
    vector: Annotated[list[Number], Field(max_length=8192)] | None = None
    decay: Annotated[dict[str, Positive], Field(max_length=MOST_NAMES)] = {}
    trust: Trust | None = None
    """The least trust of what may be shown: `own`, `workspace`, `imported` or `external`."""
    show: Annotated[list[Literal["type", "tags", "score", "route", "origin"]], Field(max_length=5)] = []
    """Details in the headings of excerpts beside names and dates."""
    given: Names = []
    """Citations that the reader has already: they are not shown again."""
    min_support: Share | None = None
    """The least support of the query with which anything is shown; 0 shows whatever is nearest."""
    remember: Truth = False
    """Keep it in the store, so that a later request may ask for the difference to it."""

    def options(self, recipes: Recipes) -> dict[str, Any]:
        """The arguments of `Weft.context`, but for user and workspace."""
        lists = ("include", "edge_types", "edge_order", "key_fields")
        same = (
            "query",
            "lens",
            "focus",
            "page",
            "thread",
            "boosts",
            "depth",
            "show_fields",
            "truncation",
            "decay",
            "min_support",
            "trust",
        )
        return {
            **{name: getattr(self, name) for name in same},
            **{name: tuple(getattr(self, name)) for name in lists},
            "recipe": recipes.get(self.recipe, packer=self.packer, template=self.template),
            "budget": self.budget.value() if isinstance(self.budget, BudgetIn) else self.budget,
            "history": tuple(Message(turn.role, turn.text, turn.at) for turn in self.history),
            "filters": self.filters.value(),
            "show": frozenset(self.show),
            "prefer_types": frozenset(self.prefer_types),
            "given": frozenset(self.given),
            "topics": tuple(Topic(topic.text, topic.weight) for topic in self.topics),
            "vector": None if self.vector is None else tuple(self.vector),
            "remember": self.remember,
        }


class BuildIn(ContextIn):
    """A context, in one of three forms."""

    form: Literal["lean", "document", "whole"] = "lean"
    """`lean`: the text and the origin of each part of it. `document`: also the contents of excerpts and passages, and
    a decision for every candidate; of a delta, its pieces. `whole`: every field of the engine's context or delta."""


class DeltaIn(BuildIn):
    """A context of which only what changed since an earlier one is wanted."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": QUERY, "since": "ctx-0123456789"}]})

    since: Name
    """The id of an earlier context of the same user and thread."""


class AnswerIn(ContextIn):
    """An answer of a model, and what its context was asked for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": QUERY, "answer": "Every spring [k482913]."}]})

    answer: Annotated[str, Field(strict=True, max_length=200_000)]


class Explanation(Reply):
    """Why a context is what it is, for people."""

    text: str


class AnswerCheckOut(Reply):
    """The check of an answer against its sources."""

    sound: bool
    used: list[Citation]
    unknown: list[str]
    uncited: list[Quote]


class SearchIn(Model):
    """A search for passages."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "rollers grease", "limit": 5}]})

    query: Query
    limit: Limit = 10
    mode: Literal["hybrid", "words", "vector"] = "hybrid"
    filters: FiltersIn = FiltersIn()


class Results(Reply):
    """Hits of a search, the best first."""

    results: list[SearchResult]
