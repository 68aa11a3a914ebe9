"""Moving a workspace from one store to another, whichever databases are underneath.

The source yields the rows of a workspace, kind by kind, in columns that do not depend on the database; the target
inserts them. Numbers of nodes, passages and lists are renumbered from one in transit, in the same order. Rows arrive in
a workspace named "NAME (incomplete)" without users, so that nobody can read it, until all of them were compared; the
last transaction adds users and keys and renames it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from weftwork.errors import InvalidInput, NotFound, StoreBusy, StoreError
from weftwork.store.files import Files

Row = tuple[Any, ...]
Progress = Callable[[int], object]

COLUMNS = {
    "workspace": "version access",
    "lists": "id principals",
    "nodes": "pk id type title parent position tags fields confidence conversation created_at updated_at source owner "
    "access acl digest valid_from valid_until document writer origin",
    "passages": "key node acl ordinal start end text tokens digest citation",
    "vectors": "model digest vector",
    "page_vectors": "model node width sketch vectors",
    "edges": "source target type label weight",
    "changes": "node version id acl deleted",
    "commits": "version mark",
    "activity": "who kind node at",
    "feedback": "node who useful at query",
    "usage": "node who used",
    "contexts": "who thread name kept at",
    "receipts": "id who thread at record",
    "given": "node who given at",
    "marks": "topic name mark",
    "users": "name",
    "members": "who team",
    "keys": "id digest who scope name created_at expires_at revoked_at",
    "jobs": "id who state created_at updated_at details",
}
"""The kinds of rows and their columns, in the order of insertion; one vector for each text."""
LAST = ("users", "members", "keys", "jobs")
"""Kinds that make a workspace accessible: inserted in the last transaction."""
INCOMPLETE = " (incomplete)"
PROGRESS = "weftwork:transfer"
"""The group of marks that counts the rows of each kind that have arrived."""
SURVEYED = "weftwork:waiting"
"""The group of marks with the version at which the embedding queue was last filled, by model."""
STAYING = f"('{PROGRESS}', '{SURVEYED}')"
"""Groups of marks that do not move."""
PORTION = 2_000
"""Rows of one transaction: a killed process loses no more."""
KEPT_COMMITS = 1_000
"""Marks of commits that move: those of the latest versions."""
HERE = "\0files/"
"""Placeholder in transit for the folder of a workspace's files, which differs from store to store."""
_NUMBERED = {
    "lists": {0: "lists"},
    "nodes": {0: "nodes", 4: "nodes", 15: "lists", 19: "nodes"},
    "passages": {0: "passages", 1: "nodes", 2: "lists"},
    "page_vectors": {1: "nodes"},
    "edges": {0: "nodes", 1: "nodes"},
    "changes": {0: "nodes", 3: "lists"},
    "activity": {2: "nodes"},
    "feedback": {0: "nodes"},
    "usage": {0: "nodes"},
    "given": {0: "nodes"},
}
"""Columns that are renumbered, and by which count."""
_FIELDS, _DIGEST = 7, 16
_WHOSE = 3
"""The number of leading columns of a key that never change; only they are compared."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The sequence numbers of nodes, passages and access lists."""

    nodes: int
    passages: int
    lists: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The number of rows of a kind, and a checksum that does not depend on their order."""

    rows: int = 0
    checksum: int = 0

    def plus(self, row: Row) -> Summary:
        """The summary with one more row."""
        digest = blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return Summary(self.rows + 1, (self.checksum + int.from_bytes(digest, "big")) % 2**64)


class _Differs(StoreError):
    """The rows that arrived differ from those that were sent."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The result of moving one workspace."""

    workspace: str
    kinds: Mapping[str, Summary]
    """The same in both stores."""
    already: bool = False
    """True if the target had the same workspace before."""
    written_meanwhile: bool = False
    """True if the source was written during the move: later writes are not in the target."""


class Leaving(Protocol):
    """A snapshot of a whole workspace."""

    version: int
    files: Files

    @property
    def before(self) -> Numbers:
        """The numbers before its first ones."""

    @property
    def last(self) -> Numbers:
        """The last of its numbers, those of removed nodes included."""

    def rows(self, kind: str) -> Iterator[Row]:
        """The rows of a kind in a fixed order: parents first, passages by node, the last commit first."""

    def count(self, kind: str) -> int:
        """The number of rows of a kind."""


class Arriving(Leaving, Protocol):
    """A transaction on a workspace that has not arrived completely."""

    def add(self, kind: str, rows: Sequence[Row]) -> None:
        """Write rows of a kind, with what is derived from them."""

    def progress(self) -> dict[str, str]:
        """The number of rows that have arrived, by kind."""

    def mark(self, marks: Mapping[str, str]) -> None:
        """Replace the record of progress."""

    def rename(self, name: str) -> None:
        """Give it its name, replacing an empty workspace of that name."""


