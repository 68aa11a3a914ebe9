"""What a context cites; the ids themselves are made in `weftwork.identity`, when text is stored."""

from __future__ import annotations

from collections.abc import Iterable

from weftwork.identity import citation_id
from weftwork.types import Citation, Item

__all__ = ["citation_id", "citations_of"]


def citations_of(items: Iterable[Item]) -> tuple[Citation, ...]:
    """What the items cite, in their order, each id once."""
    found: dict[str, Citation] = {}
    for item in items:
        found.setdefault(item.candidate.passage.citation, _citation(item))
    return tuple(found.values())


def _citation(item: Item) -> Citation:
    candidate = item.candidate
    node, passage = candidate.node, candidate.passage
    return Citation(
        id=passage.citation,
        node=node.id,
        type=node.type,
        title=node.title,
        source=node.source,
        start=passage.start,
        end=passage.end,
        score=candidate.score,
    )
