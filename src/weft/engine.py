"""The engine: a store, the parts of the pipeline, and the pipeline itself."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from weft.clock import Clock, Stopwatch, system_clock, whole_minute
from weft.collect import Collector, Inquiry, LexicalCollector, SemanticCollector, depth_for, gather
from weft.embed import get_embedder
from weft.embed.cache import EmbeddingCache
from weft.embed.cached import CachedEmbedder
from weft.embed.protocol import EmbeddingProvider
from weft.errors import InvalidInput, NotFound, UnknownName
from weft.excerpt import excerpt
from weft.fit import Fitting, fit
from weft.pack import check_budget
from weft.pack.truncate import STRATEGIES, Summarise
from weft.query import read_query
from weft.recipe import Recipe, get_recipe
from weft.render import Templates, explain
from weft.request import Request
from weft.score import Profile, collapse, gather_facts, score
from weft.split import embedded_text, prepare
from weft.store.protocol import Batch, Store, View
from weft.store.sqlite import SqliteStore
from weft.tokens import TokenCounter, get_counter
from weft.types import Budget, Context, Edge, Entry, Filters, Node, NodeInfo, Passage

DEFAULT_WORKSPACE = "main"
DEFAULT_USER = "me"
DEFAULT_BUDGET = 4000
CACHED_CONTEXTS = 256
NO_FILTERS = Filters()
SEARCH_DEPTH = 40
LOCAL_MODELS = ("wordllama-", "hashing-")
"""Models that compute a query faster than a disk could remember it."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the pipeline works with, whatever the request."""

    counter: TokenCounter
    embedder: EmbeddingProvider | None = None
    templates: Templates = field(default_factory=Templates)
    summarise: Summarise | None = None
    pool: Executor = field(default_factory=lambda: ThreadPoolExecutor(2, "weft"))
    """Threads for what can be searched side by side; none starts before it is needed."""


def assemble(view: View, request: Request, recipe: Recipe, tools: Tools, now: datetime) -> Context:
    """The context for a request, made of what this view's user may see."""
    watch = Stopwatch()
    question = read_query(request.query, now)
    inquiry = Inquiry(view, request, question, now, tools.embedder, depth_for(request.budget.total))
    with watch("collect"):
        inquiry.start(tools.pool)
        found = gather(inquiry, recipe.collectors)
    with watch("score"):
        facts = gather_facts(inquiry, found, frozenset(recipe.profile.weights))
        ranked, repeats = collapse(score(found, recipe.profile, facts))
    with watch("pack and render"):
        fitting = Fitting(request, question, recipe, tools.counter, tools.templates, tools.summarise)
        context = fit(fitting, ranked, repeats)
    return replace(context, timings=watch.timings)


@dataclass(frozen=True, slots=True)
class Added:
    """What a call of `add` changed."""

    nodes: int
    edges: int
    embedded: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage that answers a search."""

    node: NodeInfo
    passage: Passage
    score: float
    excerpt: str
    trail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a context would be, without its text."""

    tokens: int
    budget_used: float
    """Percentage of the budget."""
    truncated: bool
    nodes: tuple[str, ...]
    scores: Mapping[str, float]


