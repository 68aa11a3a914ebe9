"""What is asked for: a query, by whom, from where, within which budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from weft.types import Budget, Filters


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of a conversation that is handed in with the request instead of being stored."""

    role: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that a context depends on, beside the store and the clock."""

    query: str = ""
    workspace: str
    user: str
    budget: Budget
    focus: str | None = None
    thread: str | None = None
    history: tuple[Message, ...] = ()
    filters: Filters = field(default_factory=Filters)
    include: tuple[str, ...] = ()
    """Ids of nodes that are candidates whatever the collectors find."""
    prefer_types: frozenset[str] = frozenset()
    boosts: Mapping[str, float] = field(default_factory=dict)
    """Tags that raise a score, and by how much."""
    edge_types: tuple[str, ...] = ()
    """Edge types that a walk follows, in the order of their importance; empty means all."""
    depth: int | None = None
    truncation: str = "extractive"
