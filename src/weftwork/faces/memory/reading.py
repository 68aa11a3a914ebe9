"""Reading the memories of a store: searches and contexts, each as one user may see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from weftwork.clock import aware
from weftwork.embed.protocol import EmbeddingProvider, Vector
from weftwork.engine import DEFAULT_USER, Weft
from weftwork.errors import InvalidInput, UnknownName
from weftwork.faces.memory.formatter import as_template, similarity_for_score
from weftwork.faces.memory.options import MOST, ContextOptions, SearchOptions
from weftwork.faces.memory.recipe import RANKINGS, Expansion, Plan, Ranking, recipe_for, results_of
from weftwork.faces.memory.results import MissingVectors
from weftwork.faces.memory.types import ContextResult, SearchResult
from weftwork.recipe import MIN_SUPPORT
from weftwork.render import Template, Templates, variables
from weftwork.request import Request
from weftwork.types import MEMORY, PINNED, Budget, Context, Filters
from weftwork.write.embed import embed_waiting

METADATA = " ({{type}}, confidence: {{confidence}}, {{timestamp}})"
BULLETS = ("- ", "* ", "+ ")
SEARCH_LIMIT = 10
MOST_PINNED = 100
PINNED_OVERHEAD = 4
"""Tokens of the bullet and the line break of a memory."""
MOST_EMBEDDED = 2_000
"""Texts without a vector of the engine's model that the first query embeds; more are for a worker."""
DEFAULT_TEMPLATE = "chat"
DEFAULT_TOKENS = 2_000


@dataclass(frozen=True, slots=True)
class Question:
    """A query as text, or as a vector."""

    query: str = ""
    vector: tuple[float, ...] | None = None

    @classmethod
    def of(cls, query: str = "", vector: Sequence[float] | Vector | None = None) -> Question:
        """A question, checked."""
        if vector is not None:
            return cls("", as_vector(vector))
        if not isinstance(query, str) or not query.strip():
            raise InvalidInput(f"the query must be a text that is not empty, got {query!r}")
        return cls(query)


class Reader(Protocol):
    """Searches and contexts, of a store or of a server."""

    def register(self, template: Template) -> None:
        """Make a template known by its name."""

    def search(self, question: Question, workspace: str, options: SearchOptions) -> tuple[SearchResult, ...]:
        """The memories that answer a question, the most similar first."""

    def build(self, question: Question, workspace: str, options: ContextOptions) -> ContextResult:
        """The memories that answer a question, ranked and written within the token budget."""


