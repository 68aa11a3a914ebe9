"""Citations of a context; their ids come from `weftwork.identity`, when text is stored."""

from __future__ import annotations

from collections.abc import Iterable

from weftwork.identity import citation_id
from weftwork.types import Citation, Excerpt

__all__ = ["citation_id", "citations_of"]


def citations_of(excerpts: Iterable[Excerpt]) -> tuple[Citation, ...]:
    """The citations of the excerpts, in their order, each id once."""
    citations: dict[str, Citation] = {}
    for item in (item for excerpt in excerpts for item in excerpt.items):
        node, passage = item.candidate.node, item.candidate.passage
        if passage.citation not in citations:
            citations[passage.citation] = Citation(
                id=passage.citation,
                node=node.id,
                type=node.type,
                title=node.title,
                source=node.source,
                start=passage.start,
                end=passage.end,
                score=item.candidate.score,
            )
    return tuple(citations.values())
