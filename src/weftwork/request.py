"""The request for a context: a query, its user, its place in the workspace, its budget."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from weftwork.errors import InvalidInput
from weftwork.provenance import Trust
from weftwork.types import Budget, Filters

DEFAULT_DEPTH = 2
"""The depth of a walk of the graph unless a request says otherwise (graph contract)."""


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of a conversation that is handed in with the request instead of being stored."""

    role: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """One of several subjects of a context: text to look for or a node's id, and its weight."""

    text: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InvalidInput(f"a topic must be text, got {self.text!r}: give words, a title or a node's id")
        # A terminal may hand in bytes that are no text: they cannot be looked up.
        object.__setattr__(self, "text", self.text.encode("utf-8", "replace").decode("utf-8"))
        if isinstance(self.weight, bool) or not isinstance(self.weight, int | float) or not 0 < self.weight < math.inf:
            raise InvalidInput(f"the weight of topic {self.text!r} must be a number above 0, got {self.weight!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All inputs of a context beside the store and the clock."""

    query: str = ""
    workspace: str
    user: str
    budget: Budget
    focus: str | None = None
    page: str | None = None
    """Id of the page that the focus stands on, to be shown by its summary; a page alone is the focus."""
    thread: str | None = None
    history: tuple[Message, ...] = ()
    filters: Filters = field(default_factory=Filters)
    include: tuple[str, ...] = ()
    """Ids of nodes that are candidates whatever the collectors find."""
    prefer_types: frozenset[str] = frozenset()
    boosts: Mapping[str, float] = field(default_factory=dict)
    """Tags or types that raise a score, and by how much; case does not matter."""
    edge_types: tuple[str, ...] = ()
    """Edge types that a walk follows, in the order of their importance; empty means all."""
    edge_order: tuple[str, ...] = ()
    """Edge types that a walk follows before all others."""
    depth: int | None = None
    topics: tuple[Topic, ...] = ()
    """The starts of the walk of the graph, instead of the query."""
    show_fields: bool = True
    key_fields: tuple[str, ...] = ()
    """Fields that are shown first, and even without `show_fields`."""
    show: frozenset[str] = frozenset()
    """Details in the headings of excerpts beside names and dates: "type", "tags", "score", "route",
    "origin"."""
    truncation: str = "extractive"
    vector: tuple[float, ...] | None = None
    """The query's embedding, where the caller has one: it is used instead of the provider's."""
    decay: Mapping[str, float] = field(default_factory=dict)
    """Days until a memory's freshness has halved, by type; infinity for never."""

    trust: Trust | None = None
    """The least trust of what may be shown ("own", "workspace", "imported", "external"); None for the recipe's."""
    given: frozenset[str] = frozenset()
    """Citations that the reader has from earlier turns: they are not shown again."""

    min_support: float | None = None
    """The least support with which anything is shown, from 0 to 1; None for the recipe's."""

    def __post_init__(self) -> None:
        if self.focus is None and self.page is not None:
            object.__setattr__(self, "focus", self.page)
