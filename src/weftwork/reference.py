"""References by which a reader names a node, and their resolution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weftwork.collect.exact_names import bare, called, similar
from weftwork.errors import Ambiguous, InvalidInput, NotFound
from weftwork.render.quote import inline
from weftwork.store.protocol import View
from weftwork.types import Record

_MOST_NAMED = 20
_MOST_SUGGESTED = 3


@dataclass(frozen=True, slots=True)
class Referred:
    """The node that a reference means, and the passage if it was named by its citation."""

    node: str
    passage: Record | None = None


def resolve(view: View, reference: str, *, titles: bool = False) -> Referred:
    """The visible node with this id or citation, or where `titles` are taken, this title or source."""
    if not isinstance(reference, str):
        raise InvalidInput(f"a source is named by its id or its citation, got {reference!r}: use text")
    if view.nodes([reference]):
        return Referred(reference)
    name = bare(reference)
    cited = view.cited([name])
    if len({record.node.id for record in cited}) > 1:
        named = {record.passage.citation: f"[{record.passage.citation}] {_title(record)}" for record in cited}
        raise _ambiguous(reference, named)
    if cited:
        return Referred(cited[0].node.id, cited[0])
    matches = called(view, name) if titles and name else []
    if len(matches) > 1:
        named = {record.node.id: f"{inline(record.node.id)} ({_title(record)})" for record in matches}
        raise _ambiguous(reference, named)
    if matches:
        return Referred(matches[0].node.id)
    kinds = "node, citation, title or source" if titles else "node or citation"
    raise NotFound(
        f"there is no {kinds} {inline(reference, 80)!r} in this workspace: "
        + (did_you_mean(view, name) if titles else "") + "find it with  weftwork search"
    )  # fmt: skip


def did_you_mean(view: View, name: str) -> str:
    """A hint at the documents with the most similar titles; empty if there is none."""
    records = [record for record in similar(view, name) if record.document in ("", record.node.id)]
    titles = list(dict.fromkeys(inline(record.node.title, 80) for record in records if record.node.title.strip()))
    return f"did you mean {', '.join(map(repr, titles[:_MOST_SUGGESTED]))}? Or " if titles else ""


def _title(record: Record) -> str:
    title = inline(record.node.title, 80) or "untitled"
    above = " > ".join(inline(ancestor, 60) for ancestor in reversed(record.trail))
    return f"{title}, {inline(record.node.type, 20)}" + (f" in {above}" if above else "")


def _ambiguous(reference: str, meanings: Mapping[str, str]) -> Ambiguous:
    named = "; ".join(list(meanings.values())[:_MOST_NAMED])
    message = f"{inline(reference, 80)!r} may mean any of {len(meanings)}: {named}. Name one of them by its id"
    return Ambiguous(message, meanings)
