"""The graph face: a topic or a node becomes a document of the nodes around it (graph contract)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from weftwork.clock import whole_minute
from weftwork.collect import GraphCollector
from weftwork.compose.ordering import BY_SETTINGS, Order
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.graph_document import (
    ContextDocument,
    ContextMeta,
    ContextNode,
    OverflowSummary,
    TokenUsage,
    header_of,
)
from weftwork.faces.graph_nodes import named_nodes, written_nodes
from weftwork.lens import Lens
from weftwork.pack import Overflow, check_budget
from weftwork.recipe import Recipe, get_recipe
from weftwork.render import FieldChoice
from weftwork.render.values import ALL_FIELDS, iso
from weftwork.request import DEFAULT_DEPTH, Topic
from weftwork.score import Profile
from weftwork.text.tokens import TokenCounter
from weftwork.types import CONTAINERS, Budget, Context
from weftwork.validation import check_depth

__all__ = [
    "Asked",
    "ContextAssembler",
    "ContextDocument",
    "ContextMeta",
    "ContextNode",
    "OverflowSummary",
    "TokenBudget",
    "as_document",
]

GRAPH = get_recipe("graph")
SUMMARY_BELOW = 500
"""A smaller budget holds names and types only."""
LEAST_SHARE = 5
"""The header may take one token in so many; a smaller budget goes without it."""
MOST_COUNTED = 999
"""As many nodes as the header is priced for."""
REACHED, FOLLOWED = 100, 50
"""The nodes that a walk reaches, and the neighbours of one that it follows, for each 4,000 tokens of a large budget."""
NAMES_ONLY = f"a budget under {SUMMARY_BELOW} tokens holds names and types only: give {SUMMARY_BELOW} or more"


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The tokens of a document, and their division."""

    max_tokens: int = 4000
    header_reserve: int = 200
    """The most tokens of the list of nodes that did not fit; the header itself is counted, not estimated."""
    min_per_node: int = 50
    """With fewer tokens left, a node is named in one line instead of being written out."""

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

        `focus` is a node to start from as well, `limit` the most nodes that are reached, `hub_limit` the most of
        one's neighbours that are followed; `routes` tells the way to each; `more` are fields of `Request`.
        """
        topics = _topics(query)
        if not topics and focus is None:
            raise InvalidInput("there is nothing to start from: give a topic, a node's id or a focus")
        check_depth(depth)
        chosen = self._weft.tools.lenses.get(lens)
        budget = self._budget.max_tokens if max_tokens is None else max_tokens
        check_budget(Budget(total=budget))
        limits = _walk_limits(more, budget)
        counter = self._weft.tools.counter
        asked_depth = min(depth, chosen.max_depth)
        query = "; ".join(topic.text for topic in topics)
        header = _header_tokens(query or focus or "", chosen.name, asked_depth, budget, counter)
        context = self._weft.context(
            query,
            workspace=workspace,
            user=user,
            budget=budget - header,
            recipe=_recipe(self._weft.tools.recipes.get("graph").order, _is_small(budget), self._budget, limits),
            lens=chosen,
            depth=depth,
            show_fields=include_fields,
            topics=topics,
            focus=focus,
            **more,
        )
        document = as_document(
            self._weft,
            context,
            Asked(
                query=context.query or focus or "",
                topics=topics,
                lens=chosen.name,
                depth=asked_depth,
                fields=FieldChoice(include_fields, (*more.get("key_fields", ()), *chosen.include_fields)),
                profile=GRAPH.profile,
                warnings=_warnings(budget, depth, chosen),
                names_only=_is_small(budget),
            ),
        )
        return _headed(document, budget, counter, headed=bool(header and document.markdown))


def _walk_limits(more: dict[str, Any], budget: int) -> tuple[int | None, int | None]:
    """Take the options of the walk out of `more`: its limits, and whether routes are told.

    The usual limits are for the usual budget; a multiple of it has as many times as much.
    """
    limits = {name: more.pop(name, None) for name in ("limit", "hub_limit")}
    for name, value in limits.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise InvalidInput(f"{name} must be a whole number of at least 1, got {value!r}")
    if more.pop("routes", False):
        more["show"] = frozenset(more.get("show", ())) | {"route"}
    times = budget // TokenBudget().max_tokens
    if times > 1:
        return limits["limit"] or times * REACHED, limits["hub_limit"] or times * FOLLOWED
    return limits["limit"], limits["hub_limit"]


def _header_tokens(query: str, lens: str, depth: int, budget: int, counter: TokenCounter) -> int:
    """The most that the header may count; 0 where the budget is too small for one."""
    widest = TokenUsage(budget, budget, MOST_COUNTED, MOST_COUNTED, MOST_COUNTED)
    tokens = counter.count(header_of(query, lens, depth, widest, ()))
    return tokens if tokens <= budget // LEAST_SHARE else 0


def _headed(document: ContextDocument, budget: int, counter: TokenCounter, *, headed: bool) -> ContextDocument:
    """The document under its header, with as many notes as fit; the header says how much both count."""
    meta, notes = document.meta, document.meta.notes
    whole, context = meta.tokens, document.context
    # The text lists fewer than the document knows of.
    listed = len(context.overflow) + sum(excerpt.form == "line" or not document.nodes for excerpt in context.excerpts)
    silent = {node.id for node in document.overflow if node.type in CONTAINERS}
    unlisted = max(0, whole.nodes_summarized + whole.nodes_omitted - listed - len(silent))
    usage = replace(whole, budget=budget, nodes_summarized=listed, nodes_omitted=unlisted)
    text = document.markdown
    while headed:
        for _ in range(4):
            text = header_of(meta.query, meta.lens, meta.depth, usage, notes) + document.markdown
            used = counter.count(text)
            if used == usage.used:
                break
            usage = replace(usage, used=used)
        if used <= budget:
            break
        headed, notes, text = bool(notes), notes[:-1], document.markdown
    usage = replace(whole, budget=budget, used=counter.count(text))
    return replace(document, meta=replace(meta, tokens=usage), markdown=text, headed=headed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The parts of a document that its context does not have."""

    query: str = ""
    topics: tuple[Topic, ...] = ()
    lens: str = "general"
    depth: int = 0
    fields: FieldChoice = ALL_FIELDS
    profile: Profile | None = None
    """The profile for the components of a score; None for the plain signals."""
    warnings: Sequence[str] = ()
    names_only: bool = False


