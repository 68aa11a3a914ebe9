"""Keeping a workspace's indexes in step with the database.

The database is written first. Before a search, the version of an index is compared with the
database's, and the rest of the change log is applied. An index that is missing or damaged is
rebuilt, which is the same from version zero.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from filelock import FileLock

from weftwork.errors import StoreError
from weftwork.store.index.rows import IndexDamaged, Row
from weftwork.store.index.vectors import VectorIndex
from weftwork.store.index.words import WordIndex
from weftwork.store.sql.codec import index_row
from weftwork.store.sqlite.index_origin import Origin, Snapshot
from weftwork.store.sqlite.read_queries import COLUMNS_ROW, INDEX_ROW
from weftwork.store.sqlite.session import Session

if TYPE_CHECKING:
    from weftwork.embed.protocol import Vector

Index = TypeVar("Index", WordIndex, VectorIndex)

LOGGER = logging.getLogger(__name__)
CANNOT_BE_USED = (
    "the indexes in %s cannot be used (%s), and others are made for now: check that the folder may be written to, that "
    "the disk has space, and that no process holds its lock"
)
LOCK_SECONDS = 30.0
"""Time to wait for another process that writes the indexes."""
CHUNK = 2_000
"""Nodes that are read at once while an index catches up."""


class DerivedIndexes:
    """The word index of a workspace and one vector index for each model."""

    def __init__(self, folder: Path, workspace: int, read: Callable[[], Snapshot]) -> None:
        self._workspace = workspace
        self._read = read
        self._lock = threading.RLock()
        self._private: TemporaryDirectory[str] | None = None
        """A folder of this process alone, where the shared one cannot be used."""
        self._use(folder)
        self._words: WordIndex | None = None
        self._vectors: dict[tuple[str, int], VectorIndex] = {}

    def _use(self, folder: Path) -> None:
        self._folder = folder
        self._origin = Origin(folder, self._workspace, self._read)
        self._file_lock = FileLock(folder / "lock", timeout=LOCK_SECONDS)

    def words(self, connection: sqlite3.Connection, version: int | None = None) -> WordIndex:
        """The word index, not older than this connection's snapshot, whose content version may be given."""
        known = content_version(connection, self._workspace) if version is None else version
        return self._with_repair("words", lambda: self._current_words(connection, known))

    def vectors(
        self, connection: sqlite3.Connection, model: str, dimensions: int, version: int | None = None
    ) -> VectorIndex:
        """The vector index for a model, not older than this connection's snapshot."""
        known = content_version(connection, self._workspace) if version is None else version
        return self._with_repair(
            _folder_name(model), lambda: self._current_vectors(connection, model, dimensions, known)
        )

    def repair_words(self, connection: sqlite3.Connection) -> WordIndex:
        """Rebuild the word index."""
        with self._lock, self._failure_reported():
            version = content_version(connection, self._workspace)
            return self._made_again("words", lambda: self._current_words(connection, version))

    def lost_commit(self) -> int | None:
        """The version of a commit that the indexes had and the database lacks; None if there is none."""
        return self._origin.lost_commit()

    def accept_loss(self) -> None:
        """Forget that the indexes had commits that the database lacks."""
        if self.lost_commit() is not None:
            with self._lock, self._exclusive():
                self._origin.accept_loss()

    def close(self) -> None:
        """Write checkpoints, to spare the next process the catching up."""
        # A checkpoint that cannot be written costs the next process a moment, and nothing else.
        with self._lock, suppress(OSError):
            for index in self._vectors.values():
                if index.should_checkpoint:
                    self._checkpoint(index)
        self._forget()
        if self._private is not None:
            self._private.cleanup()

    def _with_repair(self, name: str, current: Callable[[], Index]) -> Index:
        with self._lock:
            if self._private is None:
                try:
                    return self._repaired(name, current)
                except OSError as error:
                    LOGGER.warning(CANNOT_BE_USED, self._folder, error)
                    self._go_private()
            with self._failure_reported():
                return self._repaired(name, current)

    def _go_private(self) -> None:
        """Keep indexes in a temporary folder from now on: what can be read can be searched."""
        with self._failure_reported():
            self._private = TemporaryDirectory(prefix="weftwork-")
        self._forget()
        self._use(Path(self._private.name))

    def _repaired(self, name: str, current: Callable[[], Index]) -> Index:
        with self._lock:
            if not self._origin.checked:
                with self._exclusive():
                    self._origin.check()
            try:
                return current()
            except IndexDamaged:
                self._forget()
            with self._exclusive():
                try:
                    return current()  # it may have been another process that was just making it again
                except IndexDamaged:
                    return self._made_again(name, current)

    def _made_again(self, name: str, current: Callable[[], Index]) -> Index:
        with self._exclusive():
            self._forget()
            shutil.rmtree(self._folder / name, ignore_errors=True)
            return current()

    def _forget(self) -> None:
        with self._lock:
            self._words = None
            self._vectors.clear()

    @contextmanager
    def _failure_reported(self) -> Iterator[None]:
        """Raise StoreError with the remedy if an index can be neither read nor rebuilt."""
        try:
            yield
        except (IndexDamaged, OSError) as error:
            raise StoreError(
                f"the indexes in {self._folder} cannot be written ({error}): check that the folder may be written "
                "to and that the disk has space"
            ) from error

    def _current_words(self, connection: sqlite3.Connection, version: int) -> WordIndex:
        if self._words is None:
            with self._exclusive():
                self._words = WordIndex(self._folder / "words")
        if self._words.seq < version:
            self._words.refresh()
        if self._words.seq < version:
            with self._exclusive():
                self._words.refresh()
                if self._words.seq < version:
                    self._origin.record_commit(version)
                    changed = _changed(connection, self._workspace, self._words.seq)
                    self._words.apply(version, changed, _rows(connection, changed))
        return self._words

    def _current_vectors(
        self, connection: sqlite3.Connection, model: str, dimensions: int, version: int
    ) -> VectorIndex:
        index = self._vectors.get((model, dimensions))
        if index is None:
            index = VectorIndex(self._folder / _folder_name(model), model=model, dimensions=dimensions)
        if index.seq < version:
            changed = _changed(connection, self._workspace, index.seq)
            session = Session(connection, self._workspace)
            for start in range(0, len(changed), CHUNK):
                chunk = changed[start : start + CHUNK]
                rows = list(_rows(connection, chunk, COLUMNS_ROW))
                vectors = read_vectors(session, model, [row.digest for row in rows])
                index.apply(index.seq, chunk, rows, vectors)
            index.apply(version, (), (), {})
            if index.should_checkpoint:
                self._checkpoint(index)
        self._vectors[model, dimensions] = index
        return index

    def _checkpoint(self, index: VectorIndex) -> None:
        with self._exclusive():
            self._origin.record_commit(index.seq)
            index.checkpoint()

    def _exclusive(self) -> FileLock:
        """The folder's inter-process lock; re-entrant."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._file_lock


def _folder_name(model: str) -> str:
    return "vectors-" + "".join(c if c.isalnum() or c in "-._" else "_" for c in model)


def content_version(connection: sqlite3.Connection, workspace: int) -> int:
    """The version of the latest write that changed a node; activity raises only that of the workspace."""
    row = connection.execute("SELECT MAX(version) FROM changes WHERE workspace = ?", (workspace,)).fetchone()
    return int(row[0] or 0)


def _changed(connection: sqlite3.Connection, workspace: int, since: int) -> list[int]:
    rows = connection.execute(
        "SELECT node FROM changes WHERE workspace = ? AND version > ? ORDER BY node", (workspace, since)
    )
    return [row[0] for row in rows]


def _rows(connection: sqlite3.Connection, nodes: list[int], columns: str = INDEX_ROW) -> Iterator[Row]:
    """The passages of those of these nodes that still exist."""
    for start in range(0, len(nodes), CHUNK):
        rows = connection.execute(
            f"""SELECT {columns} FROM passages p CROSS JOIN nodes n ON n.pk = p.node
                WHERE p.node IN (SELECT value FROM json_each(?)) ORDER BY p.key""",
            (json.dumps(nodes[start : start + CHUNK]),),
        )
        yield from map(index_row, rows)


def read_vectors(session: Session, model: str, digests: list[str]) -> dict[str, Vector]:
    """Vectors of a model that are stored under these digests."""
    rows = session.rows(
        """SELECT digest, vector FROM vectors
           WHERE workspace = :ws AND model = :model AND digest IN (SELECT value FROM json_each(:digests))""",
        model=model,
        digests=digests,
    )
    return {digest: np.frombuffer(blob, dtype=np.float32) for digest, blob in rows}
