"""What a topic names outright: a node by its id, a passage by its citation, or nodes by their title."""

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


def named(view: View, text: str, now: datetime) -> Named | None:
    """The nodes that a topic names; None if it has to be searched for."""
    wanted = text.strip()
    own = view.nodes([wanted])
    if own:
        # An id means nothing to an embedding: the node's own words do.
        return Named((own[0].id,), own[0].title or own[0].text)
    cited = view.cited([wanted.strip("[]")])
    if cited:
        return Named((cited[0].node.id,), cited[0].passage.text or cited[0].node.title)
    titles = (wanted, *read_query(text, now).titles)
    found = tuple(dict.fromkeys(node for title in titles for node in view.find(title)))
    return Named(found, text) if found else None