class Movable(Protocol):
    """A store that workspaces can be moved from and to."""

    def workspaces(self) -> list[str]:
        """Names of all workspaces."""

    def version(self, workspace: str) -> int:
        """A number that each write raises."""

    def drop_workspace(self, workspace: str) -> None:
        """Remove a workspace and everything derived from it."""

    def marks(self, workspace: str, group: str) -> dict[str, str]:
        """The marks of a group, by name."""

    def leaving(self, workspace: str) -> AbstractContextManager[Leaving]:
        """A snapshot of a whole workspace. Ignores permissions."""

    def announce(self, workspace: str, access: str, span: Numbers, marks: Mapping[str, str]) -> None:
        """Create a workspace without users, and reserve as many numbers for it as the span says."""

    def arriving(self, workspace: str) -> AbstractContextManager[Arriving]:
        """A transaction on a workspace that has not arrived completely."""


def move(source: Movable, target: Movable, workspace: str, progress: Progress = lambda _: None) -> Moved:
    """Copy a workspace to another store, or resume an earlier call; the source stays as it is.

    `progress` is called with the number of rows dealt with since its last call.
    """
    with source.leaving(workspace) as leaving:
        if workspace in target.workspaces():
            compared = _compared(leaving, target, workspace, progress)
            if compared is not None:
                return compared
        staged = workspace + INCOMPLETE
        _announce(leaving, target, staged)
        kinds = {kind: _sent(leaving, target, staged, kind, progress) for kind in COLUMNS if kind not in LAST}
        with target.leaving(staged) as arriving:
            arriving.files.copy(leaving.files)
        kinds["files"] = _files(leaving.files)
        try:
            kinds |= _opened(leaving, target, workspace, kinds)
        except _Differs:
            with target.arriving(staged) as arriving:
                arriving.mark({"source": "differs"})  # so that the next call begins anew
            raise
        return Moved(workspace, kinds, written_meanwhile=source.version(workspace) != leaving.version)


def length(source: Movable, workspace: str) -> int:
    """The number of rows of a workspace."""
    with source.leaving(workspace) as leaving:
        return sum(leaving.count(kind) for kind in COLUMNS)


def _compared(leaving: Leaving, target: Movable, workspace: str, progress: Progress) -> Moved | None:
    """The result if the target has the same workspace, None if its one is empty; raise if they differ."""
    with target.leaving(workspace) as there:
        busy = [kind for kind in COLUMNS if kind not in ("workspace", "commits", "users", "members", "lists")]
        if not any(there.count(kind) for kind in busy) and not there.files.any:
            return None
        if all(leaving.count(kind) == there.count(kind) for kind in COLUMNS):
            kinds = {kind: _summary(leaving, kind, progress) for kind in COLUMNS} | {"files": _files(leaving.files)}
            if kinds == {kind: _summary(there, kind) for kind in COLUMNS} | {"files": _files(there.files)}:
                return Moved(workspace, kinds, already=True)
    raise InvalidInput(
        f"workspace {workspace!r} is in the target already, and is not the same: nothing was changed there; "
        "move into another store, or remove the one in the target first (drop_workspace)"
    )


def _announce(leaving: Leaving, target: Movable, staged: str) -> None:
    """Create the incomplete workspace, unless an earlier call did for the same state of the source."""
    latest = list(leaving.rows("commits"))[:1]
    state = {"source": f"{leaving.version} {latest}"}
    if staged in target.workspaces():
        marks = target.marks(staged, PROGRESS)
        if not marks:
            raise InvalidInput(f"the target has a workspace {staged!r} of its own: remove it first (drop_workspace)")
        if marks["source"] == state["source"]:
            return
        target.drop_workspace(staged)
    ((_, access),) = leaving.rows("workspace")
    first, last = leaving.before, leaving.last
    span = Numbers(last.nodes - first.nodes, last.passages - first.passages, last.lists - first.lists)
    target.announce(staged, access, span, state)


def _sent(leaving: Leaving, target: Movable, staged: str, kind: str, progress: Progress) -> Summary:
    """Send the missing rows of a kind; the summary of all of its rows."""
    done = int(target.marks(staged, PROGRESS).get(kind, "0"))
    summary = Summary()
    for portion in _portions(_neutral(leaving, kind), kind):
        for row in portion:
            summary = summary.plus(_identity(kind, row))
        progress(len(portion))
        if summary.rows > done:
            with target.arriving(staged) as arriving:
                marks = arriving.progress()
                if int(marks.get(kind, "0")) != done:
                    raise StoreBusy(f"another process moves {staged!r} at this moment: let it come to its end")
                arriving.add(kind, list(_local(arriving, kind, portion[done - summary.rows :])))
                arriving.mark(marks | {kind: str(summary.rows)})
            done = summary.rows
    return summary


