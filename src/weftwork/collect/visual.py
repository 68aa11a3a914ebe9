"""Collector of document pages by their page vectors."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.lexical import within
from weftwork.types import PAGE


@dataclass(frozen=True, slots=True)
class VisualCollector:
    """The pages with the nearest parts, lines of text or image patches, to the parts of the query."""

    limit: int | None = None
    """Most hits; None derives it from the budget."""
    name: str = "visual"
    section: str = "semantic"
    page_vectors: bool = True
    """Tells the engine to bring the vectors of pages up to date before the snapshot is taken."""

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """Best first; nothing without an embedder of pages."""
        if inquiry.visual is None:
            return []
        hits = inquiry.view.search_pages(
            inquiry.visual.embed_query(inquiry.request.query),
            model=inquiry.visual.model,
            limit=inquiry.search_depth if self.limit is None else self.limit,
            filters=within(inquiry.request.filters, frozenset({PAGE})),
        )
        return [Found(hit.key, hit.score, f"looks alike {hit.score:.2f}", "look") for hit in hits]
