"""What was asked for by name: in the request, in the thread, or in the query."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry


@dataclass(frozen=True, slots=True)
class ReferencesCollector:
    """Included ids, the thread's explicit references, and [[titles]] or paths in the query."""

    passages: int = 4
    """How much of a long referenced node is offered."""
    name: str = "references"
    section: str = "references"

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """All equally wanted, in the order in which they were named."""
        named: dict[str, str] = {node: "included by the request" for node in inquiry.request.include}
        if inquiry.request.thread is not None:
            for edge, node in inquiry.view.neighbours(
                inquiry.request.thread, types=("reference",), direction="out", limit=50
            ):
                named.setdefault(node.id, f"reference of the thread {edge.label}".strip())
        for title in inquiry.question.titles:
            for match in inquiry.view.find(title)[:3]:
                named.setdefault(match, "named in the query")
        wanted = {node: why for node, why in named.items() if node not in inquiry.request.filters.exclude}
        keys = inquiry.view.passages(list(wanted), limit=self.passages)
        return [
            Found(key, max(0.0, 1.0 - 0.05 * index), why, "reference", asked=node in inquiry.request.include)
            for node, why in wanted.items()
            for index, key in enumerate(keys.get(node, ()))
        ]
