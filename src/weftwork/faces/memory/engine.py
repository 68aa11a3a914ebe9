"""The memory contract's engine: asynchronous, with results instead of exceptions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar, cast

from weftwork.embed.cache import DEFAULT_CACHE, CacheConfig, EmbeddingCache
from weftwork.embed.cached import with_caches
from weftwork.embed.protocol import AnyProvider, EmbeddingProvider, Vector
from weftwork.engine import Weft
from weftwork.errors import DimensionError, InvalidInput, UnknownName
from weftwork.faces.memory.formatter import as_template
from weftwork.faces.memory.options import ContextOptions, SearchOptions, read_decay
from weftwork.faces.memory.rankers import RankingFunction
from weftwork.faces.memory.reading import DEFAULT_TEMPLATE, DEFAULT_TOKENS, Question, Reader, StoreReader, as_vector
from weftwork.faces.memory.recipe import RANKINGS
from weftwork.faces.memory.remote import Server, ServerReader
from weftwork.faces.memory.results import Err, Ok, Result, explained
from weftwork.faces.memory.types import ContextPreview, ContextResult, SearchResult
from weftwork.pack import check_budget
from weftwork.render import Template
from weftwork.types import Budget

T = TypeVar("T")

LOGGED = 200
"""Characters of a query that are logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEngineConfig:
    """The settings of an engine; only the store is required."""

    storage_client: Weft | Server
    """A store, or the `Client` of a server, which then searches with its own model and settings."""
    embedding_provider: AnyProvider | None = None
    """None takes the store's own."""
    expected_embedding_dimensions: int | None = None
    default_template: str = DEFAULT_TEMPLATE
    default_token_budget: int = DEFAULT_TOKENS
    cache_config: CacheConfig | None = None
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("weftwork.memory"))
    user: str | None = None
    """The user who asks where the options name none; None for "me", and on a server for the user of the key."""
    decay: Mapping[str, object] = field(default_factory=dict)
    """Days until a memory's freshness has halved, by type, or "never"."""


class ContextEngine:
    """Searches memories and writes the context for a prompt. Thread-safe; every read is one user's."""

    def __init__(self, config: ContextEngineConfig) -> None:
        check_budget(Budget(total=config.default_token_budget))
        self._config = config
        self._logger = config.logger
        self._rankers: dict[str, RankingFunction] = {}
        self._reader = _reader(config)

    def register_template(self, name: str, template: Template | Mapping[str, object]) -> None:
        """Make a template known by name; one of the same name is replaced."""
        self._reader.register(as_template(template, name))

    def register_ranker(self, name: str, ranker: RankingFunction) -> None:
        """Make a ranking known by name."""
        if not callable(ranker):
            raise InvalidInput(f"ranker {name!r} must be a function of results and options, got {ranker!r}")
        self._rankers[name] = ranker

    async def search(
        self, query: str, workspace_id: str, options: SearchOptions | None = None
    ) -> Result[tuple[SearchResult, ...]]:
        """The memories that answer a query, the most similar first."""
        return await self._answered("search", query, workspace_id, options, self._search)

    async def search_by_vector(
        self, vector: Sequence[float] | Vector, workspace_id: str, options: SearchOptions | None = None
    ) -> Result[tuple[SearchResult, ...]]:
        """The same for a query that was embedded before."""
        return await self._answered("search", vector, workspace_id, options, self._search, by_vector=True)

    async def build_context(
        self, query: str, workspace_id: str, options: ContextOptions | None = None
    ) -> Result[ContextResult]:
        """The memories that answer a query, ranked and written within the token budget."""
        return await self._answered("build_context", query, workspace_id, options, self._build)

    async def build_context_by_vector(
        self, vector: Sequence[float] | Vector, workspace_id: str, options: ContextOptions | None = None
    ) -> Result[ContextResult]:
        """The same for a query that was embedded before."""
        return await self._answered("build_context", vector, workspace_id, options, self._build, by_vector=True)

    async def preview_context(
        self, query: str, workspace_id: str, options: ContextOptions | None = None
    ) -> Result[ContextPreview]:
        """The result of `build_context` for the same arguments, with its figures."""
        return await self._answered("preview_context", query, workspace_id, options, self._preview)

    def search_now(
        self, question: Question, workspace_id: str, options: SearchOptions | None = None
    ) -> tuple[SearchResult, ...]:
        """`search` in this thread; raises the errors that `search` returns."""
        return self._search(question, workspace_id, self._chosen(options))

    def build_context_now(
        self, question: Question, workspace_id: str, options: ContextOptions | None = None
    ) -> ContextResult:
        """`build_context` in this thread; raises the errors that `build_context` returns."""
        return self._build(question, workspace_id, self._chosen(options))

    async def _answered(
        self,
        name: str,
        asked: str | Sequence[float] | Vector,
        workspace: str,
        options: SearchOptions | None,
        answer: Callable[[Question, str, ContextOptions], T],
        *,
        by_vector: bool = False,
    ) -> Result[T]:
        """Run in a worker thread; whatever fails becomes an error of the contract, and a line in the log."""
        try:
            question = Question("", as_vector(cast(Vector, asked))) if by_vector else Question.of(cast(str, asked))
            return Ok(await asyncio.to_thread(answer, question, workspace, self._chosen(options)))
        except Exception as error:
            shown = asked[:LOGGED] if isinstance(asked, str) else "a vector" if by_vector else repr(asked)[:LOGGED]
            self._logger.error(
                "%s failed: workspace=%r query=%r: %s: %s", name, workspace, shown, type(error).__name__, error
            )
            return Err(explained(error, by_vector=by_vector))

    def _search(self, question: Question, workspace: str, options: ContextOptions) -> tuple[SearchResult, ...]:
        return self._reader.search(question, workspace, options)

    def _build(self, question: Question, workspace: str, options: ContextOptions) -> ContextResult:
        return self._reader.build(question, workspace, options)

    def _preview(self, question: Question, workspace: str, options: ContextOptions) -> ContextPreview:
        result = self._reader.build(question, workspace, options)
        return ContextPreview(
            **{field.name: getattr(result, field.name) for field in fields(ContextResult)},
            memory_ids=tuple(ranked.memory.id for ranked in result.memories),
            ranking_scores={ranked.memory.id: ranked.rank or 0.0 for ranked in result.memories},
            budget_used=round(100 * result.token_count / (options.token_budget or DEFAULT_TOKENS), 1),
        )

    def _chosen(self, options: SearchOptions | None) -> ContextOptions:
        """The options with the engine's defaults, and its rankers by their names; refused if they cannot be met."""
        chosen = _as_context_options(options)
        chosen.check()
        ranker, config = chosen.ranker, self._config
        if isinstance(ranker, str) and ranker not in RANKINGS and ranker not in self._rankers:
            raise UnknownName("ranker", ranker, (*RANKINGS, *self._rankers))
        return replace(
            chosen,
            ranker=self._rankers.get(ranker, ranker) if isinstance(ranker, str) else ranker,
            template=config.default_template if chosen.template is None else chosen.template,
            token_budget=config.default_token_budget if chosen.token_budget is None else chosen.token_budget,
            user=chosen.user or config.user,
        )


