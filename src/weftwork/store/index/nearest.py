"""The nearest rows of several segments: exactly where that is fast, else by a shortlist of sign bits.

The shortlist is drawn from the rows that the viewer may see, and its length depends on nothing else;
so a row that is hidden cannot push a visible one out of it, nor change how thorough the search is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weftwork.embed.protocol import Vector
from weftwork.store.index.columns import Ints, Mask
from weftwork.store.index.scan import Floats, cosines, hamming, picked_products, radius, rounding_margin, sign_words
from weftwork.store.index.segments import Segment

_FAR = np.uint16(np.iinfo(np.uint16).max)
_DENSE = 1 / 3  # from this share of visible rows on, reading all rows is faster than picking the visible


@dataclass(frozen=True, slots=True)
class Effort:
    """The thoroughness of a search; docs/decisions/0005-vector-index.md has the measurements."""

    exact: int = 20_000
    """Visible rows up to which all are compared exactly."""
    shortlist: int = 10_000
    """Rows compared exactly above that, or one in `share` of the visible rows if that is more."""
    share: int = 100
    per_result: int = 20
    """Least rows compared exactly per result."""

    def compared(self, visible: int, limit: int) -> int:
        """The number of rows to compare exactly."""
        if visible <= self.exact:
            return visible
        return min(visible, max(self.shortlist, visible // self.share, limit * self.per_result))


@dataclass(frozen=True, slots=True)
class Part:
    """A segment and which of its rows are visible."""

    segment: Segment
    mask: Mask
    visible: int

    @property
    def dense(self) -> bool:
        """True if most rows are visible."""
        return self.visible > _DENSE * len(self.mask)


def nearest(
    parts: Sequence[Part], query: Vector, *, limit: int, threshold: float, effort: Effort
) -> list[tuple[int, float]]:
    """Keys and cosines of the best visible rows: by cosine, then by key."""
    visible = sum(part.visible for part in parts)
    compared = effort.compared(visible, limit)
    if not compared:
        return []
    if compared == visible:
        chosen = [np.flatnonzero(part.mask) for part in parts]
    else:
        chosen = _shortlist(parts, query, compared)
    keys, scores = _best(parts, chosen, query, limit, threshold)
    best = np.lexsort((keys, -scores))
    hits = zip(keys[best].tolist(), scores[best].tolist(), strict=True)
    return [(key, score) for key, score in hits if score >= threshold][:limit]


def _shortlist(parts: Sequence[Part], query: Vector, count: int) -> list[Ints]:
    """The visible rows with the least Hamming distance; all of those at the last distance."""
    asked = sign_words(query[np.newaxis])
    candidates = [None if part.dense else np.flatnonzero(part.mask) for part in parts]
    distances = []
    for part, rows in zip(parts, candidates, strict=True):
        codes = part.segment.codes
        distance = hamming(codes if rows is None else [word[rows] for word in codes], asked)
        if rows is None and part.visible < len(part.mask):
            # Arithmetic, since a masked copy takes 6 ms for a million rows and this takes 0.4 ms.
            np.maximum(distance, ~part.mask * _FAR, out=distance)
        distances.append(distance)
    reach = radius(distances, count, len(query))
    close = [np.flatnonzero(distance <= reach) for distance in distances]
    return [near if rows is None else rows[near] for rows, near in zip(candidates, close, strict=True)]


def _best(
    parts: Sequence[Part], chosen: Sequence[Ints], query: Vector, limit: int, threshold: float
) -> tuple[Ints, Floats]:
    """Keys and cosines of the chosen rows that may be among the best; rough products are only a sieve."""
    rough = [_products(part, rows, query) for part, rows in zip(parts, chosen, strict=True)]
    together = np.concatenate(rough)
    last = max(len(together) - limit, 0)
    bar = max(float(np.partition(together, last)[last]), threshold) - rounding_margin(len(query))
    keys, vectors = [], []
    for part, rows, products in zip(parts, chosen, rough, strict=True):
        close = rows[products >= bar]
        keys.append(part.segment.columns.key[close])
        vectors.append(part.segment.vectors[close])
    return np.concatenate(keys), cosines(np.concatenate(vectors), query)


def _products(part: Part, rows: Ints, query: Vector) -> Vector:
    vectors = part.segment.vectors
    if len(rows) > _DENSE * len(vectors):
        every: Vector = np.vecdot(vectors, query)
        return every[rows]
    return picked_products(vectors, rows, query)
