"""Collector of the nearest passages by vector."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.lexical import within
from weftwork.types import Hit


@dataclass(frozen=True, slots=True)
class SemanticCollector:
    """The nearest passages by vector, above a threshold."""

    top_k: int | None = None
    """Most hits; None derives it from the budget."""
    threshold: float = 0.3
    types: frozenset[str] = frozenset()
    """Types of nodes, unless the request names others; empty means all."""
    name: str = "semantic"
    section: str = "semantic"
    vectors: bool = True
    """Tells the engine to begin the search by vector before the collectors run."""

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Nearest first; nothing without an embedding."""
        return [
            Found(hit.key, hit.score, f"similarity {hit.score:.2f}", "vector")
            for hit in self._hits(inquiry)
            if hit.score >= self.threshold
        ]

    def _hits(self, inquiry: Inquiry) -> list[Hit]:
        """The shared hits, or those of a search of its own where only some types count."""
        filters = within(inquiry.request.filters, self.types)
        if filters == inquiry.request.filters:
            return inquiry.vector_hits[: self.top_k]
        if inquiry.vector is None or inquiry.embedder is None:
            return []
        most = inquiry.search_depth if self.top_k is None else self.top_k
        search = inquiry.view.prepare_vector_search(
            inquiry.vector, model=inquiry.embedder.model, limit=most, filters=filters
        )
        return search()
