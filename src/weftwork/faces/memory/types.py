"""Values of the memory face: memories, their relationships, options and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from weftwork.identity import text_hash
from weftwork.types import MEMORY, PINNED, UNSEEN, Edge, FieldValue, NodeInfo

MEMORY_TYPES = ("fact", "decision", "preference", "event", "remark", "statement")
"""Types to offer; any other word may be one."""
METADATA = "meta:"
"""Begins the tags by which metadata are found."""
SUPERSEDES = "supersedes"
CONTRADICTS = "contradicts"

Contradictions = Literal["both", "newer"] | None
Action = Literal["added", "superseded", "known", "asked"]


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
    metadata: Mapping[str, FieldValue] = field(default_factory=dict)
    """Values for programs: searches can be restricted by them, and no context shows them."""
    pinned: bool = False
    """True for a memory that stands in every context of its user."""
    action: Action | None = field(default=None, compare=False)
    """What `remember` did: "added" it; "superseded" the first of its conflicts by it; found it "known", and wrote
    nothing; or "asked", and wrote nothing."""
    conflicts: tuple[Conflict, ...] = field(default=(), compare=False)
    """Memories that it probably repeats or contradicts, as `remember` found them."""

    @classmethod
    def from_node(cls, node: NodeInfo, content: str) -> Memory:
        """The memory that a node stands for."""
        return cls(
            id=node.id,
            content=content,
            type=node.type,
            confidence=node.confidence,
            tags=tuple(tag for tag in node.tags if tag not in (MEMORY, PINNED) and not tag.startswith(METADATA)),
            conversation_id=node.conversation,
            created_at=node.created_at,
            updated_at=node.updated_at,
            valid_from=node.valid_from,
            valid_until=node.valid_until,
            owner=node.owner,
            access=node.access,
            metadata={name: value for name, value in node.fields.items() if name != UNSEEN},
            pinned=PINNED in node.tags,
        )


def metadata_tags(metadata: Mapping[str, FieldValue]) -> tuple[str, ...]:
    """The tags under which these values are found: hashes, since a search for words reads tags as well."""
    return tuple(f"{METADATA}{text_hash(f'{name}={value!r}')}" for name, value in metadata.items())


@dataclass(frozen=True, slots=True)
class Conflict:
    """A memory that a new one probably repeats or contradicts."""

    memory: Memory
    kind: Literal["duplicate", "contradiction"]
    reason: str


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
