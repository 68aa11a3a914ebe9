"""Trust: leaving out what deserves too little of it, and the account of what reads like instructions to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weftwork.provenance import Trust
from weftwork.request import Request
from weftwork.store.protocol import View
from weftwork.types import Context

MOST_NAMED = 5


def trusted(view: View, request: Request, least: Trust | None) -> Request:
    """The request without what deserves less trust than this, in every index and around every hit."""
    if least is None or least == "external":
        return request
    left_out = request.filters.exclude.union(view.below_trust(least))
    return replace(request, filters=replace(request.filters, exclude=left_out))


def with_marks(context: Context, marks: Mapping[int, tuple[str, ...]]) -> Context:
    """The context with the marks of what is shown in its trace, and a warning that names it."""
    shown = {
        (item.candidate.node.id, item.candidate.passage.citation): marks.get(item.candidate.key, ())
        for item in context.items
    }
    marked = list(dict.fromkeys(citation for (_, citation), found in shown.items() if found))
    if not marked:
        return context
    trace = tuple(
        replace(decision, marks=found) if (found := shown.get((decision.node, decision.citation))) else decision
        for decision in context.trace
    )
    named = ", ".join(f"[{citation}]" for citation in marked[:MOST_NAMED])
    more = f" and {len(marked) - MOST_NAMED} more" if len(marked) > MOST_NAMED else ""
    passages = "1 passage reads" if len(marked) == 1 else f"{len(marked)} passages read"
    warning = f"{passages} like instructions to a model: {named}{more}"
    return replace(context, trace=trace, warnings=(warning, *context.warnings))
