"""Requests and responses of the inspector page."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from weftwork.recipe import Recipe
from weftwork.server.http.schemas.context import QUERY, Tokens
from weftwork.server.http.schemas.values import LARGEST_BUDGET, Model, Name, Query, Reply
from weftwork.types import Budget, Ended, Fate, Finding, Form

Closing = Annotated[int, Field(strict=True, ge=0, le=LARGEST_BUDGET)]


class InspectIn(Model):
    """A context to be looked at."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": QUERY, "budget": 900}]})

    query: Query = ""
    budget: Tokens | None = None
    """None for the recipe's or the server's own."""
    sections: dict[str, Closing] = Field(default_factory=dict, max_length=50)
    """Budgets of sections, instead of those that the recipe gives them."""
    recipe: Name = "default"
    lens: Name | None = None
    packer: Name | None = None
    """Instead of the recipe's own."""
    focus: Name | None = None
    thread: Name | None = None

    def shares(self, recipe: Recipe, total: int) -> Budget:
        """A budget of so many tokens, and how the sections share it."""
        budget = recipe.budget(total)
        return replace(budget, sections={**budget.sections, **self.sections})


class NearIn(InspectIn):
    """Candidates of a context that were left out for lack of room."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": QUERY, "budget": 900, "citations": ["k482913"]}]}
    )

    citations: Annotated[list[Name], Field(max_length=10)] = []
    """Empty for the nearest of all."""


class InspectedSection(Reply):
    """A section of the context, in figures."""

    name: str
    title: str
    """As it stands in the text."""
    tokens: int
    budget: int | None


class InspectedCard(Reply):
    """An excerpt; `candidate` and `candidates` are places in the list of candidates."""

    document: str
    type: str
    title: str
    path: list[str]
    citation: str
    content: str
    """The text of the excerpt as its author wrote it: without heading and quotation marks."""
    section: str
    section_title: str
    candidate: int
    candidates: list[int]
    score: float
    form: Form
    truncated: bool
    note: str
    tokens: int


class InspectedPiece(Reply):
    """A stretch of the text, exactly as a model reads it; `card` is null between excerpts."""

    text: str
    card: InspectedCard | None


class InspectedCandidate(Reply):
    """A candidate with its fate, and what each signal gave to its score."""

    node: str
    citation: str
    type: str
    title: str
    path: list[str]
    section: str
    section_title: str
    tags: list[str]
    text: str
    """The beginning of its text."""
    text_goes_on: bool
    score: float
    tokens: int
    fate: Fate
    reason: str
    why: str
    """Its place, and what speaks for it, in a sentence."""
    missing_tokens: int | None
    """What it lacked when its turn came; null if no budget would let it in."""
    signals: dict[str, float | None]
    shares: dict[str, float]
    findings: list[Finding]
    page: int | None
    has_picture: bool


class InspectedWorkspace(Reply):
    """A workspace, and the users that the key may act for."""

    name: str
    users: list[str]


class InspectedRecipe(Reply):
    """A recipe with the shares of its sections."""

    name: str
    packer: str
    sections: dict[str, float]
    tokens: int
    """The budget where a request names none."""


class InspectedLens(Reply):
    """A lens and what it prefers."""

    name: str
    description: str


class Inspection(Reply):
    """A context made visible."""

    id: str
    user: str
    workspace: str
    query: str
    tokens: int
    budget: int
    support: float | None
    ended: Ended
    """Why it holds no more: the budget, the evidence, or the workspace is used up."""
    lines_tokens: int
    """Tokens of the list of titles."""
    frame_tokens: int
    """Headings and everything else that is no item."""
    matches: list[str]
    """Words of the question as the candidates have them, in lower case."""
    sections: list[InspectedSection]
    pieces: list[InspectedPiece]
    """The text without gaps."""
    candidates: list[InspectedCandidate]
    """One for each candidate, in or out, the best first; `shares` is what each signal gave to the score."""
    warnings: list[str]
    timings: dict[str, float]


class NearMiss(Reply):
    """The additional budget that shows a candidate whole."""

    node: str
    citation: str
    more: int | None
    """With so many more tokens it is whole, with one fewer not; null if no budget does it."""


class NearMissList(Reply):
    """The candidates that were asked for, in the order of their scores."""

    near: list[NearMiss]


class SettingsOut(Reply):
    """The features that a page may offer to this key."""

    user: str
    scope: Literal["read", "write", "admin"]
    most_tokens: int
    workspaces: list[InspectedWorkspace]
    home: str | None
    """The workspace to begin with."""
    recipes: list[InspectedRecipe]
    lenses: list[InspectedLens]
    packers: list[str]
    section_titles: dict[str, str]
    """The headings of sections in a text, by their names."""
    now: datetime
    """The moment at which the server reads its workspaces."""


class Place(Reply):
    """A node to choose from."""

    id: str
    type: str
    title: str
    trail: list[str]


class Places(Reply):
    """Nodes to choose from, the best first."""

    nodes: list[Place]


class Overview(Reply):
    """A workspace at a glance, as far as the user may see it."""

    notes: int
    documents: int
    memories: int
    passages: int
    changed_at: datetime | None
    """The latest change of anything in it."""
    questions: list[str]
    """Questions that it can answer, taken from its titles and headings."""
