"""Reading one source: what it yields, checked, with the ids that its nodes have in the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from weftwork.errors import InvalidInput
from weftwork.ingest.connectors.block_ids import MADE
from weftwork.ingest.connectors.protocol import Anchor, Document, Link, Named, Source, Yielded
from weftwork.ingest.events import Bundle, Note, Refused, Skipped
from weftwork.ingest.fold import fold_anchor
from weftwork.ingest.import_log import Details
from weftwork.ingest.links import whole
from weftwork.types import Edge, Node

MOST_ALIGNED = 4_000
"""Blocks of a source up to which edited ones are looked for: the search takes time that grows with their square."""


@dataclass(slots=True)
class Draft:
    """A source that was read and is to be written."""

    source: Source
    id: str
    fingerprint: str
    nodes: list[Node] = field(default_factory=list)
    document: Document | Bundle | None = None
    details: Details = field(default_factory=Details)
    gone: list[str] = field(default_factory=list)
    """Ids of nodes that are stored but no longer yielded."""
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Unsettled(Exception):
    """That a source changed while it was read."""


def read_source(source: Source, name: str, before: Details | None, fingerprint: str | None = None) -> Draft:
    """What a source holds; Unsettled if it changes each time that it is read.

    Raises Refused, OSError as `Source.read` does, and InvalidInput if the connector is not sound.
    """
    for _ in range(2):
        started = fingerprint or source.fingerprint()
        pieces = list(source.read(name))
        if source.fingerprint() == started:
            return _draft(source, name, started, pieces, before)
        fingerprint = None
    raise Unsettled("changed while it was read: add it again")


def _draft(source: Source, name: str, fingerprint: str, pieces: list[Yielded], before: Details | None) -> Draft:
    draft = Draft(source, name, fingerprint)
    for piece in pieces:
        match piece:
            case Node():
                draft.nodes.append(piece)
            case Document() | Bundle():
                draft.document = piece
            case Skipped():
                draft.skipped.append(piece)
            case Note():
                draft.notes.append(piece)
            case Link() | Named() | Anchor() | Edge():
                pass
    _refuse_unsound(draft, name)
    locals_ = [_local(name, node.id) for node in draft.nodes]
    draft.details.nodes = _stored_names(locals_, before.nodes if before else {})
    names = {whole(name, local): whole(name, stored) for local, stored in draft.details.nodes.items()}
    draft.nodes = [_renamed(node, names) for node in draft.nodes]
    draft.details.tags = {_local(name, node.id): list(node.tags) for node in draft.nodes if node.tags}
    _note_links(draft, pieces, names)
    if before:
        kept = set(draft.details.nodes.values())
        draft.gone = [whole(name, stored) for stored in before.nodes.values() if stored not in kept]
    return draft


def _refuse_unsound(draft: Draft, name: str) -> None:
    ids = [node.id for node in draft.nodes]
    if draft.document is None and name not in ids:
        raise (
            Refused("holds nothing that can be added")
            if not ids
            else InvalidInput(f"its connector gave no node the id {name!r}: correct the connector")
        )
    for each in ids:
        if each != name and not each.startswith(f"{name}#"):
            raise InvalidInput(f"its connector gave a node the id {each!r}, which is none below {name!r}: correct it")
    if len(set(ids)) != len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise InvalidInput(f"its connector gave two nodes the id {twice!r}: correct the connector")


def _note_links(draft: Draft, pieces: list[Yielded], names: Mapping[str, str]) -> None:
    """Put names, anchors, links and edges into the record, by the names under which their nodes are stored."""

    def local(node: str) -> str:
        found = names.get(node, node)
        if found != draft.id and found not in known:
            raise InvalidInput(f"its connector refers to {node!r}, which it did not give: correct the connector")
        return _local(draft.id, found)

    known = set(names.values())
    details = draft.details
    for piece in pieces:
        match piece:
            case Named():
                details.names.append((local(piece.node), piece.name, piece.kind))
            case Anchor():
                details.anchors.setdefault(fold_anchor(piece.name), local(piece.node))
            case Link():
                details.links.append(
                    (local(piece.source), piece.names, piece.anchor, piece.type, piece.label, piece.weight)
                )
            case Edge():
                details.inner.append((local(piece.source), local(piece.target), piece.type, piece.label, piece.weight))
            case _:
                pass


def _stored_names(found: list[str], before: Mapping[str, str]) -> dict[str, str]:
    """Under which name each node is stored: its own, unless it takes the place of one that was edited."""
    stored = {name: before[name] for name in found if name in before}
    if before and len(found) + len(before) <= MOST_ALIGNED:
        stored |= {new: before[old] for old, new in _edited(list(before), found)}
    taken = set(stored.values())
    for name in found:
        if name not in stored:
            free, number = name, 2
            while free in taken:
                free, number = f"{name}-{number}", number + 1
            stored[name] = free
            taken.add(free)
    return {name: stored[name] for name in found}


def _edited(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Blocks that stand where as many others of the same kinds stood: they were edited."""
    here, there = set(after), set(before)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for change, start, end, new_start, new_end in matcher.get_opcodes():
        old = [name for name in before[start:end] if name not in here]
        new = [name for name in after[new_start:new_end] if name not in there]
        if change == "replace" and len(old) == len(new):
            for one, other in zip(old, new, strict=True):
                if MADE in one and one.partition(MADE)[0] == other.partition(MADE)[0]:
                    yield one, other


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    parent = node.parent if node.parent is None else names.get(node.parent, node.parent)
    name = names[node.id]
    return node if (name, parent) == (node.id, node.parent) else replace(node, id=name, parent=parent)


def _local(top: str, node: str) -> str:
    """A node's name within its source; the top's is empty."""
    return "" if node == top else node[len(top) + 1 :]
