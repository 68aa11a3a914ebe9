"""Searches for what is asked where nothing that is named could be walked from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Collector, Found, Inquiry


@dataclass(frozen=True, slots=True)
class ForQuestions:
    """Collects only if the query is a plain question: no focus, no topics of its own, and no name of a node."""

    inner: Collector
    section: str = "graph"
    vectors: bool = True

    @property
    def name(self) -> str:
        """How the trace calls it."""
        return self.inner.name

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """What the search finds, as if walks began there."""
        if not _is_question(inquiry):
            return []
        return [replace(found, distance=0) for found in self.inner.collect(inquiry)]


def _is_question(inquiry: Inquiry) -> bool:
    request = inquiry.request
    own = [topic for topic in request.topics if topic.text != request.query]
    return bool(request.query.strip()) and request.focus is None and not own and inquiry.named(request.query) is None
