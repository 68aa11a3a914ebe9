"""The rows of a vector index as writes change them and searches see them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from weftwork.embed.protocol import Matrix
from weftwork.store.index.columns import Columns, Ints
from weftwork.store.index.generations import Generation
from weftwork.store.index.labels import Vocabulary
from weftwork.store.index.rows import Row
from weftwork.store.index.segments import Segment, Tail


@dataclass(frozen=True, slots=True)
class Delta:
    """The changes of a call of `apply`, with unit vectors."""

    seq: int
    removed: Ints
    rows: tuple[Row, ...]
    vectors: Matrix


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable state of the table, for searches."""

    seq: int
    base: Segment
    tail: Segment
    vocabulary: Vocabulary

    @property
    def segments(self) -> tuple[Segment, Segment]:
        """The rows of the checkpoint, and those that came after it."""
        return self.base, self.tail


class Table:
    """The rows as a write finds them: a base that loses rows and a tail that gains them."""

    def __init__(self, start: Generation) -> None:
        self._seq = start.seq
        self._base = start.segment
        self._vocabulary = start.vocabulary
        self._tail = Tail(start.segment.vectors.shape[1])

    def apply(self, delta: Delta) -> None:
        """Take rows out and add others; a row with a known key replaces it."""
        # First what can fail, so that a row that cannot be kept leaves everything as it was.
        keys = sorted_numbers(row.key for row in delta.rows)
        columns = Columns.from_rows(delta.rows, self._vocabulary)
        self._base = self._base.without(_rows(self._base, delta.removed, keys))
        self._tail.bury(_rows(self._tail.segment, delta.removed, keys))
        if delta.rows:
            self._tail.extend(columns, delta.vectors)
        self._seq = delta.seq

    def snapshot(self) -> Snapshot:
        """The present state."""
        return Snapshot(self._seq, self._base, self._tail.segment, self._vocabulary)


def sorted_numbers(values: Iterable[int]) -> Ints:
    """The distinct numbers in order."""
    return np.array(sorted(set(values)), dtype=np.int64)


def _rows(segment: Segment, nodes: Ints, keys: Ints) -> Ints:
    return np.concatenate((segment.rows_of_nodes(nodes), segment.rows_of_keys(keys)))
