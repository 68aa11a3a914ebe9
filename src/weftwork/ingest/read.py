"""Reading one source: its pieces, checked, with the ids that its nodes have in the store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from weftwork.errors import InvalidInput
from weftwork.ingest.connectors.block_ids import MADE
from weftwork.ingest.connectors.protocol import Anchor, Document, Link, Named, Source, Yielded
from weftwork.ingest.events import Bundle, Note, Refused, Skipped
from weftwork.ingest.fold import fold_anchor
from weftwork.ingest.import_log import SourceDetails
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
    details: SourceDetails = field(default_factory=SourceDetails)
    gone: list[str] = field(default_factory=list)
    """Ids of nodes that are stored but no longer yielded."""
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


class Unsettled(Exception):
    """The source changed while it was read."""


def read_source(source: Source, name: str, before: SourceDetails | None, fingerprint: str | None = None) -> Draft:
    """Read a source; raise Unsettled if it changes each time.

    Raises Refused and OSError as `Source.read` does, and InvalidInput if the connector is not sound.
    """
    for _ in range(2):
        started = fingerprint or source.fingerprint()
        pieces = list(source.read(name))
        if source.fingerprint() == started:
            return _draft(source, name, started, pieces, before)
        fingerprint = None
    raise Unsettled("changed while it was read: add it again")


def _draft(source: Source, name: str, fingerprint: str, pieces: list[Yielded], before: SourceDetails | None) -> Draft:
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
        current = set(draft.details.nodes.values())
        draft.gone = [whole(name, stored) for stored in before.nodes.values() if stored not in current]
    return draft


def _refuse_unsound(draft: Draft, name: str) -> None:
    ids = [node.id for node in draft.nodes]
    if draft.document is None and name not in ids:
        raise (
            Refused("holds nothing that can be added")
            if not ids
            else InvalidInput(f"its connector gave no node the id {name!r}: correct the connector")
        )
    for node_id in ids:
        if node_id != name and not node_id.startswith(f"{name}#"):
            raise InvalidInput(
                f"its connector gave a node the id {node_id!r}, which is none below {name!r}: correct it"
            )
    if len(set(ids)) != len(ids):
        twice = next(node_id for node_id in ids if ids.count(node_id) > 1)
        raise InvalidInput(f"its connector gave two nodes the id {twice!r}: correct the connector")


def _note_links(draft: Draft, pieces: list[Yielded], names: Mapping[str, str]) -> None:
    """Record names, anchors, links and edges by the stored names of their nodes."""

    def local(node: str) -> str:
        stored = names.get(node, node)
        if stored != draft.id and stored not in stored_ids:
            raise InvalidInput(f"its connector refers to {node!r}, which it did not give: correct the connector")
        return _local(draft.id, stored)

    stored_ids = set(names.values())
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


def _stored_names(current: list[str], before: Mapping[str, str]) -> dict[str, str]:
    """The stored name of each node: its own, unless it replaces an edited block."""
    stored = {name: before[name] for name in current if name in before}
    if before and len(current) + len(before) <= MOST_ALIGNED:
        stored |= {new: before[old] for old, new in _edited(list(before), current)}
    taken = set(stored.values())
    for name in current:
        if name not in stored:
            stored[name] = free_name(name, taken, "-")
            taken.add(stored[name])
    return {name: stored[name] for name in current}


def free_name(name: str, taken: Collection[str], separator: str) -> str:
    """The name, with a number from 2 on if it is taken."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}{separator}{number}", number + 1
    return free


def _edited(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of blocks that replace as many others of the same kinds: they were edited."""
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
    """The local name of a node within its source; empty for the top."""
    return "" if node == top else node[len(top) + 1 :]