def _opened(leaving: Leaving, target: Movable, workspace: str, sent: Mapping[str, Summary]) -> dict[str, Summary]:
    """Add the last kinds, compare everything with the source and rename, in one transaction."""
    staged = workspace + INCOMPLETE
    kinds = {}
    with target.arriving(staged) as arriving:
        for kind in LAST:
            rows = list(_neutral(leaving, kind))
            arriving.add(kind, list(_local(arriving, kind, rows)))
            kinds[kind] = _summed(kind, rows)
        source_summaries = {**sent, **kinds}
        target_summaries = {kind: _summary(arriving, kind) for kind in COLUMNS} | {"files": _files(arriving.files)}
        wrong = [kind for kind in target_summaries if target_summaries[kind] != source_summaries[kind]]
        if wrong:
            raise _Differs(
                f"the {', '.join(wrong)} of workspace {workspace!r} in the target differ from those in the source: "
                "it was not opened there; run the command again to begin anew"
            )
        arriving.mark({})
        arriving.rename(workspace)
    return kinds


def _portions(rows: Iterator[Row], kind: str) -> Iterator[list[Row]]:
    """Rows in portions; the passages of a node stay together."""
    pending: list[Row] = []
    for row in rows:
        if len(pending) >= PORTION and (kind != "passages" or pending[-1][1] != row[1]):
            yield pending
            pending = []
        pending.append(row)
    if pending:
        yield pending


def _neutral(leaving: Leaving, kind: str) -> Iterator[Row]:
    """Rows in transit: renumbered from one, with a placeholder for the folder of files."""
    for row in leaving.rows(kind):
        yield _with_files(_shifted(row, kind, leaving.before, -1), kind, leaving.files.prefix, HERE)


def _local(arriving: Leaving, kind: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows in transit as the target stores them."""
    for row in rows:
        yield _with_files(_shifted(row, kind, arriving.before, 1), kind, HERE, arriving.files.prefix)


def _shifted(row: Row, kind: str, before: Numbers, sign: int) -> Row:
    columns = _NUMBERED.get(kind)
    if columns is None:
        return _finite(row) if kind == "vectors" else row
    return tuple(
        value if place not in columns or value is None else value + sign * getattr(before, columns[place])
        for place, value in enumerate(row)
    )


def _finite(row: Row) -> Row:
    """The row of a vector, zero if it is not finite: it has no direction either way."""
    vector = np.frombuffer(row[2], dtype=np.float32)
    return row if np.isfinite(vector).all() else (*row[:2], np.zeros_like(vector).tobytes())


def _with_files(row: Row, kind: str, old: str, new: str) -> Row:
    """A node with the paths in its fields moved to another folder; its digest is cleared if any changed."""
    if kind != "nodes" or json.dumps(old, ensure_ascii=False)[1:-1] not in row[_FIELDS]:
        return row
    fields = json.loads(row[_FIELDS])
    named = {key: value for key, value in fields.items() if isinstance(value, str) and value.startswith(old)}
    changed = fields | {key: new + value.removeprefix(old) for key, value in named.items()}
    text = json.dumps(changed, ensure_ascii=False, separators=(",", ":"))
    digest = "" if named else row[_DIGEST]
    return (*row[:_FIELDS], text, *row[_FIELDS + 1 : _DIGEST], digest, *row[_DIGEST + 1 :])


def _identity(kind: str, row: Row) -> Row:
    return row[:_WHOSE] if kind == "keys" else row


def _summed(kind: str, rows: Iterable[Row]) -> Summary:
    summary = Summary()
    for row in rows:
        summary = summary.plus(_identity(kind, row))
    return summary


def _summary(leaving: Leaving, kind: str, progress: Progress = lambda _: None) -> Summary:
    progress(leaving.count(kind))
    return _summed(kind, _neutral(leaving, kind))


def _files(files: Files) -> Summary:
    return _summed("files", files.digests())


def movable(source: Movable, workspace: str | None) -> list[str]:
    """The workspaces to move: the named one, or all complete ones."""
    complete = [name for name in source.workspaces() if not source.marks(name, PROGRESS)]
    if workspace is None:
        return complete
    if workspace not in complete:
        raise NotFound(f"workspace {workspace!r} is not in the source: it has {', '.join(complete) or 'none'}")
    return [workspace]
