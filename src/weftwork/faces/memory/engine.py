"""The memory contract's engine: asynchronous, with results instead of exceptions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from weftwork.clock import aware
from weftwork.embed.cache import DEFAULT_CACHE, CacheConfig, EmbeddingCache
from weftwork.embed.cached import CachedEmbedder
from weftwork.embed.protocol import AnyProvider, EmbeddingProvider, Vector
from weftwork.engine import DEFAULT_USER, LOCAL_MODELS, Weft
from weftwork.errors import DimensionError, InvalidInput, UnknownName
from weftwork.faces.memory.formatter import as_template, similarity_for_score
from weftwork.faces.memory.options import MOST, ContextOptions, SearchOptions, read_decay
from weftwork.faces.memory.rankers import RankingFunction
from weftwork.faces.memory.recipe import RANKINGS, Expansion, Plan, Ranking, recipe_for, results_of
from weftwork.faces.memory.results import Err, MissingVectors, Ok, Result, explained
from weftwork.faces.memory.types import MEMORY, PINNED, ContextPreview, ContextResult, SearchResult
from weftwork.pack import check_budget
from weftwork.render import Template, Templates, variables
from weftwork.request import Request
from weftwork.types import Budget, Context, Filters
from weftwork.write.embed import embed_waiting

T = TypeVar("T")

METADATA = " ({{type}}, confidence: {{confidence}}, {{timestamp}})"
BULLETS = ("- ", "* ", "+ ")
SEARCH_LIMIT = 10
MOST_PINNED = 100
PINNED_OVERHEAD = 4
"""Tokens of the bullet and the line break of a memory."""
MOST_EMBEDDED = 2_000
"""Texts without a vector of the engine's model that the first query embeds; more are for a worker."""
LOGGED = 200
"""Characters of a query that are logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEngineConfig:
    """The settings of an engine; only the store is required."""

    storage_client: Weft
    embedding_provider: AnyProvider | None = None
    """None takes the store's own."""
    expected_embedding_dimensions: int | None = None
    default_template: str = "chat"
    default_token_budget: int = 2000
    cache_config: CacheConfig | None = None
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("weftwork.memory"))
    user: str = DEFAULT_USER
    decay: Mapping[str, object] = field(default_factory=dict)
    """Days until a memory's freshness has halved, by type, or "never"."""


@dataclass(frozen=True, slots=True)
class _Question:
    query: str
    vector: tuple[float, ...] | None = None


