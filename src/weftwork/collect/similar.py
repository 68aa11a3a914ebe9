"""Collector of nodes that resemble the focus, where a task is broken down, planned or estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.query import TASKS


@dataclass(frozen=True, slots=True)
class SimilarCollector:
    """The nearest nodes of the focus's type; nothing without an embedding."""

    limit: int = 5
    share: float = 0.65
    """The least similarity, as a share of that of the nearest."""
    name: str = "similar"
    section: str = "semantic"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Nearest first."""
        focus, view, embedder = inquiry.request.focus, inquiry.view, inquiry.embedder
        if not inquiry.question.wants_similar:
            return []
        keys = [] if focus is None or embedder is None else view.passages([focus]).get(focus, [])
        if focus is None or embedder is None or not keys:
            return []
        (record,) = view.load(keys)
        vector = view.vectors([record.passage.digest], model=embedder.model).get(record.passage.digest)
        if vector is None or not vector.any():
            return []
        filters = inquiry.request.filters
        kind = TASKS if record.node.type in TASKS else frozenset({record.node.type})
        alike = replace(filters, types=kind, exclude=filters.exclude | {focus})
        hits = view.search_vector(vector, model=embedder.model, limit=self.limit, filters=alike)
        return [
            Found(hit.key, hit.score, f"resembles the focus {hit.score:.2f}", "similar")
            for hit in hits
            if hit.score >= self.share * hits[0].score
        ]
