"""The thread contract's values, and the projection of a context onto them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, cast

from weftwork.query import Question
from weftwork.render.values import file_path
from weftwork.score.node_type import item_type
from weftwork.text.snippet import excerpt
from weftwork.text.tokens import TokenCounter
from weftwork.types import Candidate, Context, Decision, Excerpt, Item, Kind

ItemType = Literal["file", "chunk", "message", "reference"]
CitationType = Literal["file", "document", "message"]

SEARCHES: frozenset[Kind] = frozenset({"words", "keywords", "fuzzy", "vector"})
"""Kinds of findings of the searches among files."""


@dataclass(frozen=True, slots=True)
class ItemMetadata:
    """The metadata of an item beside its content."""

    node: str
    """Id of the node that it is a part of."""
    node_type: str
    path: str | None = None
    created_at: datetime | None = None
    matched_keywords: tuple[str, ...] = ()
    search_rank: float | None = None
    """The best grade that a search among files gave it; None if none found it."""


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A piece of the context; its id is that of its citation, the same in every context."""

    id: str
    type: ItemType
    content: str
    """Its text: all of it, or as much as stands in the context."""
    excerpt: str
    """The part that matched, with the words of the message between <<< and >>>."""
    source: str
    relevance: float
    tokens: int
    metadata: ItemMetadata


@dataclass(frozen=True, slots=True)
class Citation:
    """A source as an answer may name it: `[k482913]`."""

    id: str
    source: str
    type: CitationType
    path: str | None
    excerpt: str
    relevance: float
    used_in_response: bool = False


@dataclass(frozen=True, slots=True)
class ContextStats:
    """The number of items retrieved in each way, and of those left out."""

    explicit_count: int
    """Files that the thread or the message refers to, each once."""
    search_count: int
    """Files that the searches found, each once."""
    history_count: int
    excluded_count: int


@dataclass(frozen=True, slots=True)
class PrimeContext:
    """The context of a message in a thread: the text for the model, its items and their sources."""

    total_tokens: int
    items: tuple[ContextItem, ...]
    """The most relevant first."""
    citations: tuple[Citation, ...]
    stats: ContextStats
    text: str
    context: Context = field(repr=False)
    """All of the account: sections, and a decision with its signals for each candidate."""


@dataclass(frozen=True, slots=True)
class ContextMetrics:
    """The cost of one call in milliseconds and tokens; a cached context costs no search."""

    assembly_time: float
    items_retrieved: int
    items_selected: int
    token_usage: int
    cache_hit_rate: float
    search_latency: float
    scoring_latency: float
    optimization_latency: float


def project(
    context: Context, question: Question, counter: TokenCounter, files: Mapping[str, str] | None = None
) -> PrimeContext:
    """A context in the contract's terms; `files` has the file that each passage stands in, by its citation."""
    shown = [_item(item, excerpt, question, counter) for excerpt in context.excerpts for item in excerpt.items]
    items = tuple(sorted(shown, key=lambda item: (-item.relevance, item.id)))
    return PrimeContext(
        total_tokens=context.tokens,
        items=items,
        citations=citations_of(items),
        stats=_stats(context.trace, files or {}),
        text=context.text,
        context=context,
    )


def citations_of(items: Iterable[ContextItem]) -> tuple[Citation, ...]:
    """One citation for each item, in their order."""
    return tuple(
        Citation(
            id=f"[{item.id}]",
            source=item.source,
            type=_citation_type(item.metadata.node_type),
            path=item.metadata.path,
            excerpt=item.excerpt,
            relevance=item.relevance,
        )
        for item in items
    )


def _item(item: Item, shown_in: Excerpt, question: Question, counter: TokenCounter) -> ContextItem:
    candidate = item.candidate
    node, passage = candidate.node, candidate.passage
    path = file_path(node if node.source else shown_in.document, shown_in.trail)
    return ContextItem(
        id=passage.citation,
        type=_type(candidate, shown_in),
        content=item.text or node.title,
        excerpt=excerpt(passage.text or node.title, question.text),
        source=path or node.title or node.id,
        relevance=candidate.score,
        tokens=counter.count(item.text) if item.truncated else passage.tokens,
        metadata=_metadata(candidate, question, path),
    )


def _metadata(candidate: Candidate, question: Question, path: str) -> ItemMetadata:
    node = candidate.node
    content = f"{node.title}\n{candidate.passage.text}".lower()
    return ItemMetadata(
        node=node.id,
        node_type=node.type,
        path=path or None,
        created_at=node.created_at,
        matched_keywords=tuple(keyword for keyword in question.keywords if keyword in content),
        search_rank=candidate.found_as(*SEARCHES),
    )


def _type(candidate: Candidate, shown_in: Excerpt) -> ItemType:
    """One of the contract's four types; a node that is no message or reference counts as file or chunk."""
    kind = "reference" if any(item.candidate.asked for item in shown_in.items) else item_type(candidate)
    if kind in ("file", "chunk", "message", "reference"):
        return cast(ItemType, kind)
    return "chunk" if candidate.passage.ordinal else "file"


def _citation_type(node_type: str) -> CitationType:
    return cast(CitationType, node_type) if node_type in ("file", "message") else "document"


def _stats(trace: Iterable[Decision], files: Mapping[str, str]) -> ContextStats:
    decisions = list(trace)
    kinds = [{finding.kind for finding in decision.findings} for decision in decisions]
    return ContextStats(
        explicit_count=len({decision.node for decision, by in zip(decisions, kinds, strict=True) if "reference" in by}),
        search_count=len(
            {files.get(each.citation, each.node) for each, by in zip(decisions, kinds, strict=True) if SEARCHES & by}
        ),
        history_count=sum("history" in by for by in kinds),
        excluded_count=sum(decision.fate == "dropped" for decision in decisions),
    )
