"""What collectors share: the view, the request, what the query says, and searches made once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from weft.embed.protocol import EmbeddingProvider
from weft.query import Question
from weft.request import Request
from weft.store.protocol import View
from weft.types import Event, Hit, Record, Step

if TYPE_CHECKING:
    from weft.embed.protocol import Vector

FEWEST_HITS, MOST_HITS, TOKENS_A_HIT = 15, 200, 250
RECENT_EVENTS = 50
"""How many of a user's own edits and views tell what they care about."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that a collector found; `record` is there when it does not come from the store."""

    key: int
    score: float
    why: str = ""
    distance: int | None = None
    path: tuple[Step, ...] = ()
    record: Record | None = None


@dataclass
class Inquiry:
    """One request on its way through the collectors."""

    view: View
    request: Request
    question: Question
    now: datetime
    embedder: EmbeddingProvider | None = None
    search_depth: int = 20
    """Hits that are read from an index, once, and shared by the collectors that need them; see `depth_for`."""
    _running: Future[list[Hit]] | None = None

    @cached_property
    def vector(self) -> Vector | None:
        """The query's embedding; None without a provider, a query, or any known word in it."""
        if self.embedder is None or not self.request.query.strip():
            return None
        vector = self.embedder.embed(self.request.query)
        return vector if vector.any() else None

    @cached_property
    def word_hits(self) -> list[Hit]:
        """Passages found by words."""
        if not self.request.query.strip():
            return []
        return self.view.search_words(self.request.query, limit=self.search_depth, filters=self.request.filters)

    @cached_property
    def edits(self) -> list[Event]:
        """The user's own latest edits."""
        return self.view.events("edit", limit=RECENT_EVENTS)

    @cached_property
    def views(self) -> list[Event]:
        """What the user looked at last."""
        return self.view.events("view", limit=RECENT_EVENTS)

    def start(self, pool: Executor) -> None:
        """Search by vector while the collectors read the database: it leaves the interpreter free most of the time."""
        if self.vector is not None:
            self._running = pool.submit(self._vector_search())

    @cached_property
    def vector_hits(self) -> list[Hit]:
        """Passages found by vector."""
        if self.vector is None:
            return []
        return self._running.result() if self._running is not None else self._vector_search()()

    def _vector_search(self) -> Callable[[], list[Hit]]:
        assert self.vector is not None and self.embedder is not None
        return self.view.vector_search(
            self.vector, model=self.embedder.model, limit=self.search_depth, filters=self.request.filters
        )


def depth_for(tokens: int) -> int:
    """How many hits of each kind a budget is worth: together about twice the passages that it can hold."""
    return min(MOST_HITS, max(FEWEST_HITS, tokens // TOKENS_A_HIT))


class Collector(Protocol):
    """Finds passages for one section of the context."""

    @property
    def name(self) -> str:
        """How the trace calls it."""

    @property
    def section(self) -> str:
        """Where its findings go."""

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Findings, the best first."""
