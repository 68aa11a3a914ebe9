"""Searches for what is asked where nothing that is named could be walked from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Collector, Found, Inquiry


@dataclass(frozen=True, slots=True)
class ForQuestions:
    """Wrapper that collects only for a question: no focus, no topics, and more than the name of a node."""

    inner: Collector
    section: str = "graph"
    vectors: bool = True

    @property
    def name(self) -> str:
        """Its name in the trace."""
        return self.inner.name

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The inner collector's findings, as starts of a walk."""
        request = inquiry.request
        other_topics = [topic for topic in request.topics if topic.text != request.query]
        if not request.query.strip() or request.focus is not None or other_topics:
            return []
        named = inquiry.named(request.query)
        if named is not None and named.whole:
            return []
        return [replace(finding, distance=0) for finding in self.inner.collect(inquiry)]
