"""The context for a message in a thread (thread contract)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace

from weftwork.answer import AnswerCheck
from weftwork.answer import check_answer as check_against
from weftwork.collect.files import TALK
from weftwork.collect.follow_up import LOOKED_BACK
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.thread.cache import ContextCache
from weftwork.faces.thread.citations import CitationManager
from weftwork.faces.thread.conversation import Asked, asked
from weftwork.faces.thread.values import Citation, ContextMetrics, PrimeContext, project
from weftwork.pack import Packer
from weftwork.query import Question, read_query
from weftwork.recipe import Recipe
from weftwork.types import Context, Filters

MAX_TOKENS = 4000
SYSTEM_PROMPT_TOKENS = 500
OPTIMIZERS = ("density", "optimal")
MOST_TOLD = 100
"""Contexts whose latencies were told and are not told again."""

log = logging.getLogger("weftwork.thread")


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
        optimizer: str | Packer | None = None,
        types: Iterable[str] = (),
        recipe: str | Recipe = "thread",
        track_metrics: Callable[[ContextMetrics], None] = lambda _: None,
    ) -> None:
        """`types` are the types of node that are searched, where they are others than files and their parts.

        `optimizer` is one of the contract's two, or a packer; without one it is the recipe's. `thread_recipe` makes a
        recipe with other limits.
        """
        if isinstance(optimizer, str) and optimizer not in OPTIMIZERS:
            raise InvalidInput(f"unknown optimizer {optimizer!r}: use one of {', '.join(OPTIMIZERS)}")
        self._weft = weft
        self._workspace = workspace
        chosen = weft.tools.recipes.get(recipe)
        self._recipe = chosen if optimizer is None else replace(chosen, packer=optimizer)
        self._budget = _whole("max_tokens", max_tokens) - _whole("system_prompt_tokens", system_prompt_tokens)
        self._filters = Filters(types=frozenset(_names("types", types)))
        self._track = track_metrics
        self.cache: ContextCache[PrimeContext] = ContextCache()
        self._told: deque[Context] = deque(maxlen=MOST_TOLD)

    async def build_prime_context(self, thread_id: str, user_message: str, user_id: str = DEFAULT_USER) -> PrimeContext:
        """The context for a message, made in a worker thread."""
        return await asyncio.to_thread(self.build, thread_id, user_message, user_id)

    def build(self, thread_id: str, user_message: str, user_id: str = DEFAULT_USER) -> PrimeContext:
        """The same, for callers that wait."""
        started = time.perf_counter()
        message = self._read(thread_id, user_message, user_id)
        excluded = frozenset(() if message.own is None else (message.own,))
        context = self._weft.context(
            message.query,
            user=user_id,
            workspace=self._workspace,
            budget=self._budget,
            recipe=self._recipe if message.query or not user_message.strip() else self._without_files,
            thread=thread_id,
            filters=replace(self._filters, exclude=excluded),
        )
        # The engine remembers contexts by all that they depend on, writes and the clock included: what was made of
        # the very same one still holds.
        key = (thread_id, user_id, user_message)
        prime = self.cache.get(key, lambda cached: cached.context is context)
        fresh = prime is None
        if prime is None:
            prime = project(context, self.analyze(message.query), self._weft.tools.counter, self._files(context))
            self.cache.set(key, prime)
        self._tell(self._metrics(prime, (time.perf_counter() - started) * 1000, fresh))
        return prime

    def _read(self, thread_id: str, user_message: str, user_id: str) -> Asked:
        """The message with what it refers to in its thread; refuse what is no thread."""
        if not isinstance(thread_id, str):
            raise InvalidInput(f"a thread is named by its id, got {thread_id!r}")
        if not isinstance(user_message, str):
            raise InvalidInput(f"the message must be text, got {user_message!r}")
        with self._weft.store.view(self._workspace, user_id) as view:
            for node in view.nodes([thread_id]):
                if node.type not in TALK:
                    raise InvalidInput(
                        f"{thread_id!r} is no thread but a {node.type}: start one with  weft.threads.create"
                    )
            recent = view.children(thread_id, LOOKED_BACK, last=True)
            return asked(user_message, view.nodes([message.id for message in recent]))

    def _files(self, context: Context) -> dict[str, str]:
        """The file that each passage stands in, by its citation."""
        with self._weft.store.view(context.workspace, context.user) as view:
            records = view.cited([decision.citation for decision in context.trace])
        return {record.passage.citation: record.document or record.node.id for record in records}

    @property
    def _without_files(self) -> Recipe:
        """The recipe for a courtesy: what the thread refers to, and its history."""
        collectors = [part for part in self._recipe.collectors if part.section in ("references", "history")]
        return replace(self._recipe, collectors=tuple(collectors))

    def _tell(self, metrics: ContextMetrics) -> None:
        log.info("Context assembly metrics %s", asdict(metrics))
        try:
            self._track(metrics)
        except Exception:  # a caller's code: whatever is wrong with it, the context is made
            log.exception("track_metrics failed")

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

        def count_use(citation: Citation) -> None:
            self._weft.threads.count_use([nodes[citation.id]], user=user, workspace=self._workspace)

        manager = CitationManager(count_use)
        manager.generate_citations(prime.items)
        return manager

    def check_answer(self, text: str, prime: PrimeContext) -> AnswerCheck:
        """Find the sources that an answer cites, makes up, or quotes without a citation."""
        return check_answer(text, prime)

    def record_feedback(self, context_item_id: str, useful: bool, user_id: str = DEFAULT_USER) -> None:
        """Say whether an item helped; its id, its citation or its node's id will do."""
        self._weft.feedback(context_item_id, useful, user=user_id, workspace=self._workspace)

    def _metrics(self, prime: PrimeContext, spent: float, fresh: bool) -> ContextMetrics:
        timings = prime.context.timings
        told = any(prime.context is context for context in self._told.copy())
        if not fresh or told or sum(timings.values()) > spent:  # nobody searched: it was remembered
            timings = {}
        if not told:
            self._told.append(prime.context)
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


def _whole(what: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{what} must be a whole number of 0 or more, got {value!r}")
    return value


def _names(what: str, values: Iterable[str]) -> list[str]:
    """Several names: a single text would be taken letter by letter."""
    names = [] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
    if isinstance(values, str) or any(not isinstance(name, str) for name in names):
        raise InvalidInput(f"{what} must be several names, got {values!r}: put them into a list")
    return names
