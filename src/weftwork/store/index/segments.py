"""Rows in memory: a segment that is only read, and a tail that grows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from weftwork.embed.protocol import Matrix
from weftwork.store.index.columns import COLUMN_TYPES, Columns, Ints, Mask
from weftwork.store.index.scan import Words, sign_words

_FIRST_CAPACITY = 256
S = TypeVar("S", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows with their vectors; a search that holds a segment sees it unchanged."""

    columns: Columns
    vectors: Matrix
    codes: tuple[Words, ...]
    alive: Mask
    by_node: Ints
    """Rows in the order of their nodes."""
    by_key: Ints | None = None
    """Rows in the order of their keys, earlier rows first; None if they are in this order already."""

    def __len__(self) -> int:
        return len(self.alive)

    def rows_of_nodes(self, nodes: Ints) -> Ints:
        """The rows of these nodes, dead ones too."""
        first = np.searchsorted(self.columns.node, nodes, side="left", sorter=self.by_node)
        last = np.searchsorted(self.columns.node, nodes, side="right", sorter=self.by_node)
        return self.by_node[_ranges(first, last)]

    def rows_of_keys(self, keys: Ints) -> Ints:
        """The live rows with these keys; of a key that was added again, only the latest row can live."""
        column, order = self.columns.key, self.by_key
        if not len(self):
            return np.empty(0, dtype=np.int64)
        last = np.maximum(np.searchsorted(column, keys, side="right", sorter=order) - 1, 0)
        rows = last if order is None else order[last]
        live: Ints = rows[(column[rows] == keys) & self.alive[rows]]
        return live

    def without(self, rows: Ints) -> Segment:
        """The same segment with these rows dead."""
        if not self.alive[rows].any():
            return self
        alive = self.alive.copy()
        alive[rows] = False
        return replace(self, alive=alive)


class Tail:
    """Arrays that grow at their end; a segment cut from them stays as it is while they grow."""

    def __init__(self, dimensions: int) -> None:
        self.segment = empty_segment(dimensions)
        self._arrays: dict[str, npt.NDArray[np.generic]] = {}

    def extend(self, columns: Columns, vectors: Matrix) -> None:
        """Add rows after those that are there."""
        old, start = self.segment, len(self.segment)
        grown = Columns(
            **{name: self._grown(name, getattr(old.columns, name), getattr(columns, name)) for name in COLUMN_TYPES}
        )
        by_key = old.by_key if old.by_key is not None else np.arange(start, dtype=np.int64)
        words = zip(old.codes, sign_words(vectors), strict=True)
        self.segment = Segment(
            columns=grown,
            vectors=self._grown("vectors", old.vectors, vectors),
            codes=tuple(self._grown(f"codes{i}", *pair) for i, pair in enumerate(words)),
            alive=np.concatenate((old.alive, np.ones(len(vectors), dtype=np.bool_))),
            by_node=_inserted(old.by_node, old.columns.node, columns.node),
            by_key=_inserted(by_key, old.columns.key, columns.key),
        )

    def bury(self, rows: Ints) -> None:
        """Mark rows as dead."""
        self.segment = self.segment.without(rows)

    def _grown(self, name: str, old: npt.NDArray[S], new: npt.NDArray[S]) -> npt.NDArray[S]:
        """The old part and the new, in the array of this name, which doubles when it is full."""
        end = len(old) + len(new)
        room = cast("npt.NDArray[S] | None", self._arrays.get(name))
        if room is None or len(room) < end:
            room = np.empty((max(2 * end, _FIRST_CAPACITY), *new.shape[1:]), dtype=new.dtype)
            room[: len(old)] = old
            self._arrays[name] = cast("npt.NDArray[np.generic]", room)
        room[len(old) : end] = new
        return room[:end]


def empty_segment(dimensions: int) -> Segment:
    """A segment without rows."""
    vectors = np.empty((0, dimensions), dtype=np.float32)
    return Segment(
        columns=Columns(**{name: np.empty(0, dtype=kind) for name, kind in COLUMN_TYPES.items()}),
        vectors=vectors,
        codes=sign_words(vectors),
        alive=np.empty(0, dtype=np.bool_),
        by_node=np.empty(0, dtype=np.int64),
    )


def _ranges(first: Ints, last: Ints) -> Ints:
    """The numbers of all ranges, one range after the other."""
    sizes = last - first
    shift = np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    return shift + np.arange(len(shift), dtype=np.int64)


def _inserted(order: Ints, column: Ints, values: Ints) -> Ints:
    """The order of a column to which values are added: sorting all of a long tail again would be slow."""
    added = np.argsort(values, kind="stable")
    places = np.searchsorted(column, values[added], side="right", sorter=order)
    return np.insert(order, places, added + len(column))
