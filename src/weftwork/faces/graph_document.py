"""The values of the graph contract, and their JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weftwork.render.quote import inline, writable
from weftwork.request import Topic
from weftwork.types import Context

FieldText = str | tuple[str, ...]
LONGEST_QUERY = 200
BRIEF_BELOW = 1000
"""A smaller budget has a header without the query and the lens, which whoever asked knows."""
NAMED_HUBS = 3
"""The most sampled hubs that a note names."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Token and node counts of the Markdown document."""

    budget: int
    used: int
    nodes_included: int
    nodes_summarized: int
    nodes_omitted: int
    """Nodes that were reached and are not even named."""

    @property
    def utilization(self) -> float:
        """The share of the budget that is used, to two digits."""
        return round(self.used / self.budget, 2)


@dataclass(frozen=True, slots=True)
class RelationshipPath:
    """One step on the way from a start: along which edge, in which direction, between which nodes."""

    type: str
    direction: str
    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class TopicReach:
    """A topic whose walk led to a node, and how far that was."""

    topic: str
    distance: int


@dataclass(frozen=True, slots=True)
class ContextNode:
    """A node with as much of its content as the budget allows."""

    id: str
    name: str
    type: str
    content: str
    tags: tuple[str, ...]
    fields: Mapping[str, FieldText]
    score: float
    components: Mapping[str, float]
    """The contribution of each part of the formula to the score."""
    distance: int
    path: tuple[RelationshipPath, ...]
    topics: tuple[TopicReach, ...]
    citations: tuple[str, ...]
    tokens: int
    sampled_hubs: tuple[str, ...] = ()
    """Nodes on the way of which only the most relevant neighbours were followed."""


@dataclass(frozen=True, slots=True)
class OverflowSummary:
    """A node that is named but not written out."""

    id: str
    name: str
    type: str
    tags: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class ContextMeta:
    """The circumstances in which the document was assembled."""

    query: str
    workspace: str
    lens: str
    tokens: TokenUsage
    assembled_at: str
    backend: str
    depth: int
    topics: tuple[Topic, ...]
    embeddings: bool
    """False where distance and recency had to do without similarity."""
    sampled_hubs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The warnings and, in words, the hubs that were sampled."""
        if not self.sampled_hubs:
            return self.warnings
        names = [inline(hub, 60) for hub in self.sampled_hubs[:NAMED_HUBS]]
        more = len(self.sampled_hubs) - len(names)
        named = ", ".join(names) + (f" and {more} more" if more else "")
        return (*self.warnings, f"only the most relevant neighbours of {named} were followed: there are too many")


@dataclass(frozen=True, slots=True)
class ContextDocument:
    """A projection of a context: its nodes, those only named, and the Markdown within the budget."""

    meta: ContextMeta
    nodes: tuple[ContextNode, ...]
    overflow: tuple[OverflowSummary, ...]
    markdown: str
    context: Context = field(repr=False)
    headed: bool = False
    """The Markdown begins with the header, which has the notes."""

    def to_dict(self, *, details: bool = True) -> dict[str, Any]:
        """The contract's JSON, with citations; `details` adds types, the components of scores, topics and costs."""
        return {
            "meta": _meta_dict(self.meta, details=details),
            "nodes": [_node_dict(node, details=details) for node in self.nodes],
            "overflow": [_overflow_dict(node, details=details) for node in self.overflow],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The same as text."""
        return writable(json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent))


def header_of(query: str, lens: str, depth: int, usage: TokenUsage, notes: Sequence[str]) -> str:
    """The header of the Markdown: what was asked for, how much it counts, what was left out, and notes."""
    included = f"{usage.nodes_included} node" + ("" if usage.nodes_included == 1 else "s")
    others = {"more by name": usage.nodes_summarized, "left out": usage.nodes_omitted}
    counts = ", ".join((included, *(f"{count} {what}" for what, count in others.items() if count)))
    told = [
        f"Query: {inline(query, LONGEST_QUERY)}",
        f"Lens: {inline(lens, 40)}, depth {depth}. Tokens: {usage.used} of {usage.budget}. Found: {counts}.",
    ]
    if usage.budget < BRIEF_BELOW:
        told = [f"Tokens: {usage.used} of {usage.budget}. Found: {counts}."]
    return "\n".join((*told, *(f"Note: {inline(note, LONGEST_QUERY)}" for note in notes))) + "\n\n"


def _meta_dict(meta: ContextMeta, *, details: bool) -> dict[str, Any]:
    topics = [{"text": topic.text, "weight": topic.weight} for topic in meta.topics]
    return {
        "query": meta.query,
        "workspace": meta.workspace,
        "lens": meta.lens,
        "tokens": {
            "budget": meta.tokens.budget,
            "used": meta.tokens.used,
            "utilization": meta.tokens.utilization,
            "nodesIncluded": meta.tokens.nodes_included,
            "nodesSummarized": meta.tokens.nodes_summarized,
            "nodesOmitted": meta.tokens.nodes_omitted,
        },
        "assembledAt": meta.assembled_at,
        "backend": meta.backend,
        "depth": meta.depth,
        # A single topic is the query.
        **({"topics": topics} if details or len(topics) > 1 else {}),
        "embeddings": meta.embeddings,
        "sampledHubs": list(meta.sampled_hubs),
        "warnings": list(meta.warnings),
    }


def _node_dict(node: ContextNode, *, details: bool) -> dict[str, Any]:
    fields = {name: list(value) if isinstance(value, tuple) else value for name, value in node.fields.items()}
    lean = {
        "id": node.id,
        "name": node.name,
        "content": node.content,
        "tags": list(node.tags),
        **({"fields": fields} if fields else {}),
        "score": _score(node.score, details=details),
        "distance": node.distance,
        "path": [_step_dict(step, details=details) for step in node.path],
        "citations": list(node.citations),
    }
    if not details:
        return lean
    return {
        **lean,
        "type": node.type,
        "components": dict(node.components),
        "topics": [{"topic": reach.topic, "distance": reach.distance} for reach in node.topics],
        "tokens": node.tokens,
        "sampledHubs": list(node.sampled_hubs),
    }


def _step_dict(step: RelationshipPath, *, details: bool) -> dict[str, str]:
    """A step; without details it leaves out where it leads, which is where the next begins or the node itself."""
    if not details:
        label = {"label": step.label} if step.label else {}
        return {"type": step.type, "direction": step.direction, "from": step.source, **label}
    return {
        "type": step.type, "direction": step.direction, "from": step.source, "to": step.target, "label": step.label,
    }  # fmt: skip


def _overflow_dict(node: OverflowSummary, *, details: bool) -> dict[str, Any]:
    score = _score(node.score, details=details)
    lean = {"id": node.id, "name": node.name, "tags": list(node.tags), "score": score}
    return {**lean, "type": node.type} if details else lean


def _score(score: float, *, details: bool) -> float:
    """The score, to as many digits as rank needs or, in details, as its components add up to."""
    return score if details else round(score, 4)
