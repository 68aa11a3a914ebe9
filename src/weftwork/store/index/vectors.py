"""Vector search over one workspace, with permissions applied inside the search.

The disk holds a recent starting point; each process keeps what changed since in memory and learns of it
from the database's change log. A search works on a snapshot, so it neither waits for a write nor sees
half of one.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

from weftwork.embed.protocol import Vector
from weftwork.errors import DimensionError
from weftwork.store.index.columns import passing
from weftwork.store.index.generations import Generation, load, store
from weftwork.store.index.labels import Vocabulary
from weftwork.store.index.merge import merged
from weftwork.store.index.nearest import Effort, Part, nearest
from weftwork.store.index.rows import Row, Scope
from weftwork.store.index.scan import cosines, unit_rows
from weftwork.store.index.segments import Segment, empty_segment
from weftwork.store.index.table import Delta, Snapshot, Table, sorted_numbers

_SLACK_ROWS = 2_000
_SLACK_SHARE = 0.2


class VectorIndex:
    """The passages of a workspace by their vectors under one model."""

    def __init__(self, folder: Path | None, *, model: str, dimensions: int, effort: Effort | None = None) -> None:
        self._folder = folder
        self._model = model
        self._dimensions = dimensions
        self._effort = effort or Effort()
        self._writing = threading.Lock()
        self._storing = threading.Lock()
        self._missed: list[Delta] | None = None
        generation = load(folder, model, dimensions) if folder is not None else None
        self._table = Table(generation or Generation(0, empty_segment(dimensions), Vocabulary()))
        self._snapshot = self._table.snapshot()

    @property
    def seq(self) -> int:
        """The last change of the database that is in the index."""
        return self._snapshot.seq

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(segment.alive)) for segment in self._snapshot.segments)

    @property
    def should_checkpoint(self) -> bool:
        """True if enough changed since the last checkpoint for another one."""
        base, tail = self._snapshot.segments
        dead = len(base) - int(np.count_nonzero(base.alive))
        return len(tail) + dead > max(_SLACK_ROWS, _SLACK_SHARE * len(base))

    def apply(self, seq: int, removed: Collection[int], rows: Sequence[Row], vectors: Mapping[str, Vector]) -> None:
        """Drop all rows of the removed nodes, then add the rows that have a vector under their digest."""
        delta = self._delta(seq, removed, rows, vectors)
        with self._writing:
            self._table.apply(delta)
            self._snapshot = self._table.snapshot()
            if self._missed is not None:
                self._missed.append(delta)

    def search(self, vector: Vector, scope: Scope, *, limit: int, threshold: float = 0.0) -> list[tuple[int, float]]:
        """Keys and cosines of the nearest rows within the scope: by cosine, then by key."""
        query = self._query(vector)
        if limit < 1 or not query.any():
            return []
        snapshot = self._snapshot
        parts = [_part(segment, snapshot.vocabulary, scope) for segment in snapshot.segments]
        return nearest(parts, query, limit=limit, threshold=threshold, effort=self._effort)

    def similarities(self, vector: Vector, keys: Iterable[int]) -> dict[int, float]:
        """The cosine of each of these rows that is in the index; the same numbers as a search gives."""
        query, numbers = self._query(vector), sorted_numbers(keys)
        scores_by_key: dict[int, float] = {}
        if not query.any():
            return scores_by_key
        for segment in self._snapshot.segments:
            rows = segment.rows_of_keys(numbers)
            scores = cosines(segment.vectors[rows], query).tolist()
            scores_by_key.update(zip(segment.columns.key[rows].tolist(), scores, strict=True))
        return scores_by_key

    def checkpoint(self) -> bool:
        """Store the present state, and drop dead rows; False if another process is storing one."""
        with self._storing:
            with self._writing:
                snapshot, self._missed = self._snapshot, []
            try:
                start = self._stored(snapshot)
                if start is not None:
                    self._restart(start)
            finally:
                self._missed = None
        return start is not None

    def _stored(self, snapshot: Snapshot) -> Generation | None:
        """The snapshot's live rows as a generation; None if another process holds the folder."""
        if self._folder is None:
            whole = merged(snapshot.segments, snapshot.vocabulary)
            return Generation(snapshot.seq, whole.segment(), whole.vocabulary)
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self._folder / "lock", timeout=0):
                whole = merged(snapshot.segments, snapshot.vocabulary)
                return store(self._folder, whole, model=self._model, dimensions=self._dimensions, seq=snapshot.seq)
        except Timeout:
            return None

    def _restart(self, start: Generation) -> None:
        """Go on from a generation, with what was applied while it was written."""
        table = Table(start)
        with self._writing:
            for delta in self._missed or ():
                table.apply(delta)
            self._table, self._snapshot = table, table.snapshot()

    def _delta(self, seq: int, removed: Collection[int], rows: Sequence[Row], vectors: Mapping[str, Vector]) -> Delta:
        latest = {row.key: row for row in rows if row.digest in vectors}
        embedded = list(latest.values())
        matrix = np.empty((len(embedded), self._dimensions), dtype=np.float32)
        for position, row in enumerate(embedded):
            matrix[position] = self._checked(vectors[row.digest])
        unit = unit_rows(matrix)
        # A vector without a direction is near to nothing: its row is not kept.
        usable = np.flatnonzero(unit.any(axis=1))
        usable_rows = tuple(embedded[position] for position in usable.tolist())
        return Delta(seq, sorted_numbers(removed), usable_rows, unit[usable])

    def _query(self, vector: Vector) -> Vector:
        query: Vector = unit_rows(self._checked(vector)[np.newaxis])[0]
        return query

    def _checked(self, vector: Vector) -> Vector:
        if np.shape(vector) != (self._dimensions,):
            raise DimensionError(
                f"a vector has the shape {np.shape(vector)}, the index of {self._model!r} needs "
                f"({self._dimensions},): embed with the same model, or make the index again"
            )
        return np.asarray(vector, dtype=np.float32)


def _part(segment: Segment, vocabulary: Vocabulary, scope: Scope) -> Part:
    mask = passing(segment.columns, vocabulary, scope, segment.alive)
    if scope.excluded:
        mask = mask.copy()
        mask[segment.rows_of_nodes(sorted_numbers(scope.excluded))] = False
    return Part(segment, mask, int(np.count_nonzero(mask)))