class ContextEngine:
    """Searches memories and writes the context for a prompt. Thread-safe; every read is one user's."""

    def __init__(self, config: ContextEngineConfig) -> None:
        self._config = config
        self._logger = config.logger
        self._decay = read_decay(config.decay)
        check_budget(Budget(total=config.default_token_budget))
        if not isinstance(config.storage_client, Weft):
            raise InvalidInput(
                f"storage_client must be a Weft, got {type(config.storage_client).__name__}: "
                "over HTTP use  weftwork.client.RemoteMemories(client), which searches and writes contexts"
            )
        self._rankers: dict[str, RankingFunction] = {}
        self._embedded: set[str] = set()
        weft = config.storage_client
        self._templates = Templates([weft.tools.templates.get(name) for name in weft.tools.templates.names()])
        self._templates.get(config.default_template)
        embedder = _embedder(config)
        _check_dimensions(embedder, config.expected_embedding_dimensions)
        self._weft = Weft(weft.store, replace(weft.tools, embedder=embedder, templates=self._templates), clock=weft.now)

    def register_template(self, name: str, template: Template | Mapping[str, object]) -> None:
        """Make a template known by name; one of the same name is replaced."""
        self._templates.register(as_template(template, name))

    def register_ranker(self, name: str, ranker: RankingFunction) -> None:
        """Make a ranking known by name."""
        if not callable(ranker):
            raise InvalidInput(f"ranker {name!r} must be a function of results and options, got {ranker!r}")
        self._rankers[name] = ranker

    async def search(
        self, query: str, workspace_id: str, options: SearchOptions | None = None
    ) -> Result[tuple[SearchResult, ...]]:
        """The memories that answer a query, the most similar first."""
        return await self._answered("search", _Question(query), workspace_id, options, self._search)

    async def search_by_vector(
        self, vector: Sequence[float] | Vector, workspace_id: str, options: SearchOptions | None = None
    ) -> Result[tuple[SearchResult, ...]]:
        """The same for a query that was embedded before."""
        return await self._answered("search", vector, workspace_id, options, self._search)

    async def build_context(
        self, query: str, workspace_id: str, options: ContextOptions | None = None
    ) -> Result[ContextResult]:
        """The memories that answer a query, ranked and written within the token budget."""
        return await self._answered("build_context", _Question(query), workspace_id, options, self._build)

    async def build_context_by_vector(
        self, vector: Sequence[float] | Vector, workspace_id: str, options: ContextOptions | None = None
    ) -> Result[ContextResult]:
        """The same for a query that was embedded before."""
        return await self._answered("build_context", vector, workspace_id, options, self._build)

    async def preview_context(
        self, query: str, workspace_id: str, options: ContextOptions | None = None
    ) -> Result[ContextPreview]:
        """The result of `build_context` for the same arguments, with its figures."""
        return await self._answered("preview_context", _Question(query), workspace_id, options, self._preview)

    def search_now(
        self, query: str, workspace_id: str, options: SearchOptions | None = None
    ) -> tuple[SearchResult, ...]:
        """`search` in this thread; raises the errors that `search` returns."""
        return self._search(_Question(query), workspace_id, _checked(options))

    def build_context_now(self, query: str, workspace_id: str, options: ContextOptions | None = None) -> ContextResult:
        """`build_context` in this thread; raises the errors that `build_context` returns."""
        return self._build(_Question(query), workspace_id, _checked(options))

    async def _answered(
        self,
        name: str,
        asked: _Question | Sequence[float] | Vector,
        workspace: str,
        options: SearchOptions | None,
        answer: Callable[[_Question, str, ContextOptions], T],
    ) -> Result[T]:
        """Run in a worker thread; whatever fails becomes an error of the contract, and a line in the log."""
        try:
            question = asked if isinstance(asked, _Question) else _Question("", _as_vector(asked))
            return Ok(await asyncio.to_thread(answer, question, workspace, _checked(options)))
        except Exception as error:
            shown = (
                asked.query[:LOGGED] if isinstance(asked, _Question) and isinstance(asked.query, str) else "a vector"
            )
            self._logger.error(
                "%s failed: workspace=%r query=%r: %s: %s", name, workspace, shown, type(error).__name__, error
            )
            return Err(explained(error, by_vector=not isinstance(asked, _Question)))

    def _search(self, question: _Question, workspace: str, options: ContextOptions) -> tuple[SearchResult, ...]:
        ranking = RANKINGS["by_similarity"](options.ranking)
        plan = Plan(
            options.limit or SEARCH_LIMIT,
            contradictions=options.contradictions,
            ranking=ranking,
            min_score=options.min_score or 0.0,
        )
        request = self._request(question, workspace, options, self._config.default_token_budget)
        self._embed_waiting(request)
        with self._weft.store.view(workspace, request.user) as view:
            candidates = self._weft.rank(request, recipe_for(plan), view).candidates
            return results_of(view, candidates, ranking, self._expansion(options))

    def _build(self, question: _Question, workspace: str, options: ContextOptions) -> ContextResult:
        return self._built(question, workspace, options)[0]

    def _preview(self, question: _Question, workspace: str, options: ContextOptions) -> ContextPreview:
        result, context = self._built(question, workspace, options)
        return ContextPreview(
            context=result.context,
            token_count=result.token_count,
            memories=result.memories,
            truncated=result.truncated,
            template=result.template,
            warnings=result.warnings,
            memory_ids=tuple(ranked.memory.id for ranked in result.memories),
            ranking_scores={ranked.memory.id: ranked.rank or 0.0 for ranked in result.memories},
            budget_used=round(100 * context.tokens / context.budget, 1),
        )

    def _built(self, question: _Question, workspace: str, options: ContextOptions) -> tuple[ContextResult, Context]:
        template = self._template(options)
        ranking = self._ranking(options)
        depth = options.relationship_depth if options.include_relationships else 0
        plan = Plan(
            options.limit,
            depth,
            options.contradictions or "both",
            ranking,
            min_score=options.min_score or 0.0,
            pinned=options.pinned_tokens > 0,
            days="timestamp" not in variables(self._templates.get(template).item),
        )
        budget = self._config.default_token_budget if options.token_budget is None else options.token_budget
        request = self._request(question, workspace, options, budget)
        self._embed_waiting(request)
        request = replace(request, include=self._pinned(request, options.pinned_tokens))
        context = self._assembled(request, plan, template)
        with self._weft.store.view(workspace, request.user) as view:
            shown = [item.candidate for item in context.items]
            memories = results_of(view, shown, ranking, self._expansion(options))
        result = ContextResult(
            context=context.text,
            token_count=context.tokens,
            memories=memories,
            truncated=context.truncated,
            template=template if isinstance(template, str) else template.name,
            warnings=context.warnings,
        )
        return result, context

    def _assembled(self, request: Request, plan: Plan, template: str | Template) -> Context:
        """Assemble, and without a limit search deeper until the budget is used or everything was found."""
        hits = 0
        while True:
            if isinstance(template, str):
                recipe = recipe_for(replace(plan, template=template))
            else:
                recipe = replace(recipe_for(plan), template=template)
            context = self._weft.assemble(request, recipe)
            if plan.limit is not None or context.truncated or not hits < len(context.trace) < MOST:
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
                tokens -= count(node.text) + PINNED_OVERHEAD
                if tokens >= 0:
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

    def _expansion(self, options: ContextOptions) -> Expansion | None:
        if not options.include_relationships:
            return None
        return Expansion(options.relationship_depth, aware(options.as_of or self._weft.now()))

    def _request(self, question: _Question, workspace: str, options: ContextOptions, budget: int) -> Request:
        if question.vector is None and not (isinstance(question.query, str) and question.query.strip()):
            raise InvalidInput(f"the query must be a text that is not empty, got {question.query!r}")
        return Request(
            query=question.query,
            vector=question.vector,
            workspace=workspace,
            user=options.user or self._config.user,
            budget=Budget(total=budget),
            filters=options.filters(),
            decay=self._decay,
        )

    def _ranking(self, options: ContextOptions) -> Ranking:
        ranker = options.ranker
        if callable(ranker):
            return Ranking(options.ranking, function=ranker)
        if ranker in self._rankers:
            return Ranking(options.ranking, function=self._rankers[ranker])
        if ranker not in RANKINGS:
            raise UnknownName("ranker", ranker, (*RANKINGS, *self._rankers))
        return RANKINGS[ranker](options.ranking)

    def _template(self, options: ContextOptions) -> str | Template:
        chosen = self._config.default_template if options.template is None else options.template
        named = self._templates.get(as_template(chosen) if isinstance(chosen, Mapping) else chosen)
        template = similarity_for_score(named)
        if template is not named or isinstance(chosen, Mapping):
            chosen = template
        if options.include_metadata is None:
            return chosen
        item = _with_metadata(template.item) if options.include_metadata else _without_metadata(template.item)
        return replace(template, item=item, include_metadata=options.include_metadata)