def as_document(weft: Weft, context: Context, asked: Asked) -> ContextDocument:
    """A context of any recipe as the graph contract's document."""
    nodes = () if asked.names_only else written_nodes(context, asked.fields, asked.profile)
    with weft.store.view(context.workspace, context.user) as view:
        overflow = named_nodes(context, view, nodes)
    meta = ContextMeta(
        query=asked.query or context.query,
        workspace=context.workspace,
        lens=asked.lens,
        tokens=_usage(context, nodes, overflow),
        assembled_at=iso(whole_minute(weft.now())),
        backend=type(weft.store).__name__.removesuffix("Store").lower(),
        depth=asked.depth,
        topics=asked.topics,
        embeddings=_used_embeddings(context, weft),
        sampled_hubs=_hubs(context),
        warnings=(*asked.warnings, *context.warnings),
    )
    return ContextDocument(meta, nodes, overflow, context.text, context)


def _topics(query: str | Sequence[str | Topic]) -> tuple[Topic, ...]:
    """The topics of a query; none if it is empty."""
    if isinstance(query, str):
        return (Topic(query),) if query.strip() else ()
    if not isinstance(query, Sequence):
        raise InvalidInput(f"the query must be text or a list of topics, got {query!r}")
    return tuple(topic if isinstance(topic, Topic) else Topic(topic) for topic in query)


def _is_small(budget: object) -> bool:
    return isinstance(budget, int) and budget < SUMMARY_BELOW


@lru_cache(maxsize=64)
def _recipe(order: Order | None, small: bool, budget: TokenBudget, limits: tuple[int | None, int | None]) -> Recipe:
    """The graph recipe for a budget and for limits; the same object each time, since contexts are cached by it."""
    changes = {name: value for name, value in zip(("limit", "hub_limit"), limits, strict=True) if value is not None}
    parts = tuple(
        replace(part, **changes) if isinstance(part, GraphCollector) else part  # type: ignore[arg-type]
        for part in GRAPH.collectors
    )
    graph = replace(GRAPH, order=order)
    if not small:
        packer = Overflow(reserve=budget.header_reserve, least=budget.min_per_node, shortens=True)
        return replace(graph, collectors=parts, packer=packer)
    once = tuple(replace(part, passages=1) for part in parts if isinstance(part, GraphCollector))
    return replace(graph, collectors=once, packer="overflow", template="outline", lines=False)


def _warnings(budget: int, depth: int, lens: Lens) -> list[str]:
    warnings = []
    if _is_small(budget):
        warnings.append(NAMES_ONLY)
    if depth > lens.max_depth:
        warnings.append(f"depth {depth} was lowered to {lens.max_depth}, the most of lens {lens.name!r}")
    return warnings


def _used_embeddings(context: Context, weft: Weft) -> bool:
    """Return True if similarity had a part in the scores."""
    if not context.trace:
        return weft.tools.embedder is not None
    return any({"likeness", "similarity", "semantic"} & decision.signals.keys() for decision in context.trace)


def _hubs(context: Context) -> tuple[str, ...]:
    candidates = [item.candidate for excerpt in (*context.excerpts, *context.overflow) for item in excerpt.items]
    return tuple(sorted({hub for candidate in candidates for hub in candidate.hubs}))


def _usage(context: Context, nodes: Sequence[ContextNode], overflow: Sequence[OverflowSummary]) -> TokenUsage:
    named = {node.id for node in nodes} | {node.id for node in overflow}
    reached = {decision.node for decision in context.trace if not decision.reason.startswith(BY_SETTINGS)}
    return TokenUsage(context.budget, context.tokens, len(nodes), len(overflow), len(reached - named))
