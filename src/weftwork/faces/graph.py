"""The graph face: a topic or a node becomes a document of the nodes around it (graph contract)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from weftwork.clock import whole_minute
from weftwork.collect import GraphCollector
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.graph_document import (
    ContextDocument,
    ContextMeta,
    ContextNode,
    FieldText,
    OverflowSummary,
    RelationshipPath,
    TokenUsage,
    TopicReach,
)
from weftwork.lens import Lens
from weftwork.pack.overflow import Overflow
from weftwork.recipe import Recipe, get_recipe
from weftwork.render import FieldChoice
from weftwork.render.values import iso
from weftwork.request import DEFAULT_DEPTH, Topic
from weftwork.types import Candidate, Context, FieldValue, Item, Signals
from weftwork.validation import check_depth

__all__ = ["ContextAssembler", "ContextDocument", "ContextMeta", "ContextNode", "OverflowSummary", "TokenBudget"]

GRAPH = get_recipe("graph")
SUMMARY_BELOW = 500
"""A smaller budget holds names and types only."""
NAMES_ONLY = f"a budget under {SUMMARY_BELOW} tokens holds names and types only: give {SUMMARY_BELOW} or more"
CUT = "[...]"
_COMPONENTS = {"distance": "graphDistance", "similarity": "semanticSim", "recency_monthly": "recency"}


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """How many tokens there are, and how the document shares them out."""

    max_tokens: int = 4000
    header_reserve: int = 200
    """The most that the list of what did not fit may take; the header itself is counted, not estimated."""
    min_per_node: int = 50
    """Where fewer are left, a node is named in one line instead of being written out."""

    def __post_init__(self) -> None:
        for name in ("header_reserve", "min_per_node"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidInput(f"{name} must be a whole number of tokens from 0 on, got {value!r}")


class ContextAssembler:
    """Assembles documents from one engine. Thread-safe, as the engine is."""

    def __init__(self, weft: Weft, budget: TokenBudget | None = None) -> None:
        self._weft = weft
        self._budget = budget or TokenBudget()

    def assemble(
        self,
        query: str | Sequence[str | Topic],
        *,
        workspace: str = DEFAULT_WORKSPACE,
        user: str = DEFAULT_USER,
        depth: int = DEFAULT_DEPTH,
        max_tokens: int | None = None,
        include_fields: bool = True,
        lens: str | Lens = "general",
        focus: str | None = None,
        **more: Any,
    ) -> ContextDocument:
        """The document for a topic or a node's id, or for several that are blended.

        `focus` is the id of a node to start from as well; `more` are the other fields of `Request`, such as filters.
        """
        topics = _topics(query)
        if not topics and focus is None:
            raise InvalidInput("there is nothing to start from: give a topic, a node's id or a focus")
        check_depth(depth)
        chosen = self._weft.tools.lenses.get(lens)
        budget = self._budget.max_tokens if max_tokens is None else max_tokens
        context = self._weft.context(
            "; ".join(topic.text for topic in topics),
            workspace=workspace,
            user=user,
            budget=budget,
            recipe=_recipe(_is_small(budget), self._budget.header_reserve, self._budget.min_per_node),
            lens=chosen,
            depth=depth,
            show_fields=include_fields,
            topics=topics,
            focus=focus,
            **more,
        )
        fields = FieldChoice(include_fields, (*more.get("key_fields", ()), *chosen.include_fields))
        nodes, overflow = _shown(context, fields)
        meta = ContextMeta(
            query=context.query or focus or "",
            workspace=workspace,
            lens=chosen.name,
            tokens=_usage(context, nodes, overflow),
            assembled_at=iso(whole_minute(self._weft.now())),
            backend=type(self._weft.store).__name__.removesuffix("Store").lower(),
            depth=min(depth, chosen.max_depth),
            topics=topics,
            embeddings=_embedded(context, self._weft),
            sampled_hubs=_hubs(context),
            warnings=(*_warnings(budget, depth, chosen), *context.warnings),
        )
        return ContextDocument(meta, nodes, overflow, context.text, context)


def _topics(query: str | Sequence[str | Topic]) -> tuple[Topic, ...]:
    """What is asked for; an empty query asks for nothing."""
    if isinstance(query, str):
        return (Topic(query),) if query.strip() else ()
    if not isinstance(query, Sequence):
        raise InvalidInput(f"the query must be text or a list of topics, got {query!r}")
    return tuple(topic if isinstance(topic, Topic) else Topic(topic) for topic in query)


def _is_small(budget: object) -> bool:
    return isinstance(budget, int) and budget < SUMMARY_BELOW


@cache
def _recipe(small: bool, reserve: int, least: int) -> Recipe:
    """The graph recipe with this budget's rules; always the same object, since contexts are remembered by it."""
    if not small:
        return replace(GRAPH, packer=Overflow(reserve=reserve, least=least))
    once = tuple(replace(part, passages=1) for part in GRAPH.collectors if isinstance(part, GraphCollector))
    return replace(GRAPH, collectors=once, packer="overflow", template="outline", lines=False)