def _reader(config: ContextEngineConfig) -> Reader:
    """A reader of the store, or of the server that a client stands for."""
    weft, decay = config.storage_client, read_decay(config.decay)
    if isinstance(weft, Weft):
        embedder = _embedder(weft, config)
        _check_dimensions(embedder, config.expected_embedding_dimensions)
        weft.tools.templates.get(config.default_template)
        return StoreReader(weft, embedder, decay)
    if not callable(getattr(weft, "send", None)):
        raise InvalidInput(f"storage_client must be a Weft or a Client, got {type(weft).__name__}")
    given = ("embedding_provider", "expected_embedding_dimensions", "cache_config", "decay")
    own = [name for name in given if getattr(config, name)]
    if own:
        raise InvalidInput(
            f"a server searches with its own model and settings, and cannot be given {', '.join(own)}: "
            "set them in its weftwork.toml"
        )
    return ServerReader(weft)


def _embedder(weft: Weft, config: ContextEngineConfig) -> EmbeddingProvider | None:
    """The provider behind a cache of the configured size, and for a paid one that of the store."""
    provider, own = config.embedding_provider, weft.tools.embedder
    chosen: AnyProvider | None = provider or own
    if chosen is None or (provider is None and config.cache_config is None):
        return own
    if own is None or chosen.model != own.model:
        embedded = "without embeddings" if own is None else f"with the model {own.model!r}"
        raise InvalidInput(
            f"the store is opened {embedded}, and its memories have no vectors of {chosen.model!r}: "
            "open it with  Weft.open(path, embedder=provider)"
        )
    lasting = getattr(weft.store, "embedding_cache", None)
    return with_caches(chosen, lasting, EmbeddingCache(config.cache_config or DEFAULT_CACHE))


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


def _as_context_options(options: SearchOptions | None) -> ContextOptions:
    """Options of a search as those of a context, so that both go one way."""
    if isinstance(options, ContextOptions):
        return options
    if options is None:
        return ContextOptions()
    if not isinstance(options, SearchOptions):
        raise InvalidInput(f"options must be SearchOptions(...) or ContextOptions(...), got {options!r}")
    return ContextOptions(**{name: getattr(options, name) for name in SearchOptions.__slots__})
