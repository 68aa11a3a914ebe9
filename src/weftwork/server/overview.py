"""A workspace at a glance: how much is in it, and questions that it can answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weftwork.engine import Weft
from weftwork.evaluate.suggest import drafts
from weftwork.store.protocol import View
from weftwork.types import CONTAINERS, MEMORY, PAGE, Filters, Node

QUESTIONS = 3
LATEST = 60
"""Nodes, those that changed last, whose titles and headings become questions."""
TRIED = 8
"""Questions that are asked to see whether they are answered."""
TOKENS = 1000
LONGEST = 90
"""Characters of a question that still reads at a glance."""
DOCUMENTS = ("document", "file")
PARTS = frozenset({
    PAGE, *CONTAINERS, "heading", "paragraph", "list_item", "message", "todo", "kanban_card", "db_row", "code", "table",
})  # fmt: skip
"""Types of nodes that people do not open by themselves."""
_BY_ITSELF = re.compile(r"(how|what|when|where|which|who|why|are|is|do|does|can|should)\b", re.IGNORECASE)


def overview(weft: Weft, user: str, workspace: str) -> dict[str, Any]:
    """Everything that the start of the page tells."""
    with weft.store.view(workspace, user) as view:
        counts = view.counts()
        memories = _tagged(view, MEMORY)
        kinds = opened_types(counts)
        changed = view.select(Filters(), limit=1)
        latest = view.select(Filters(types=kinds, as_of=weft.now()), limit=LATEST) if kinds else []
        drafted = _drafted(view.nodes([node.id for node in latest]))
    documents = sum(counts.get(f"nodes.{kind}", 0) for kind in DOCUMENTS)
    opened = sum(counts[f"nodes.{kind}"] for kind in kinds)
    return {
        "notes": max(0, opened - documents - memories),
        "documents": documents,
        "memories": memories,
        "passages": counts["passages"],
        "changed_at": changed[0].updated_at if changed else None,
        "questions": list(_answered(weft, user, workspace, drafted)),
    }


def opened_types(counts: Mapping[str, int]) -> frozenset[str]:
    """The types of nodes in a workspace that people open by themselves, by its counts."""
    return frozenset(name.removeprefix("nodes.") for name in counts if name.startswith("nodes.")) - PARTS


def _tagged(view: View, tag: str) -> int:
    return len(view.select(Filters(tags=frozenset({tag})), limit=10_000))


def _drafted(nodes: list[Node]) -> list[tuple[str, str]]:
    """Questions with their nodes: first those that are one in the words of their author, one for each node."""
    found: dict[str, tuple[str, str]] = {}
    for node in nodes:
        for draft in drafts(node):
            if len(draft.query) <= LONGEST:
                found.setdefault(node.id, (node.id, draft.query))
    return sorted(found.values(), key=lambda each: not _BY_ITSELF.match(each[1]))


def _answered(weft: Weft, user: str, workspace: str, drafted: list[tuple[str, str]]) -> Iterator[str]:
    """The first questions whose context has what they are about."""
    given, recipe = 0, weft.tools.recipes.get("default")
    for node, query in drafted[:TRIED]:
        request = weft.request(query, recipe, user=user, workspace=workspace, budget=TOKENS)
        context = weft.assemble(request, recipe, receipt=False)
        if any(item.candidate.node.id == node for item in context.items):
            given += 1
            yield query
        if given == QUESTIONS:
            return