def _warnings(budget: int, depth: int, lens: Lens) -> list[str]:
    found = []
    if _is_small(budget):
        found.append(NAMES_ONLY)
    if depth > lens.max_depth:
        found.append(f"depth {depth} was lowered to {lens.max_depth}, the most of lens {lens.name!r}")
    return found


def _embedded(context: Context, weft: Weft) -> bool:
    """Whether similarity had a part in the scores."""
    if not context.trace:
        return weft.tools.embedder is not None
    return any("similarity" in decision.signals for decision in context.trace)


def _hubs(context: Context) -> tuple[str, ...]:
    candidates = [item.candidate for excerpt in (*context.excerpts, *context.overflow) for item in excerpt.items]
    return tuple(sorted({hub for candidate in candidates for hub in candidate.hubs}))


def _usage(context: Context, nodes: Sequence[ContextNode], overflow: Sequence[OverflowSummary]) -> TokenUsage:
    named = {node.id for node in nodes} | {node.id for node in overflow}
    omitted = {decision.node for decision in context.trace} - named
    return TokenUsage(context.budget, context.tokens, len(nodes), len(overflow), len(omitted))


def _shown(context: Context, fields: FieldChoice) -> tuple[tuple[ContextNode, ...], tuple[OverflowSummary, ...]]:
    """Nodes that are written out, the best first, and those that are only named."""
    written: dict[str, list[Item]] = {}
    lines: dict[str, Candidate] = {}
    for excerpt in (*context.excerpts, *context.overflow):
        for item in excerpt.items:
            node = item.candidate.node.id
            if excerpt.form != "line" and excerpt.content:
                written.setdefault(node, []).append(item)
            elif node not in lines or item.candidate.score > lines[node].score:
                lines[node] = item.candidate
    nodes = [_node(items, fields) for items in written.values()]
    overflow = [_summary(candidate) for node, candidate in lines.items() if node not in written]
    return tuple(sorted(nodes, key=_rank)), tuple(sorted(overflow, key=_rank))


def _rank(node: ContextNode | OverflowSummary) -> tuple[float, str]:
    return -node.score, node.id


def _node(items: Sequence[Item], fields: FieldChoice) -> ContextNode:
    best = max((item.candidate for item in items), key=lambda candidate: candidate.score)
    node = best.node
    return ContextNode(
        id=node.id,
        name=_name(best),
        type=node.type,
        content=_content(items),
        tags=node.tags,
        fields={name: _text(value) for name, value in fields.of(node.fields).items()},
        score=best.score,
        components=components(best.signals),
        distance=best.distance or 0,
        path=_path(best),
        topics=tuple(TopicReach(reach.topic, reach.distance) for reach in best.reached),
        citations=tuple(item.candidate.passage.citation for item in items),
        tokens=sum(item.candidate.passage.tokens for item in items),
        sampled_hubs=best.hubs,
    )


def _summary(candidate: Candidate) -> OverflowSummary:
    node = candidate.node
    return OverflowSummary(node.id, _name(candidate), node.type, node.tags, candidate.score)


def _name(candidate: Candidate) -> str:
    """The title of the node, or of what it stands in."""
    titles = (title.strip() for title in (candidate.node.title, *candidate.trail))
    return next((title for title in titles if title), "Untitled")


def _content(items: Sequence[Item]) -> str:
    """The passages in reading order, with a mark where something between them, or after them, is left out."""
    parts: list[str] = []
    end = 0
    for item in items:
        passage = item.candidate.passage
        if passage.start > end:
            parts.append(f"{CUT}\n")
        parts.append(item.text)
        end = passage.end
    return "".join(parts).rstrip() + (f"\n{CUT}" if items[-1].candidate.more else "")


def _text(value: FieldValue) -> FieldText:
    match value:
        case tuple():
            return value
        case bool():
            return "true" if value else "false"
        case _:
            return str(value)


def _path(candidate: Candidate) -> tuple[RelationshipPath, ...]:
    if not candidate.path or not candidate.reached:
        return ()
    nodes = (candidate.reached[0].start, *(step.node for step in candidate.path))
    return tuple(
        RelationshipPath(step.edge, step.direction, before, step.node, step.label)
        for before, step in zip(nodes, candidate.path, strict=False)
    )


def components(signals: Signals) -> dict[str, float]:
    """What each signal adds to a score: its weight, shared out where another one does not apply, times its value."""
    profile = GRAPH.profile
    weights: Mapping[str, float] = profile.weights
    if "similarity" not in signals and profile.without_embeddings is not None:
        weights = profile.without_embeddings
    applied = {name: value for name in weights if (value := signals.get(name)) is not None}
    whole = sum(weights[name] for name in applied)
    parts = {
        part: weights[name] * applied[name] / whole if name in applied else 0.0
        for name, part in _COMPONENTS.items()
        if name in applied or name != "similarity"
    }
    more = {name: value for name in ("boost", "overdue") if (value := signals.get(name)) is not None}
    return {**parts, **more}
