"""Writing a bundle: its files first, then all of its nodes in one transaction.

Only the texts of a bundle are held in memory: files go to disk as they come, and the previous version stays in force
until the commit. Existing nodes keep their position and their access list.
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
    """Progress callbacks: nodes read, and nodes still to come."""

    read: Callable[[int], None] = lambda _: None
    expected: Callable[[int], None] = lambda _: None


@dataclass(slots=True)
class _Content:
    nodes: dict[str, Node] = field(default_factory=dict)
    attached: list[Attachment] = field(default_factory=list)
    """Without their data, which is on disk."""
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Written:
    """The counts and notes of a written bundle."""

    read: int = 0
    changed: int = 0
    notes: Sequence[Note] = ()
    version: str = ""


def write_bundle(weft: Weft, bundle: Bundle, workspace: str, progress: Progress) -> Written:
    """Add a bundle or replace its stored version; a no-op if that version is stored already.

    Raises Refused if it cannot be read to its end, with nothing changed.
    """
    files = weft.store.files(workspace)
    stored = weft.store.unchecked_fields(workspace, bundle.root)
    version = None if stored is None else stored.get("version")
    if version in bundle.versions and files.has(bundle.root, str(version)):
        progress.read(1)
        return Written(1 + len(weft.store.unchecked_children(workspace, bundle.root)), version=str(version))
    with files.incoming(bundle.root) as incoming:
        content = _take(bundle, incoming, progress)
        fresh = str(content.nodes[bundle.root].fields["version"])
        added = weft.now().isoformat()
        added_fields: dict[str, dict[str, FieldValue]] = {name: {TIMESTAMP: added} for name in content.nodes}
        for attachment in content.attached:
            added_fields[attachment.node][attachment.field] = files.relative(bundle.root, fresh, attachment.name)
        nodes = [
            replace(
                node,
                fields={**node.fields, **added_fields[node.id]},
                origin="connector" if node.origin == "written" else node.origin,
            )
            for node in content.nodes.values()
        ]
        entries = weft.writer.prepare(nodes)
        embedded = weft.writer.transaction(workspace, entries)  # others wait for what is being published

        def committed() -> bool:
            now = weft.store.unchecked_fields(workspace, bundle.root)
            return now is not None and now.get("version") == fresh

        with files.published(bundle.root, fresh, incoming, committed):
            existing = weft.store.unchecked_nodes(workspace, list(content.nodes))
            gone = weft.store.unchecked_children(workspace, bundle.root) - content.nodes.keys()
            with embedded as transaction:
                changed = transaction.batch.put(entry for entry in entries if entry.node.id not in existing)
                changed += transaction.batch.rewrite(entry for entry in entries if entry.node.id in existing)
                changed += transaction.batch.remove(name for name in gone if name.startswith(f"{bundle.root}#"))
    return Written(len(entries), changed, content.notes, fresh)


def _take(bundle: Bundle, incoming: Incoming, progress: Progress) -> _Content:
    content = _Content()
    for piece in bundle.read():
        match piece:
            case Node():
                content.nodes[piece.id] = piece
                progress.read(1)
            case Attachment():
                incoming.write(piece.name, piece.data)
                content.attached.append(replace(piece, data=b""))
            case Expected():
                progress.expected(piece.count)
            case Note():
                content.notes.append(piece)
    if bundle.root not in content.nodes:
        raise InvalidInput(f"{bundle.what} has no node {bundle.root!r}: correct its reader")
    return content
