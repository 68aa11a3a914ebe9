"""Collector of nodes that the request, the thread or the query names."""

from __future__ import annotations

from dataclasses import dataclass

from weftwork.collect.inquiry import Found, Inquiry
from weftwork.collect.start_nodes import unknown_id
from weftwork.query import quoted

MOST_NAMED = 3
"""Nodes of one title that are all taken to be meant."""


@dataclass(frozen=True, slots=True)
class ReferencesCollector:
    """Included ids, the thread's explicit references, and ids, [[titles]] or paths in the query."""

    name: str = "references"
    section: str = "references"
    in_query: bool = True
    """True lets names in the query count, too: a walk that begins at them finds them itself."""

    def collect(self, inquiry: Inquiry) -> list[Found]:
        """The named nodes in order, all with score 1; a missing one is a warning."""
        request, view = inquiry.request, inquiry.view
        named: dict[str, str] = {node: "included by the request" for node in request.include}
        if request.thread is not None:
            for edge, node in view.neighbours(request.thread, types=("reference",), direction="out", limit=50):
                named.setdefault(node.id, f"reference of the thread {edge.label}".strip())
        for match in self._in_query(inquiry) if self.in_query else ():
            named.setdefault(match, "named in the query")
        admitted = {node: why for node, why in named.items() if node not in request.filters.exclude}
        keys = view.passages(list(admitted))
        inquiry.warnings += [
            f"{quoted(node)} is included by the request and does not exist in this workspace: check its id"
            for node in request.include
            if node in admitted and node not in keys
        ]
        return [
            Found(keys[node][0], 1.0, why, "reference", asked=True, by_id=node in request.include)
            for node, why in admitted.items()
            if node in keys
        ]

    def _in_query(self, inquiry: Inquiry) -> list[str]:
        """The nodes that the query names by [[title]], path, id, citation or as a whole."""
        nodes: list[str] = []
        for title in inquiry.question.titles:
            matches = inquiry.view.find(title)[:MOST_NAMED]
            if not matches and f"[[{title}]]" in inquiry.request.query:
                inquiry.warnings.append(f"nothing in this workspace is called {quoted(title)}")
            nodes += matches
        query = inquiry.request.query
        whole = inquiry.named(query) if query.strip() else None
        if whole is not None:
            return [*nodes, *whole.nodes[:MOST_NAMED]]
        inquiry.warnings += filter(None, [unknown_id(inquiry, query)])
        return nodes
