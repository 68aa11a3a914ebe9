"""Writing what a reader yields in batches; an interruption loses at most one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.bundles import Progress, write_bundle
from weftwork.ingest.events import Bundle, Note, Person, Piece, Refused, Skipped
from weftwork.types import Edge, Node
from weftwork.write.prepare import check_node

if TYPE_CHECKING:  # the process that parses documents imports this package, and needs no engine
    from weftwork.engine import Weft

BATCH = 200
"""Nodes that are written in one transaction."""


@dataclass(slots=True)
class Report:
    """The counts of a loaded source."""

    read: int = 0
    changed: int = 0
    edges: int = 0
    users: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    """Advice about what was added."""


def load(
    weft: Weft,
    pieces: Iterable[Piece],
    *,
    workspace: str,
    progress: Callable[[int], None] = lambda _: None,
    expected: Callable[[int], None] = lambda _: None,
) -> Report:
    """Add everything that can be added; a node waits for its parent, an edge for all nodes.

    `progress` receives the number of nodes read, `expected` that of nodes beyond one per file.
    """
    loader = _Loader(weft, workspace, Progress(progress, expected))
    for piece in pieces:
        loader.take(piece)
    return loader.finish()


class _Loader:
    def __init__(self, weft: Weft, workspace: str, progress: Progress) -> None:
        self._weft = weft
        self._workspace = workspace
        self._progress = progress
        self._report = Report()
        self._pending: dict[str, Node] = {}
        self._waiting: list[Node] = []
        self._edges: list[Edge] = []
        self._seen: set[str] = set()

    def take(self, piece: Piece) -> None:
        """Add a piece to the next batch, or defer it."""
        match piece:
            case Node():
                self._take_node(piece)
            case Edge():
                self._edges.append(piece)
            case Person():
                self._take_person(piece)
            case Bundle():
                self._take_bundle(piece)
            case Skipped():
                self._report.skipped.append(piece)

    def finish(self) -> Report:
        """Write the rest: nodes whose parents came late, then edges, then the indexes."""
        self._flush()
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            for node in waiting:
                self._take_node(node)
            self._flush()
            if len(self._waiting) == len(waiting):
                self._report.skipped += [
                    Skipped(node.id, f"its parent {node.parent!r} does not exist") for node in self._waiting
                ]
                break
        for start in range(0, len(self._edges), BATCH):
            self._link(self._edges[start : start + BATCH])
        self._weft.catch_up(self._workspace)
        return self._report

    def _take_person(self, person: Person) -> None:
        try:
            self._weft.add_user(person.name, groups=person.groups, workspace=self._workspace)
        except InvalidInput as error:
            self._report.skipped.append(Skipped(f"user {person.name!r}", str(error)))
        else:
            self._report.users += 1

    def _take_bundle(self, bundle: Bundle) -> None:
        self._flush()  # the node above it has to be there
        try:
            written = write_bundle(self._weft, bundle, self._workspace, self._progress)
        except (Refused, InvalidInput, NotFound) as error:
            self._report.skipped.append(Skipped(bundle.what, str(error)))
            return
        self._report.read += written.read
        self._report.changed += written.changed
        self._report.notes += written.notes

    def _take_node(self, node: Node) -> None:
        try:
            check_node(node)
        except InvalidInput as error:
            self._report.skipped.append(Skipped(str(node.id), str(error)))
            return
        if node.parent is not None and not self._known(node.parent):
            self._waiting.append(node)
            return
        self._pending[node.id] = node
        if len(self._pending) >= BATCH:
            self._flush()

    def _known(self, name: str) -> bool:
        if name in self._seen or name in self._pending:
            return True
        if self._weft.store.unchecked_nodes(self._workspace, [name]):
            self._seen.add(name)
            return True
        return False

    def _flush(self) -> None:
        if not self._pending:
            return
        nodes, self._pending = list(self._pending.values()), {}
        try:
            self._write(nodes)
        except InvalidInput:  # one by one, so that what is wrong with one node does not keep the others out
            for node in nodes:
                try:
                    self._write([node])
                except InvalidInput as error:
                    self._report.skipped.append(Skipped(node.id, str(error)))
        self._progress.read(len(nodes))

    def _write(self, nodes: Sequence[Node]) -> None:
        added = self._weft.add(nodes, workspace=self._workspace, keep_access=True)
        self._seen.update(node.id for node in nodes)
        self._report.read += len(nodes)
        self._report.changed += added.nodes

    def _link(self, edges: Sequence[Edge]) -> None:
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        existing = self._weft.store.unchecked_nodes(self._workspace, sorted(ends))
        sound = []
        for edge in edges:
            missing = [end for end in (edge.source, edge.target) if end not in existing]
            if missing:
                what = f"{edge.source} → {edge.target}"
                self._report.skipped.append(Skipped(what, f"node {missing[0]!r} does not exist"))
            else:
                sound.append(edge)
        try:
            self._report.edges += self._weft.add((), sound, workspace=self._workspace).edges
        except NotFound as error:  # a node was removed by someone else in between
            self._report.skipped.append(Skipped(f"{len(sound)} edges", str(error)))