class StoreReader:
    """The memories of a store. Thread-safe."""

    def __init__(self, weft: Weft, embedder: EmbeddingProvider | None, decay: Mapping[str, float]) -> None:
        self._templates = Templates([weft.tools.templates.get(name) for name in weft.tools.templates.names()])
        self._weft = Weft(weft.store, replace(weft.tools, embedder=embedder, templates=self._templates), clock=weft.now)
        self._decay = decay
        self._embedded: set[str] = set()

    def register(self, template: Template) -> None:
        """Make a template known by its name."""
        self._templates.register(template)

    def search(self, question: Question, workspace: str, options: SearchOptions) -> tuple[SearchResult, ...]:
        """The memories that answer a question, the most similar first."""
        ranking = RANKINGS["by_similarity"](Ranking().weights)
        plan = Plan(
            options.limit or SEARCH_LIMIT,
            contradictions=options.contradictions,
            ranking=ranking,
            min_score=options.min_score or 0.0,
        )
        request = self._request(question, workspace, options, DEFAULT_TOKENS)
        self._embed_waiting(request)
        with self._weft.store.view(workspace, request.user) as view:
            candidates = self._weft.rank(request, recipe_for(plan), view).candidates
            return results_of(view, candidates, ranking, self._expansion(options))

    def build(self, question: Question, workspace: str, options: ContextOptions) -> ContextResult:
        """The memories that answer a question, ranked and written within the token budget."""
        template = self._template(options)
        ranking = _ranking(options)
        depth = options.relationship_depth if options.include_relationships else 0
        plan = Plan(
            options.limit,
            depth,
            options.contradictions or "both",
            ranking,
            min_score=options.min_score or 0.0,
            pinned=options.pinned_tokens > 0,
            conversations=True,
            days="timestamp" not in variables(self._templates.get(template).item),
        )
        budget = DEFAULT_TOKENS if options.token_budget is None else options.token_budget
        request = self._request(question, workspace, options, budget)
        self._embed_waiting(request)
        pinned = self._pinned(request, options.pinned_tokens)
        request = replace(request, include=pinned, min_support=options.min_support)
        context = self._assembled(request, plan, template)
        with self._weft.store.view(workspace, request.user) as view:
            shown = [item.candidate for item in context.items]
            memories = results_of(view, shown, ranking, self._expansion(options))
        return ContextResult(
            context=context.text,
            token_count=context.tokens,
            memories=memories,
            truncated=context.truncated,
            template=template if isinstance(template, str) else template.name,
            warnings=context.warnings,
        )

    def _assembled(self, request: Request, plan: Plan, template: str | Template) -> Context:
        """Assemble, and without a limit search deeper until the budget is used or everything was found."""
        hits = 0
        least = MIN_SUPPORT if request.min_support is None else request.min_support
        while True:
            if isinstance(template, str):
                recipe = recipe_for(replace(plan, template=template))
            else:
                recipe = replace(recipe_for(plan), template=template)
            context = self._weft.assemble(request, recipe)
            unanswered = context.support is not None and context.support < least
            if plan.limit is not None or unanswered or context.truncated or not hits < len(context.trace) < MOST:
                return context
            hits = len(context.trace)
            plan = replace(plan, hits=2 * hits)

    def _pinned(self, request: Request, tokens: int) -> tuple[str, ...]:
        """The user's own pinned memories of the moment that fit into so many tokens, the latest first."""
        if not tokens:
            return ()
        moment = aware(request.filters.as_of or self._weft.now())
        filters = Filters(tags=frozenset({MEMORY, PINNED}), as_of=moment)
        count, chosen = self._weft.tools.counter.count, []
        with self._weft.store.view(request.workspace, request.user) as view:
            infos = [info for info in view.select(filters, limit=MOST_PINNED) if info.owner == request.user]
            for node in view.nodes([info.id for info in infos]):
                cost = count(node.text) + PINNED_OVERHEAD
                if cost <= tokens:
                    tokens -= cost
                    chosen.append(node.id)
        return tuple(chosen)

    def _embed_waiting(self, request: Request) -> None:
        """Embed the texts of a workspace that were written with another model, before its first query."""
        workspace, store, embedder = request.workspace, self._weft.store, self._weft.tools.embedder
        if embedder is None or workspace in self._embedded:
            return
        with store.view(workspace, request.user):
            pass  # nothing is embedded for one who is not known there
        waiting = store.waiting(workspace, embedder.model)
        if waiting > MOST_EMBEDDED:
            raise MissingVectors(
                f"{waiting:,} texts in {workspace!r} have no vector of {embedder.model!r} yet: "
                "embed them with  weftwork worker --once"
            )
        while waiting and embed_waiting(store, embedder, workspace):
            pass
        self._embedded.add(workspace)

    def _expansion(self, options: SearchOptions) -> Expansion | None:
        if not options.include_relationships:
            return None
        return Expansion(options.relationship_depth, aware(options.as_of or self._weft.now()))

    def _request(self, question: Question, workspace: str, options: SearchOptions, budget: int) -> Request:
        return Request(
            query=question.query,
            vector=question.vector,
            workspace=workspace,
            user=options.user or DEFAULT_USER,
            budget=Budget(total=budget),
            filters=options.filters(),
            decay=self._decay,
        )

    def _template(self, options: ContextOptions) -> str | Template:
        chosen = DEFAULT_TEMPLATE if options.template is None else options.template
        named = self._templates.get(as_template(chosen) if isinstance(chosen, Mapping) else chosen)
        template = similarity_for_score(named)
        if template is not named or isinstance(chosen, Mapping):
            chosen = template
        if options.include_metadata is None:
            return chosen
        item = _with_metadata(template.item) if options.include_metadata else _without_metadata(template.item)
        return replace(template, item=item, include_metadata=options.include_metadata)


def _ranking(options: ContextOptions) -> Ranking:
    if callable(options.ranker):
        return Ranking(options.ranking, function=options.ranker)
    if options.ranker not in RANKINGS:
        raise UnknownName("ranker", options.ranker, RANKINGS)
    return RANKINGS[options.ranker](options.ranking)


def as_vector(values: Sequence[float] | Vector) -> tuple[float, ...]:
    """The numbers of a vector; raises InvalidInput for anything else."""
    try:
        return tuple(float(value) for value in values)
    except (TypeError, ValueError) as error:
        raise InvalidInput("the vector must be a list of numbers: embed the query again") from error


def _shows_metadata(item: str) -> bool:
    return not {"type", "confidence", "timestamp"}.isdisjoint(variables(item))


def _with_metadata(item: str) -> str:
    return item if _shows_metadata(item) else item + METADATA


def _without_metadata(item: str) -> str:
    """The item without metadata: the content alone, after the same bullet, if it shows any."""
    bullet = item[:2] if item.startswith(BULLETS) else ""
    return f"{bullet}{{{{content}}}}" if _shows_metadata(item) else item
