"""The summary of a page: how it begins, and what stands in it (workspace contract, createPageSummary)."""

from __future__ import annotations

from dataclasses import replace

from weftwork.store.protocol import View
from weftwork.types import Filters, NodeInfo, Record

OUTLINE = 20
"""How many children an outline names."""


def page_summary(view: View, page: Record, filters: Filters) -> Record:
    """A page's first passage with an outline of those children that the viewer may see, that hold and are not excluded.

    It keeps the passage's citation. The title is not repeated: each template has a place for titles.
    """
    near = view.children(page.node.id, OUTLINE + 1 + len(filters.exclude))
    children = [child for child in near if child.valid_at(filters.as_of) and child.id not in filters.exclude]
    begin = page.passage.text.strip()
    # A text is read only where the outline or the beginning needs it.
    texts = _first_texts(view, [child for child in children[:OUTLINE] if not begin or _is_bare_heading(child)])
    begin = begin or next((text for text in texts.values() if text), "")
    lines = [f"- {name}" for child in children[:OUTLINE] if (name := _name(child, texts.get(child.id, "")))]
    if lines and len(children) > OUTLINE:
        lines.append("- …")
    summary = "\n\n".join(part for part in (begin, "\n".join(lines)) if part)
    return replace(page, passage=replace(page.passage, text=summary))


def _name(child: NodeInfo, text: str) -> str:
    """A child's title, or the words of a heading that has none; other blocks have no place in an outline."""
    return child.title or (text.partition("\n")[0].strip("# ") if _is_bare_heading(child) else "")


def _is_bare_heading(child: NodeInfo) -> bool:
    return child.type.startswith("heading") and not child.title


def _first_texts(view: View, children: list[NodeInfo]) -> dict[str, str]:
    """How the children begin, in their order."""
    if not children:
        return {}
    keys = view.passages([child.id for child in children])
    records = view.load([key for child in children for key in keys.get(child.id, ())])
    return {record.node.id: record.passage.text.strip() for record in records}