class Weft:
    """Adds to a store, searches it, and assembles contexts from it. Thread-safe."""

    def __init__(self, store: Store, tools: Tools, *, clock: Clock = system_clock) -> None:
        self.store = store
        self.tools = tools
        self._clock = clock
        self._cache: OrderedDict[object, tuple[Context, object]] = OrderedDict()
        self._guard = threading.Lock()

    @classmethod
    def open(
        cls,
        target: str | Path,
        *,
        embedder: EmbeddingProvider | str | None = "static",
        tokenizer: str = "o200k_base",
        templates: Templates | None = None,
        summarise: Summarise | None = None,
        clock: Clock = system_clock,
        create: bool = True,
    ) -> Weft:
        """Open a store by its path; a new one gets the workspace "main" with the user "me"."""
        path = Path(target)
        if not create and not path.exists():
            raise NotFound(f"{path} does not exist: create it with  weft init")
        provider = get_embedder(embedder) if embedder is None or isinstance(embedder, str) else embedder
        counter = get_counter(tokenizer)
        store = _opened(path, clock)
        if provider is not None:
            lasting = None if provider.model.startswith(LOCAL_MODELS) else store.embedding_cache
            provider = CachedEmbedder(provider, EmbeddingCache(), lasting)
        tools = Tools(counter, provider, templates or Templates(), summarise)
        return cls(store, tools, clock=clock)

    def __enter__(self) -> Weft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the store."""
        self.tools.pool.shutdown()
        self.store.close()

    def create_workspace(self, workspace: str, *, owner: str = DEFAULT_USER, access: Iterable[str] = ("*",)) -> None:
        """Make a workspace; what has no access list of its own follows `access`."""
        self.store.create_workspace(workspace, owner=owner, access=frozenset(access))

    def add_user(self, user: str, *, groups: Iterable[str] = (), workspace: str = DEFAULT_WORKSPACE) -> None:
        """Make a user known to a workspace and set their groups."""
        with self.atomic(workspace) as batch:
            batch.add_user(user, groups)

    def add(self, nodes: Iterable[Node], edges: Iterable[Edge] = (), *, workspace: str = DEFAULT_WORKSPACE) -> Added:
        """Insert or replace nodes and edges, all of them or none; what is unchanged costs a hash."""
        entries = [prepare(node, self.tools.counter) for node in nodes]
        vectors = self._embed(entries, workspace)
        with self.atomic(workspace) as batch:
            changed = batch.put(entries)
            if vectors and self.tools.embedder is not None:
                batch.put_vectors(self.tools.embedder.model, vectors)
            linked = batch.link(edges)
        late = self._embed(entries, workspace) if changed else {}
        if late and self.tools.embedder is not None:
            # Another writer removed the last other node with such a text, and its vector, before this one came.
            with self.atomic(workspace) as batch:
                batch.put_vectors(self.tools.embedder.model, late)
        return Added(changed, linked, len(vectors) + len(late))

    def remove(self, ids: Iterable[str], *, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Remove nodes with everything below them."""
        with self.atomic(workspace) as batch:
            return batch.remove(ids)

    @contextmanager
    def atomic(self, workspace: str = DEFAULT_WORKSPACE) -> Iterator[Batch]:
        """Several writes that all happen, or none of them does."""
        with self.store.atomic(workspace) as batch:
            yield batch

    def catch_up(self, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Bring the indexes up to date now instead of before the next search."""
        embedder = self.tools.embedder
        self.store.catch_up(workspace, {} if embedder is None else {embedder.model: embedder.dimensions})

    def context(
        self,
        query: str = "",
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        budget: int | Budget = DEFAULT_BUDGET,
        recipe: str | Recipe = "default",
        **more: Any,
    ) -> Context:
        """The context for a query; `more` are the other fields of `Request`, such as focus, thread or filters."""
        chosen = get_recipe(recipe) if isinstance(recipe, str) else recipe
        if not isinstance(budget, Budget):
            check_budget(Budget(total=budget))
            budget = chosen.budget(budget)
        request = Request(query=_asked(query), workspace=workspace, user=user, budget=budget, **more)
        return self.assemble(request, chosen)

    def assemble(self, request: Request, recipe: Recipe) -> Context:
        """The context for a request; an equal request is answered from memory until something is written."""
        check_request(request)
        now = whole_minute(self._clock())
        with self.store.view(request.workspace, request.user) as view:
            parts = (recipe, self.tools.templates.get(recipe.template))
            key = (view.fingerprint, now, repr(request), *map(id, parts))
            with self._guard:
                if key in self._cache:
                    self._cache.move_to_end(key)
                    return self._cache[key][0]
            context = assemble(view, request, recipe, self.tools, now)
        with self._guard:
            # The parts are kept with what they made, so that no other object takes over their identity.
            self._cache[key] = (context, parts)
            while len(self._cache) > CACHED_CONTEXTS:
                self._cache.popitem(last=False)
        return context

    def preview(self, query: str = "", **options: Any) -> Preview:
        """What `context` would give for the same arguments, in figures."""
        context = self.context(query, **options)
        return Preview(
            tokens=context.tokens,
            budget_used=round(100 * context.tokens / context.budget, 1),
            truncated=any(decision.missing_tokens is not None for decision in context.trace),
            nodes=tuple(item.candidate.node.id for item in context.items),
            scores={item.candidate.node.id: item.candidate.score for item in context.items},
        )

    def explain(self, query: str = "", **options: Any) -> str:
        """Why the context for the same arguments is what it is: every candidate, in or out, and the reason."""
        return explain(self.context(query, **options))

    def search(
        self,
        query: str,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        limit: int = 10,
        mode: Literal["hybrid", "words", "vector"] = "hybrid",
        filters: Filters = NO_FILTERS,
    ) -> list[SearchResult]:
        """The passages that answer a query best, with an excerpt around what matched."""
        if mode not in SEARCHES:
            raise UnknownName("search mode", mode, SEARCHES)
        if not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"limit must be a whole number of at least 1, got {limit!r}")
        query = _asked(query)
        now = whole_minute(self._clock())
        request = Request(
            query=query,
            workspace=workspace,
            user=user,
            budget=Budget(total=DEFAULT_BUDGET),
            filters=filters,
        )
        with self.store.view(workspace, user) as view:
            inquiry = Inquiry(view, request, read_query(query, now), now, self.tools.embedder, max(limit, SEARCH_DEPTH))
            found = gather(inquiry, SEARCHES[mode])
            ranked = score(found, BY_RELEVANCE, gather_facts(inquiry, found, frozenset(BY_RELEVANCE.weights)))
        return [
            SearchResult(
                candidate.node,
                candidate.passage,
                candidate.score,
                excerpt(candidate.passage.text or candidate.node.title, query),
                candidate.trail,
            )
            for candidate in ranked[:limit]
        ]

    def read(self, reference: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> Node:
        """A node by its id, or by the citation id of one of its passages."""
        with self.store.view(workspace, user) as view:
            return view.nodes([_resolve(view, reference)])[0]

    def feedback(
        self, reference: str, useful: bool, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE
    ) -> None:
        """Say whether a source helped; `reference` is a node's id or a citation id."""
        with self.store.view(workspace, user) as view:
            node = _resolve(view, reference)
        with self.atomic(workspace) as batch:
            batch.give_feedback(user, node, useful, self._clock())

    def stats(self, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> dict[str, int]:
        """Counts of what a user may see."""
        with self.store.view(workspace, user) as view:
            return view.counts()

    def _embed(self, entries: Sequence[Entry], workspace: str) -> dict[str, Any]:
        """Vectors of the passages that have none yet, by digest."""
        embedder = self.tools.embedder
        if embedder is None:
            return {}
        texts = {
            passage.digest: embedded_text(entry.node.title, passage) for entry in entries for passage in entry.passages
        }
        known = self.store.known_vectors(workspace, embedder.model, list(texts))
        missing = {digest: text for digest, text in texts.items() if digest not in known}
        return dict(zip(missing, embedder.embed_batch(list(missing.values())), strict=True)) if missing else {}


def _asked(query: object) -> str:
    """A query as text that can be looked up and printed: a terminal may hand in bytes that are none."""
    if not isinstance(query, str):
        raise InvalidInput(f"the query must be text, got {query!r}")
    return query.encode("utf-8", "replace").decode("utf-8")


def _opened(path: Path, clock: Clock) -> SqliteStore:
    """The store at a path; a new one gets its first workspace."""
    store = SqliteStore(path, clock=clock)
    try:
        if not store.workspaces():
            with suppress(InvalidInput):  # another process was faster
                store.create_workspace(DEFAULT_WORKSPACE, owner=DEFAULT_USER)
    except BaseException:
        store.close()
        raise
    return store


BY_RELEVANCE = Profile("search", {"relevance": 1.0})
SEARCHES: dict[str, tuple[Collector, ...]] = {
    "hybrid": (LexicalCollector(), SemanticCollector()),
    "words": (LexicalCollector(),),
    "vector": (SemanticCollector(threshold=0.0),),
}


def check_request(request: Request) -> None:
    """Refuse a request that cannot be answered, before anything is read."""
    check_budget(request.budget)
    if not isinstance(request.query, str):
        raise InvalidInput(f"the query must be text, got {request.query!r}")
    if request.depth is not None and not 1 <= request.depth <= 5:
        raise InvalidInput(f"depth must be from 1 to 5, got {request.depth!r}")
    if request.truncation not in (*STRATEGIES, "summarize"):
        raise UnknownName("truncation strategy", request.truncation, STRATEGIES)


def _resolve(view: View, reference: str) -> str:
    """The id of a visible node that is meant by an id or a citation."""
    cited = view.cited([reference.strip("[]")])
    if cited:
        return cited[0].node.id
    if view.nodes([reference]):
        return reference
    raise NotFound(f"there is no node or citation {reference!r} in this workspace: find it with  weft search")
