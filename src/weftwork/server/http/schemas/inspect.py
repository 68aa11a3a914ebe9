"""Requests and responses of the inspector page."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from weftwork.recipe import Recipe
from weftwork.server.http.schemas.context import QUERY, Tokens
from weftwork.server.http.schemas.values import LARGEST_BUDGET, Model, Name, Query, Reply
from weftwork.types import Budget, Fate, Finding, Form

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

    citations: Annotated[list[Name], Field(min_length=1, max_length=10)]


class InspectedSection(Reply):
    """A section of the context, in figures."""

    name: str
    title: str
    tokens: int
    budget: int | None


class InspectedPiece(Reply):
    """A stretch of the text; what it shows is named where it is an excerpt, and nothing but its text where it is none.

    `candidate` and `candidates` are places in the list of candidates.
    """

    text: str
    document: str | None = None
    title: str | None = None
    section: str | None = None
    candidate: int | None = None
    candidates: list[int] | None = None
    score: float | None = None
    form: Form | None = None
    truncated: bool | None = None
    tokens: int | None = None


class InspectedCandidate(Reply):
    """A candidate with its fate, and what each signal gave to its score."""

    node: str
    citation: str
    type: str
    title: str
    section: str
    tags: list[str]
    score: float
    tokens: int
    fate: Fate
    reason: str
    missing_tokens: int | None
    signals: dict[str, float | None]
    shares: dict[str, float]
    findings: list[Finding]
    page: int | None
    has_picture: bool


class WalkedNode(Reply):
    """A node that a walk met, and how many links away."""

    id: str
    title: str
    type: str
    distance: int


class WalkedStep(Reply):
    """A link that a walk followed."""

    model_config = ConfigDict(validate_by_name=True)

    source: str = Field(alias="from")
    to: str
    edge: str
    direction: Literal["out", "in"]
    label: str


class Walk(Reply):
    """The walk that led to candidates, the nearest nodes first."""

    nodes: list[WalkedNode]
    steps: list[WalkedStep]


class InspectedWorkspace(Reply):
    """A workspace, and the users that the key may act for."""

    name: str
    users: list[str]


class InspectedRecipe(Reply):
    """A recipe with the shares of its sections."""

    name: str
    packer: str
    sections: dict[str, float]


class InspectedLens(Reply):
    """A lens and what it prefers."""

    name: str
    description: str


class Inspection(Reply):
    """A context made visible."""

    id: str
    user: str
    tokens: int
    budget: int
    lines_tokens: int
    """Tokens of the list of titles."""
    frame_tokens: int
    """Headings and everything else that is no item."""
    sections: list[InspectedSection]
    pieces: list[InspectedPiece]
    """The text without gaps; an excerpt has the places of what it shows in `candidates`, the best as `candidate`."""
    candidates: list[InspectedCandidate]
    """One for each candidate, in or out, the best first; `shares` is what each signal gave to the score."""
    walk: Walk
    warnings: list[str]
    timings: dict[str, float]


class NearMiss(Reply):
    """The additional budget that shows a candidate whole."""

    node: str
    citation: str
    more: int | None
    """With so many more tokens it is whole, with one fewer not; null if twice the budget does not do it either."""


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


class Place(Reply):
    """A node to choose from."""

    id: str
    type: str
    title: str
    trail: list[str]


class Places(Reply):
    """Nodes to choose from, the best first."""

    nodes: list[Place]
