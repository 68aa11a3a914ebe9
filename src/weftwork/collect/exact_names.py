"""Topics that are exact names: a node's id, a passage's citation, or a title."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from weftwork.query import read_query
from weftwork.store.protocol import View


@dataclass(frozen=True, slots=True)
class Named:
    """Visible nodes that a topic names, and the text that says what it is about."""

    nodes: tuple[str, ...]
    meaning: str
    whole: bool = True
    """The text is their name and nothing else; False for a question that names them among other words."""


def named(view: View, text: str, now: datetime) -> Named | None:
    """The nodes that a topic names; None if it has to be searched for."""
    name = text.strip()
    by_id = view.nodes([name])
    if by_id:
        # An id means nothing to an embedding: the node's own words do.
        return Named((by_id[0].id,), by_id[0].title or by_id[0].text)
    cited = view.cited([name.strip("[]")])
    if cited:
        return Named((cited[0].node.id,), cited[0].passage.text or cited[0].node.title)
    titles = read_query(text, now).titles
    whole = view.find(name)
    by_title = tuple(dict.fromkeys([*whole, *(node for title in titles for node in view.find(title))]))
    return Named(by_title, text, bool(whole) or name.strip("[]") in titles) if by_title else None