def _embedder(config: ContextEngineConfig) -> EmbeddingProvider | None:
    """The provider behind a cache of the configured size, and for a paid one that of the store."""
    weft, provider = config.storage_client, config.embedding_provider
    own = weft.tools.embedder
    chosen: AnyProvider | None = provider or own
    if chosen is None or (provider is None and config.cache_config is None):
        return own
    if own is None or chosen.model != own.model:
        embedded = "without embeddings" if own is None else f"with the model {own.model!r}"
        raise InvalidInput(
            f"the store is opened {embedded}, and its memories have no vectors of {chosen.model!r}: "
            "open it with  Weft.open(path, embedder=provider)"
        )
    lasting = None if chosen.model.startswith(LOCAL_MODELS) else getattr(weft.store, "embedding_cache", None)
    return CachedEmbedder(chosen, EmbeddingCache(config.cache_config or DEFAULT_CACHE), lasting)


def _check_dimensions(embedder: EmbeddingProvider | None, expected: int | None) -> None:
    if expected is None:
        return
    if embedder is None:
        raise InvalidInput(f"{expected} dimensions are expected, but there is no embedding provider: give one")
    if embedder.dimensions != expected:
        raise DimensionError(
            f"{embedder.model!r} has {embedder.dimensions} dimensions, not the expected {expected}: "
            "give the provider that the memories were embedded with"
        )


def _as_vector(values: Sequence[float] | Vector) -> tuple[float, ...]:
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


def _checked(options: SearchOptions | None) -> ContextOptions:
    chosen = _as_context_options(options)
    chosen.check()
    return chosen


def _as_context_options(options: SearchOptions | None) -> ContextOptions:
    """Options of a search as those of a context, so that both go one way."""
    if isinstance(options, ContextOptions):
        return options
    if options is None:
        return ContextOptions()
    if not isinstance(options, SearchOptions):
        raise InvalidInput(f"options must be SearchOptions(...) or ContextOptions(...), got {options!r}")
    return ContextOptions(**{name: getattr(options, name) for name in SearchOptions.__slots__})
