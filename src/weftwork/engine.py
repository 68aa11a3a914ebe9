"""The engine: a store, the parts of the pipeline, and the pipeline itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Unpack, overload

from weftwork.clock import Clock, Stopwatch, system_clock, whole_minute
from weftwork.collect import Inquiry, gather
from weftwork.collect.exact_names import bare
from weftwork.compose.compose import compose
from weftwork.compose.ordering import collapsed
from weftwork.compose.repeats import without_given
from weftwork.compose.trust import trusted, with_marks
from weftwork.context_cache import ContextCache
from weftwork.delta import Delta, EarlierContexts, compare
from weftwork.document import READ_TOKENS, DocumentText, read_document
from weftwork.embed import get_embedder, local_provider
from weftwork.embed.cached import with_caches
from weftwork.embed.lazy import Lazy
from weftwork.embed.protocol import AnyProvider
from weftwork.embed.visual import VisualEmbedder, get_visual_embedder
from weftwork.errors import InvalidInput, UnknownName
from weftwork.fit import Fitting, fit
from weftwork.lens import Lens, apply_lens
from weftwork.options import ContextOptions, RequestOptions, named_options
from weftwork.pack import check_budget
from weftwork.query import read_query
from weftwork.receipts import Receipts
from weftwork.recipe import SEARCHES, Recipe
from weftwork.reference import resolve
from weftwork.render import Templates, explain
from weftwork.request import Request
from weftwork.results import Added, AddedPath, Preview, SearchResult, why_ended
from weftwork.score import FactsOnDemand, score
from weftwork.score.rerank import reranked
from weftwork.score.support import nothing_found, supported_by
from weftwork.store.open import create_first_workspace, open_store
from weftwork.store.protocol import Batch, Store, View
from weftwork.surface import surface
from weftwork.text.snippet import excerpt
from weftwork.text.tokens import get_counter
from weftwork.text.truncate import Summarise
from weftwork.tools import DEFAULT_BUDGET, Tools
from weftwork.types import Budget, Candidate, Context, Decision, Edge, Filters, Node
from weftwork.validation import check_activity, check_request, dated, past_moment, valid_query
from weftwork.write.changeover import Changeover, Progress
from weftwork.write.commit import Writer
from weftwork.write.page_vectors import PageVectors
from weftwork.write.paths import read_path

if TYPE_CHECKING:
    from weftwork.turn import Compacted, Place, Reply, Turn, TurnOptions, Turns
    from weftwork.write.threads import Threads

DEFAULT_WORKSPACE = "main"
DEFAULT_USER = "me"
NO_FILTERS = Filters()
SEARCH_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of the collectors, the best first, and those left out."""

    inquiry: Inquiry
    candidates: list[Candidate]
    left_out: list[Decision]
    watch: Stopwatch


def rank(view: View, request: Request, recipe: Recipe, tools: Tools, now: datetime) -> Ranking:
    """Collect and score what this view's user may see."""
    watch = Stopwatch()
    question = read_query(request.query, now)
    if request.focus is not None:
        question = question.about_focus()
    inquiry = Inquiry(view, request, question, now, tools.embedder, recipe.hits or 0, tools.visual)
    with watch("collect"):
        if recipe.hits is None:
            inquiry.settle_depth()
        if any(getattr(collector, "vectors", False) for collector in recipe.collectors):
            inquiry.start(tools.pool)
        gathered = gather(inquiry, recipe.collectors)
    with watch("score"):
        scored = score(gathered, recipe.profile, FactsOnDemand(inquiry, gathered))
        scored = reranked(scored, inquiry, recipe.reranker or tools.reranker)
        candidates, left_out = (recipe.order or collapsed)(inquiry, scored)
    return Ranking(inquiry, candidates, left_out, watch)


def assemble(view: View, request: Request, recipe: Recipe, tools: Tools, now: datetime) -> Context:
    """Rank what this view's user may see, and fit the best of it into the budget; nothing without support."""
    request = trusted(view, request, request.trust or recipe.trust)
    ranking = rank(view, request, recipe, tools, now)
    inquiry, watch = ranking.inquiry, ranking.watch
    least = recipe.min_support if request.min_support is None else request.min_support
    fresh, repeated = without_given(inquiry, ranking.candidates)
    supported, candidates, dropped = supported_by(inquiry, fresh or ranking.candidates, least)
    candidates = candidates if fresh else []
    with watch("compose"):
        composed = compose(inquiry, candidates, unit=recipe.unit)
    fitting = Fitting(
        request, inquiry.question, recipe, tools.counter, tools.templates, composed.load, tools.summarise, watch
    )
    left_out = [*dropped, *repeated, *ranking.left_out, *composed.left_out]
    context = with_marks(fit(fitting, composed.offers, left_out), composed.marks)
    passages, _ = view.size()
    return replace(
        context,
        ended=why_ended(context, passages),
        support=supported,
        timings=watch.timings,
        warnings=(
            *inquiry.warnings,
            *(() if repeated else nothing_found(inquiry, candidates, passages)),
            *context.warnings,
        ),
    )


