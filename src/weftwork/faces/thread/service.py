"""The context for a message in a thread (thread contract)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from weftwork.answer import AnswerCheck
from weftwork.answer import check_answer as check_against
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.thread.cache import ContextCache
from weftwork.faces.thread.citations import CitationManager
from weftwork.faces.thread.values import ContextMetrics, PrimeContext, project
from weftwork.pack import Packer
from weftwork.query import Question, read_query
from weftwork.recipe import get_recipe
from weftwork.types import Context, Filters

MAX_TOKENS = 4000
SYSTEM_PROMPT_TOKENS = 500
OPTIMIZERS = ("density", "optimal")


class ContextAssemblyService:
    """Builds and caches prime contexts from one workspace, and records use and feedback.

    Thread-safe. A write to the workspace is seen by the next call, whatever is cached.
    """

    def __init__(
        self,
        weft: Weft,
        *,
        workspace: str = DEFAULT_WORKSPACE,
        max_tokens: int = MAX_TOKENS,
        system_prompt_tokens: int = SYSTEM_PROMPT_TOKENS,
        optimizer: str | Packer = "density",
        types: Iterable[str] = (),
        track_metrics: Callable[[ContextMetrics], None] = lambda _: None,
        cache: ContextCache[PrimeContext] | None = None,
    ) -> None:
        """`types` are the types of node that are searched as files, where they are others than usual.

        `optimizer` is one of the contract's two, or a packer.
        """
        if isinstance(optimizer, str) and optimizer not in OPTIMIZERS:
            raise InvalidInput(f"unknown optimizer {optimizer!r}: use one of {', '.join(OPTIMIZERS)}")
        self._weft = weft
        self._workspace = workspace
        recipe = get_recipe("thread")
        self._recipe = recipe if recipe.packer == optimizer else replace(recipe, packer=optimizer)
        self._budget = max_tokens - system_prompt_tokens
        self._filters = Filters(types=frozenset(types))
        self._track = track_metrics
        self.cache: ContextCache[PrimeContext] = ContextCache() if cache is None else cache

    async def build_prime_context(self, thread_id: str, user_message: str, user_id: str = DEFAULT_USER) -> PrimeContext:
        """The context for a message, made in a worker thread."""
        return await asyncio.to_thread(self.build, thread_id, user_message, user_id)

    def build(self, thread_id: str, user_message: str, user_id: str = DEFAULT_USER) -> PrimeContext:
        """The same, for callers that wait."""
        if not isinstance(thread_id, str):
            raise InvalidInput(f"a thread is named by its id, got {thread_id!r}")
        started = time.perf_counter()
        context = self._weft.context(
            user_message,
            user=user_id,
            workspace=self._workspace,
            budget=self._budget,
            recipe=self._recipe,
            thread=thread_id,
            filters=self._filters,
        )
        # The engine remembers contexts by all that they depend on, writes and the clock included: what was made of
        # the very same one still holds.
        key = (thread_id, user_id, user_message)
        prime = self.cache.get(key, lambda cached: cached.context is context)
        fresh = prime is None
        if prime is None:
            prime = project(context, self.analyze(user_message), self._weft.tools.counter)
            self.cache.set(key, prime)
        self._track(self._metrics(prime, (time.perf_counter() - started) * 1000, fresh))
        return prime

    def analyze(self, user_message: str) -> Question:
        """Parse a message: keywords, named files, tags, a period."""
        return read_query(user_message, self._weft.now())

    def extract_keywords(self, query: str) -> tuple[str, ...]:
        """The words of more than three letters that are not stop words, each once."""
        return self.analyze(query).keywords

    def invalidate(self, pattern: str | None = None) -> None:
        """Empty the cache, or remove the entries with this text in their thread, user or message."""
        self.cache.invalidate(pattern)

    def citation_manager(self, prime: PrimeContext) -> CitationManager:
        """The citations of an answer to this context; each that is marked as used counts for its source."""
        nodes = {f"[{item.id}]": item.metadata.node for item in prime.items}
        user = prime.context.user
        manager = CitationManager(lambda citation: self._count_use(user, nodes[citation.id]))
        manager.generate_citations(prime.items)
        return manager

    def check_answer(self, text: str, prime: PrimeContext) -> AnswerCheck:
        """Find the sources that an answer cites, makes up, or quotes without a citation."""
        return check_answer(text, prime)

    def record_feedback(self, context_item_id: str, useful: bool, user_id: str = DEFAULT_USER) -> None:
        """Say whether an item helped; its id, its citation or its node's id will do."""
        self._weft.feedback(context_item_id, useful, user=user_id, workspace=self._workspace)

    def _count_use(self, user: str, node: str) -> None:
        with self._weft.store.view(self._workspace, user) as view:
            visible = bool(view.nodes([node]))
        if visible:  # it may be gone, or hidden, by the time the answer is there
            with self._weft.atomic(self._workspace) as batch:
                batch.count_use(user, [node])

    def _metrics(self, prime: PrimeContext, spent: float, fresh: bool) -> ContextMetrics:
        timings = prime.context.timings
        if not fresh or sum(timings.values()) > spent:  # nobody searched: the engine, or this service, remembered it
            timings = {}
        return ContextMetrics(
            assembly_time=spent,
            items_retrieved=len(prime.context.trace),
            items_selected=len(prime.items),
            token_usage=prime.total_tokens,
            cache_hit_rate=self.cache.hit_rate,
            search_latency=timings.get("collect", 0.0),
            scoring_latency=timings.get("score", 0.0),
            optimization_latency=timings.get("pack", 0.0),
        )


def check_answer(text: str, context: PrimeContext | Context) -> AnswerCheck:
    """Check an answer against its context; see `weftwork.answer`."""
    return check_against(text, context.context if isinstance(context, PrimeContext) else context)
