"""A workspace at a glance: how much is in it, and questions that it can answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weftwork.engine import Weft
from weftwork.store.protocol import View
from weftwork.types import CONTAINERS, MEMORY, PAGE, Filters, NodeInfo

QUESTIONS = 3
LATEST = 200
"""Documents and headings, those that changed last, whose titles become questions."""
DEEPEST = 20
"""Headings above a heading that are looked through for its document."""
HEADING = "heading"
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
_WORD = re.compile(r"\w{2,}")
_LETTER = re.compile(r"[^\W\d_]")
_BY_ITSELF = re.compile(r"(how|what|when|where|which|who|why|are|is|do|does|can|should)\b", re.IGNORECASE)


def overview(weft: Weft, user: str, workspace: str) -> dict[str, Any]:
    """Everything that the start of the page tells."""
    with weft.store.view(workspace, user) as view:
        counts = view.counts()
        memories = _tagged(view, MEMORY)
        kinds = opened_types(counts)
        changed = view.select(Filters(), limit=1)
        asked = kinds | {HEADING}
        drafted = _drafted(view, view.select(Filters(types=asked, as_of=weft.now()), limit=LATEST)) if kinds else []
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


def _drafted(view: View, latest: Iterable[NodeInfo]) -> list[tuple[str, str]]:
    """Questions with the documents that are to answer them, one for each; first those in the words of an author."""
    titles = [(node, " ".join(node.title.split())) for node in latest]
    often = Counter(title.casefold() for _, title in titles)
    drafted: dict[str, str] = {}
    for node, title in sorted(titles, key=lambda each: not _BY_ITSELF.match(each[1])):
        query = question_of(title)
        # What several notes have, such as "See also", asks for none of them.
        if query is None or len(query) > LONGEST or often[title.casefold()] > 1 or len(drafted) == TRIED:
            continue
        above = view.ancestors(node.id, DEEPEST) if node.type == HEADING else []
        document = next((each.id for each in above if each.type != HEADING), node.id)
        drafted.setdefault(document, query)
    return list(drafted.items())


def question_of(title: str) -> str | None:
    """A question that a title answers; None where it says too little."""
    plain = re.sub(r"[*_`\[\]#]+", "", title).strip(" .:")
    if " " not in plain:
        plain = re.sub(r"[-_]+", " ", plain)  # the name of a file
    if len(_WORD.findall(plain)) < 2 or not _LETTER.match(plain):
        return None
    if plain.endswith("?"):
        return plain
    return f"{plain}?" if _BY_ITSELF.match(plain) else f"What do we know about “{plain}”?"


def _answered(weft: Weft, user: str, workspace: str, drafted: list[tuple[str, str]]) -> Iterator[str]:
    """The first questions whose context has what they are about."""
    given, recipe = 0, weft.tools.recipes.get("default")
    for document, query in drafted:
        request = weft.request(query, recipe, user=user, workspace=workspace, budget=TOKENS)
        context = weft.assemble(request, recipe, receipt=False)
        if any(document in (item.candidate.node.id, item.candidate.document) for item in context.items):
            given += 1
            yield query
        if given == QUESTIONS:
            return
