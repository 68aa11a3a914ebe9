"""Writing a bundle: its files first, then all of its nodes in one transaction, or nothing.

Only the texts of a bundle are held in memory: files go to disk as they come, and the version before is in force until
the transaction is committed. What exists already keeps its place and who may see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from weftwork.errors import InvalidInput
from weftwork.ingest.events import TIMESTAMP, Attachment, Bundle, Expected, Note
from weftwork.store.files import Incoming
from weftwork.types import FieldValue, Node

if TYPE_CHECKING:  # the process that parses documents imports this package, and needs no engine
    from weftwork.engine import Weft


@dataclass(frozen=True, slots=True)
class Progress:
    """Whom to tell that nodes were read, and that more are to come."""

    read: Callable[[int], None] = lambda _: None
    expected: Callable[[int], None] = lambda _: None


@dataclass(slots=True)
class _Taken:
    nodes: dict[str, Node] = field(default_factory=dict)
    attached: list[Attachment] = field(default_factory=list)
    """Without their data, which is on disk."""
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a bundle."""

    read: int = 0
    changed: int = 0
    notes: Sequence[Note] = ()


def write_bundle(weft: Weft, bundle: Bundle, workspace: str, progress: Progress) -> Written:
    """Add a bundle, or replace what is stored of it; nothing happens if it is there already.

    Raises Refused if it cannot be read to its end, with nothing changed.
    """
    files = weft.store.files(workspace)
    stored = weft.store.unchecked_fields(workspace, bundle.root)
    version = None if stored is None else stored.get("version")
    if version in bundle.versions and files.has(bundle.root, str(version)):
        progress.read(1)
        return Written(read=1 + len(weft.store.unchecked_children(workspace, bundle.root)))
    with files.incoming(bundle.root) as incoming:
        taken = _take(bundle, incoming, progress)
        fresh = str(taken.nodes[bundle.root].fields["version"])
        added = weft.now().isoformat()
        told: dict[str, dict[str, FieldValue]] = {name: {TIMESTAMP: added} for name in taken.nodes}
        for each in taken.attached:
            told[each.node][each.field] = files.relative(bundle.root, fresh, each.name)
        nodes = [replace(node, fields={**node.fields, **told[node.id]}) for node in taken.nodes.values()]
        entries = weft.writer.prepare(nodes)
        embedded = weft.writer.transaction(workspace, entries)  # others wait for what is being published
        with files.published(bundle.root, fresh, incoming):
            known = weft.store.unchecked_nodes(workspace, list(taken.nodes))
            gone = weft.store.unchecked_children(workspace, bundle.root) - taken.nodes.keys()
            with embedded as transaction:
                changed = transaction.batch.put(entry for entry in entries if entry.node.id not in known)
                changed += transaction.batch.rewrite(entry for entry in entries if entry.node.id in known)
                changed += transaction.batch.remove(name for name in gone if name.startswith(f"{bundle.root}#"))
    return Written(len(entries), changed, taken.notes)


def _take(bundle: Bundle, incoming: Incoming, progress: Progress) -> _Taken:
    taken = _Taken()
    for piece in bundle.read():
        match piece:
            case Node():
                taken.nodes[piece.id] = piece
                progress.read(1)
            case Attachment():
                incoming.write(piece.name, piece.data)
                taken.attached.append(replace(piece, data=b""))
            case Expected():
                progress.expected(piece.count)
            case Note():
                taken.notes.append(piece)
    if bundle.root not in taken.nodes:
        raise InvalidInput(f"{bundle.what} has no node {bundle.root!r}: correct its reader")
    return taken