class Weft:
    """Adds to a store, searches it, and assembles contexts from it. Thread-safe."""

    def __init__(self, store: Store, tools: Tools, *, clock: Clock = system_clock) -> None:
        self.store = store
        self.tools = tools
        self.writer = Writer(store, tools.counter, tools.embedder)
        self._clock = clock
        self.context_cache = ContextCache()
        self.earlier = EarlierContexts(store)
        self._threads = Lazy(self._make_threads)
        self._turns = Lazy(self._make_turns)
        self._pages = PageVectors(tools.visual, store)
        self.receipts = Receipts(self)
        self._changeover = Changeover(store, local_provider)

    @property
    def threads(self) -> Threads:
        """The threads of all workspaces."""
        return self._threads.get()

    @property
    def turns(self) -> Turns:
        """The turns of threads."""
        return self._turns.get()

    @classmethod
    def open(
        cls,
        target: str | Path,
        *,
        embedder: AnyProvider | str | None = "static",
        visual: VisualEmbedder | str | None = "lines",
        tokenizer: str = "o200k_base",
        templates: Templates | None = None,
        summarise: Summarise | None = None,
        clock: Clock = system_clock,
        create: bool = True,
    ) -> Weft:
        """Open a store by its path or its address; a new one gets the workspace "main" with the user "me"."""
        chosen = get_embedder(embedder) if embedder is None or isinstance(embedder, str) else embedder
        counter = get_counter(tokenizer)
        store = open_store(target, clock=clock, create=create)
        create_first_workspace(store, DEFAULT_WORKSPACE, DEFAULT_USER)
        provider = None if chosen is None else with_caches(chosen, store.embedding_cache)
        looks = get_visual_embedder(visual, provider) if visual is None or isinstance(visual, str) else visual
        tools = Tools(counter, provider, templates or Templates(), summarise, visual=looks)
        return cls(store, tools, clock=clock)

    def __enter__(self) -> Weft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the store."""
        self.receipts.write_pending()
        self.tools.pool.shutdown()
        self.store.close()

    def now(self) -> datetime:
        """The time by this engine's clock."""
        return self._clock()

    # Imported when they are first used: who asks a single question needs neither.

    def _make_threads(self) -> Threads:
        from weftwork.write.threads import Threads  # noqa: PLC0415

        return Threads(self.store, self.writer, self.now, DEFAULT_WORKSPACE, DEFAULT_USER)

    def _make_turns(self) -> Turns:
        from weftwork.turn import Turns  # noqa: PLC0415

        return Turns(self, DEFAULT_WORKSPACE, DEFAULT_USER)

    def create_workspace(self, workspace: str, *, owner: str = DEFAULT_USER, access: Iterable[str] = ("*",)) -> None:
        """Create a workspace; `access` is the list of nodes that have none of their own."""
        self.store.create_workspace(workspace, owner=owner, access=frozenset(access))

    def add_user(self, user: str, *, groups: Iterable[str] = (), workspace: str = DEFAULT_WORKSPACE) -> None:
        """Make a user known to a workspace and set their groups."""
        with self.atomic(workspace) as batch:
            batch.add_user(user, groups)

    def add(
        self,
        nodes: Iterable[Node] | str | Path,
        edges: Iterable[Edge] = (),
        *,
        workspace: str = DEFAULT_WORKSPACE,
        in_place: bool = False,
        keep_access: bool = False,
    ) -> Added:
        """Insert or replace nodes and edges, all of them or none; or what a path holds, as `weftwork add` does.

        With `in_place`, the nodes must exist, and keep their parent, position, owner and access list; with
        `keep_access`, those that exist keep owner and list unless the node names others.
        """
        if isinstance(nodes, str | Path):
            return AddedPath(*read_path(self, nodes, workspace))
        entries = self.writer.prepare(nodes)
        with self.writer.transaction(workspace, entries) as transaction:
            batch = transaction.batch
            changed = batch.rewrite(entries) if in_place else batch.put(entries, keep_access=keep_access)
            linked = batch.link(edges)
        return Added(changed, linked, transaction.embedded)

    def remove(self, ids: Iterable[str], *, workspace: str = DEFAULT_WORKSPACE) -> int:
        """Remove nodes with everything below them."""
        with self.atomic(workspace) as batch:
            return batch.remove(ids)

    @contextmanager
    def atomic(self, workspace: str = DEFAULT_WORKSPACE) -> Iterator[Batch]:
        """Open a transaction: several writes that all happen, or none of them does.

        Texts that `add` writes within it are embedded when it is committed.
        """
        with self.writer.transaction(workspace) as transaction:
            yield transaction.batch

    def catch_up(self, workspace: str = DEFAULT_WORKSPACE) -> None:
        """Bring the indexes up to date now instead of before the next search."""
        embedders = (self.tools.embedder, self._searching(workspace).embedder)
        self.store.catch_up(workspace, {each.model: each.dimensions for each in embedders if each is not None})
        self._pages.catch_up(workspace)

    def changeover(self, workspace: str = DEFAULT_WORKSPACE) -> Progress | None:
        """The progress of the change to another embedding model; None where there is none."""
        return self._changeover.progress(workspace, self.tools.embedder)

    def _searching(self, workspace: str) -> Tools:
        return replace(self.tools, embedder=self._changeover.searched(workspace, self.tools.embedder))

    @overload
    def context(self, query: str = "", *, since: None = None, **options: Unpack[ContextOptions]) -> Context: ...

    @overload
    def context(self, query: str = "", *, since: str, **options: Unpack[ContextOptions]) -> Delta: ...

    @named_options(RequestOptions)
    def context(
        self,
        query: str = "",
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        budget: int | Budget | None = None,
        recipe: str | Recipe = "default",
        lens: str | Lens | None = None,
        since: str | None = None,
        remember: bool = False,
        **more: Unpack[RequestOptions],
    ) -> Context | Delta:
        """Assemble the context for a query.

        `more` are the other fields of `Request`, such as focus, thread or filters. With `since`, the id of an earlier
        context of the same user and thread, only the difference to it.
        """
        chosen = self.tools.recipes.get(recipe)
        request = self.request(query, chosen, user=user, workspace=workspace, budget=budget, lens=lens, **more)
        context = self.assemble(request, chosen)
        if since is not None:
            return self.since(since, context, thread=request.thread)
        self.earlier.note(context, request.thread, keep=remember)
        return context

    @named_options(RequestOptions)
    def request(
        self,
        query: str,
        recipe: Recipe,
        *,
        budget: int | Budget | None = None,
        lens: str | Lens | None = None,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        **more: Unpack[RequestOptions],
    ) -> Request:
        """The request for a query, with the recipe's and the engine's settings for what it leaves open."""
        if not isinstance(budget, Budget):
            total = self.default_budget(recipe) if budget is None else budget
            check_budget(Budget(total=total))
            budget = recipe.budget(total)
        more["decay"] = more.get("decay") or self.tools.decay
        request = Request(query=query, user=user, workspace=workspace, budget=budget, **more)
        if lens is None:
            return request
        check_request(request)
        return apply_lens(request, self.tools.lenses.get(lens))

    def default_budget(self, recipe: Recipe) -> int:
        """The tokens of a context by this recipe where a request names none."""
        return recipe.tokens or self.tools.budget

    def since(self, earlier: str, context: Context, *, thread: str | None = None) -> Delta:
        """Compare a context with an earlier one of the same user and thread, and remember it."""
        snapshot = self.earlier.recall(context, thread, earlier)
        self.earlier.note(context, thread, keep=True)
        with self.store.view(context.workspace, context.user) as view:
            seen = {record.passage.citation for record in view.cited([citation for _, citation in snapshot.values()])}
        return compare(earlier, snapshot, context, seen, self.tools.counter)

    def assemble(self, request: Request, recipe: Recipe, *, receipt: bool = True) -> Context:
        """The context for a request; an equal request is answered from memory until something is written.

        It leaves a receipt unless it is a part of something else that does.
        """
        context, version = self._assembled(request, recipe)
        if receipt:
            self.receipts.note(context, request, recipe, version)
        return context

    def turn(self, thread: str, message: str, **options: Unpack[TurnOptions]) -> Turn:
        """Post a user's message to a thread, and return what to send to the model for it, within one budget."""
        return self.turns.turn(thread, message, **options)

    def reply(self, thread: str, text: str, **where: Unpack[Place]) -> Reply:
        """Post the model's answer, check its citations against all that the thread was given, and count their use."""
        return self.turns.reply(thread, text, **where)

    def compact(self, thread: str, *, keep: int = 2_000, **where: Unpack[Place]) -> Compacted:
        """Shorten a thread's history to `keep` tokens; rules, decisions, open tasks and cited sources survive."""
        return self.turns.compact(thread, keep=keep, **where)

    def _assembled(self, request: Request, recipe: Recipe) -> tuple[Context, int]:
        """The context, and the version of the workspace that it is of."""
        moment = self._clock()
        asked, now = self._ready(request, recipe, moment)
        with self.store.view(request.workspace, request.user) as view:
            parts = (recipe, self.tools.templates.get(recipe.template))
            key = (view.fingerprint, now, repr(request), *map(id, parts))
            cached = self.context_cache.get(key, moment)
            if cached is not None:
                return cached, view.version
            context = assemble(view, asked, recipe, self._searching(request.workspace), now)
            if progress := self.changeover(request.workspace):
                context = replace(context, warnings=(*context.warnings, str(progress)))
            until = view.next_turn(moment) if request.filters.as_of is None else None
        self.context_cache.put(key, context, parts, moment, until)
        return context, view.version

    def rank(self, request: Request, recipe: Recipe, view: View | None = None) -> Ranking:
        """Collect and score for a request, without packing, as searches do.

        With a `view` of the same user and workspace, what is read from it afterwards is of the same snapshot.
        """
        asked, now = self._ready(request, recipe, self._clock())
        with nullcontext(view) if view is not None else self.store.view(request.workspace, request.user) as opened:
            return rank(opened, asked, recipe, self._searching(request.workspace), now)

    def _ready(self, request: Request, recipe: Recipe, moment: datetime) -> tuple[Request, datetime]:
        """The request with its date, once it can be answered, and the minute for which it is."""
        check_request(request)
        if any(getattr(collector, "page_vectors", False) for collector in recipe.collectors):
            self._pages.catch_up(request.workspace)
        asked = dated(replace(request, query=valid_query(request.query)), moment)
        return asked, whole_minute(asked.filters.as_of or moment)

    @named_options(ContextOptions)
    def preview(self, query: str = "", **options: Unpack[ContextOptions]) -> Preview:
        """The figures of the context for the same arguments."""
        with surface(""):  # its text is not handed out
            context = self.context(query, **options)
        return Preview(
            tokens=context.tokens,
            budget_used=round(100 * context.tokens / context.budget, 1),
            truncated=context.truncated,
            nodes=tuple(item.candidate.node.id for item in context.items),
            scores={item.candidate.node.id: item.candidate.score for item in context.items},
        )

    @named_options(ContextOptions)
    def explain(self, query: str = "", **options: Unpack[ContextOptions]) -> str:
        """Report the reasons behind the context for the same arguments, for every candidate."""
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
        """The passages that answer a query best, with an excerpt around the match."""
        if mode not in SEARCHES:
            raise UnknownName("search mode", mode, SEARCHES)
        if not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"limit must be a whole number of at least 1, got {limit!r}")
        query, budget = valid_query(query), Budget(total=DEFAULT_BUDGET)
        request = Request(query=query, workspace=workspace, user=user, budget=budget, filters=filters)
        ranked = self.rank(request, replace(SEARCHES[mode], hits=max(limit, SEARCH_DEPTH))).candidates
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

    def read(
        self,
        reference: str,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        start: str = "",
        tokens: int | None = READ_TOKENS,
        ids: bool = True,
    ) -> DocumentText:
        """A document, or the part of one that an id, a citation, a title or a source names, in reading order.

        To read on after `tokens`, pass `next` as `start`; None reads everything. Without
        `ids`, no citations stand in the text.
        """
        with self.store.view(workspace, user) as view:
            return read_document(view, reference, self.tools.counter, start=start, tokens=tokens, ids=ids)

    def node(self, reference: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> Node:
        """A single node by its id, or by the citation id of one of its passages."""
        with self.store.view(workspace, user) as view:
            return view.nodes([resolve(view, reference).node])[0]

    def feedback(
        self,
        reference: str,
        useful: bool,
        *,
        query: str | None = None,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
    ) -> None:
        """Say whether a source, by its id or citation, helped this user with questions like `query`.

        Without one, it is the question of the latest context or turn that gave them the source.
        """
        if not isinstance(useful, bool):
            raise InvalidInput(f"useful must be True or False, got {useful!r}")
        with self.store.view(workspace, user) as view:
            node = resolve(view, reference).node
        named = (node, bare(reference))
        asked = self.receipts.question_for(*named, user=user, workspace=workspace) if query is None else query
        with self.atomic(workspace) as batch:
            batch.give_feedback(user, node, useful, self._clock(), valid_query(asked).strip())

    def record(
        self,
        reference: str,
        kind: Literal["view", "edit"],
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        at: datetime | None = None,
    ) -> None:
        """Record that a user viewed or edited a node; `reference` is its id or a citation id."""
        check_activity(kind)
        moment = past_moment(at, self._clock())
        with self.atomic(workspace) as batch, self.store.view(workspace, user) as view:
            batch.record(user, resolve(view, reference).node, kind, moment)

    def stats(self, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE) -> dict[str, int]:
        """Counts of what a user may see."""
        with self.store.view(workspace, user) as view:
            return view.counts()
