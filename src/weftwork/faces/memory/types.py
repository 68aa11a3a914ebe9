"""Values of the memory face: memories, their relationships, options and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from weftwork.types import Edge, NodeInfo

MEMORY = "memory"
"""The tag of memories in a workspace."""
MEMORY_TYPES = ("fact", "decision", "preference", "event", "remark")
"""Types to offer; any other word may be one."""
SUPERSEDES = "supersedes"
CONTRADICTS = "contradicts"

Contradictions = Literal["both", "newer"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Something worth remembering, with who said it, how sure they were, and when it held."""

    id: str
    content: str
    type: str = "fact"
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    conversation_id: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    owner: str | None = None
    access: frozenset[str] | None = None

    @classmethod
    def from_node(cls, node: NodeInfo, content: str) -> Memory:
        """The memory that a node stands for."""
        return cls(
            id=node.id,
            content=content,
            type=node.type,
            confidence=node.confidence,
            tags=tuple(tag for tag in node.tags if tag != MEMORY),
            conversation_id=node.conversation,
            created_at=node.created_at,
            updated_at=node.updated_at,
            valid_from=node.valid_from,
            valid_until=node.valid_until,
            owner=node.owner,
            access=node.access,
        )


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A memory that another one leads to, along which relationship, and how many steps away."""

    memory: Memory
    relationship: Edge
    depth: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A memory that answers a query."""

    memory: Memory
    score: float
    """Its similarity to the query, in [0, 1]."""
    rank: float | None = None
    """The score of the ranking; None before there was one."""
    relationships: tuple[RelatedMemory, ...] | None = None
    """None unless they were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult:
    """A context as text, with the memories that are in it, in the order of the text."""

    context: str
    token_count: int
    memories: tuple[SearchResult, ...]
    truncated: bool
    """True if something was left out or cut because the budget was used up."""
    template: str
    warnings: tuple[str, ...] = ()
    """Warnings for the caller, such as that the budget holds no memory at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPreview(ContextResult):
    """The same context, with its figures."""

    memory_ids: tuple[str, ...]
    ranking_scores: Mapping[str, float]
    budget_used: float
    """Percentage of the budget."""
