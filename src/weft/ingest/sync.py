"""Following a folder: what changed is indexed again, what was renamed keeps its id, what is gone is removed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.engine import DEFAULT_USER, DEFAULT_WORKSPACE, Weft
from weft.errors import NotFound
from weft.identity import text_hash
from weft.ingest.files import identity, read_files, shown
from weft.ingest.load import BATCH, load, refuse_another_folder
from weft.ingest.pieces import Bundle, Skipped
from weft.store.protocol import View
from weft.types import Node, NodeInfo

MANY = 1_000_000


@dataclass(slots=True)
class Synced:
    """What following a folder came to, in files and folders."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: list[Skipped] = field(default_factory=list)


def sync(weft: Weft, root: Path, *, workspace: str = DEFAULT_WORKSPACE, user: str = DEFAULT_USER) -> Synced:
    """Make the workspace agree with a folder, as far as the user may see it.

    Content decides, by its hash: a file that was only touched is left alone. One that stands elsewhere with the same
    content was moved: it keeps its id, its links, its access list and what readers said of it. What cannot be
    opened now is not taken for gone; what is no text any more is. Documents are read again when they changed; one that
    was renamed is another.
    """
    if not root.is_dir():
        raise NotFound(f"{root} is no folder: give one to follow, or add single files with  weft add")
    pieces = list(read_files(root))
    read = {piece.id: piece for piece in pieces if isinstance(piece, Node)}
    documents = {piece.root for piece in pieces if isinstance(piece, Bundle)}
    skipped = [piece for piece in pieces if isinstance(piece, Skipped)]
    refuse_another_folder(weft, workspace, next(iter(read.values())))
    with weft.store.view(workspace, user) as view:
        stored = _stored(view, next(iter(read)))
        missing = stored.keys() - read.keys() - documents
        gone = {place: stored[place] for place in sorted(missing) if not _hidden(place, root, skipped)}
        moves = _moves(view, {place: read[place] for place in read if place not in stored}, gone)
    follower = _Follower(weft, workspace, user, Synced(skipped=skipped))
    follower.add([read[place] for place in read if place not in stored and place not in moves], stored)
    follower.move({moves[place]: read[place] for place in moves})
    follower.change({stored[place].id: read[place] for place in read if place in stored})
    if documents:
        follower.read_documents(root)
    kept = set(moves.values())
    follower.remove([node.id for node in gone.values() if node.id not in kept])
    weft.catch_up(workspace)
    return follower.report


def _stored(view: View, top: str) -> dict[str, NodeInfo]:
    """What is kept below a folder, by the id that a reader would give it in its place: a moved one has another."""
    found: dict[str, NodeInfo] = {node.id: node for node in view.nodes([top])}
    folders = list(found)
    while folders:
        above = folders.pop()
        for node in view.children(above, MANY):
            inner = f"{above.partition(':')[2]}/{node.title}"
            if node.type in ("file", "folder", "document"):
                found[node.id if node.type == "document" else identity(node.type, inner)] = node
            if node.type == "folder":
                folders.append(node.id)
    return found


def _hidden(place: str, root: Path, skipped: Iterable[Skipped]) -> bool:
    """Whether something that could not be opened now stands at or above a place: what "is not text" was opened."""
    inner = place.partition(":")[2].partition("/")[2]
    for each in (each for each in skipped if not each.why.startswith("is ")):
        unread = os.path.relpath(each.what, shown(str(root)))
        if unread in (".", inner) or inner.startswith(unread + "/"):
            return True
    return False


def _moves(view: View, new: Mapping[str, Node], gone: Mapping[str, NodeInfo]) -> dict[str, str]:
    """New places of files that are gone from another, to their ids: those whose content stands nowhere else."""
    before = _by_content({node.id: node for node in view.nodes([node.id for node in gone.values()])})
    after = _by_content(new)
    return {after[digest][0]: ids[0] for digest, ids in before.items() if len(ids) == len(after.get(digest, ())) == 1}


def _by_content(nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, node in nodes.items():
        if node.type == "file" and node.text.strip():
            found.setdefault(text_hash(node.text), []).append(name)
    return found


class _Follower:
    """Writes the differences, each batch of them in one transaction, additions before removals."""

    def __init__(self, weft: Weft, workspace: str, user: str, report: Synced) -> None:
        self._weft = weft
        self._workspace = workspace
        self._user = user
        self.report = report

    def add(self, nodes: Sequence[Node], stored: Mapping[str, NodeInfo]) -> None:
        """Put in what is new; an id that a moved file took along is not given twice."""
        taken = {node.id for node in stored.values()}
        fresh = [replace(node, id=_free(node.id, taken)) for node in nodes]
        report = load(self._weft, fresh, workspace=self._workspace)
        self.report.added = report.changed
        self.report.skipped += report.skipped

    def move(self, moved: Mapping[str, Node]) -> None:
        """Hang files elsewhere under their new names."""
        with self._weft.atomic(self._workspace) as batch:
            for name, node in moved.items():
                batch.move(name, node.parent, node.position)
        self.report.moved = self._rewrite(moved)

    def change(self, nodes: Mapping[str, Node]) -> None:
        """Index again what has another content."""
        files = {name: node for name, node in nodes.items() if node.type == "file"}
        self.report.changed = self._rewrite(files)
        self.report.unchanged = len(nodes) - self.report.changed

    def read_documents(self, root: Path) -> None:
        """Read those documents again that are not there as they are now; they and their pages count as changed."""
        # A second pass: what reads a document is gone with the pass that found it.
        report = load(
            self._weft, (piece for piece in read_files(root) if isinstance(piece, Bundle)), workspace=self._workspace
        )
        self.report.changed += report.changed
        self.report.skipped += report.skipped

    def remove(self, names: Sequence[str]) -> None:
        """Take out what is gone."""
        if names:
            self.report.removed = self._weft.remove(names, workspace=self._workspace)

    def _rewrite(self, nodes: Mapping[str, Node]) -> int:
        """Give stored files their new names and contents where these differ; all else about them stays."""
        names, changed = list(nodes), 0
        for start in range(0, len(names), BATCH):
            with self._weft.store.view(self._workspace, self._user) as view:
                before = view.nodes(names[start : start + BATCH])
            after = [_renewed(node, nodes[node.id]) for node in before]
            differing = [new for old, new in zip(before, after, strict=True) if _content(old) != _content(new)]
            changed += self._weft.add(differing, workspace=self._workspace, in_place=True).nodes
        return changed


def _content(node: Node) -> tuple[str, str]:
    return node.title, node.text


def _renewed(stored: Node, read: Node) -> Node:
    return replace(stored, title=read.title, text=read.text, source=read.source, updated_at=read.updated_at)


def _free(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        free, number = f"{name}#{number}", number + 1
    return free
