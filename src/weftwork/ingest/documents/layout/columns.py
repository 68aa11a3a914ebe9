"""Reading order: column by column, between what spans all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from weftwork.ingest.documents.layout.boxes import Item, Run, is_prose

MOST_ITEMS = 5_000
"""Lines of a page that are searched for columns: a page of a newspaper has 1,000."""
DEEPEST = 6
"""Most recursive splits of a column."""


@dataclass(frozen=True, slots=True)
class _Gutter:
    left: list[Item]
    right: list[Item]
    across: list[Item]


def reading_order(items: Sequence[Item], size: float, depth: int = 0) -> list[list[Item]]:
    """Split items into groups in reading order; each group is one column, top down."""
    gutter = _gutter(items, size) if depth < DEEPEST else None
    if gutter is None:
        return [downwards(items)] if items else []
    groups: list[list[Item]] = []
    bounds = [*sorted(item.top for item in gutter.across), float("inf")]
    start = float("-inf")
    for end in bounds:
        for side in (gutter.left, gutter.right):
            groups += reading_order([item for item in side if start <= item.top < end], size, depth + 1)
        beyond = [item for item in gutter.across if item.top == end]
        if beyond:
            groups.append(downwards(beyond))
        start = end
    return _together(groups, gutter.across)


def _together(groups: list[list[Item]], across: Sequence[Item]) -> list[list[Item]]:
    """Merge adjacent groups that span all columns."""
    wide = {id(item) for item in across}
    merged: list[list[Item]] = []
    for group in groups:
        if merged and all(id(item) in wide for item in (*merged[-1], *group)):
            merged[-1] += group
        else:
            merged.append(group)
    return merged


def downwards(items: Sequence[Item]) -> list[Item]:
    """Sort items top down, and from left to right on one line."""
    ordered: list[Item] = []
    row: list[Item] = []
    for item in sorted(items, key=lambda other: ((other.top + other.bottom) / 2, other.x0)):
        if row and min(item.bottom, row[0].bottom) - max(item.top, row[0].top) <= 0.5 * min(
            item.bottom - item.top, row[0].bottom - row[0].top
        ):
            ordered += sorted(row, key=lambda other: other.x0)
            row = []
        row.append(item)
    return ordered + sorted(row, key=lambda other: other.x0)


def _gutter(items: Sequence[Item], size: float) -> _Gutter | None:
    """The blank strip that splits most of these items into two columns; None if there is none."""
    if not 6 <= len(items) <= MOST_ITEMS:
        return None
    left, right = min(item.x0 for item in items), max(item.x1 for item in items)
    width = right - left
    strip = 0.7 * size
    edges = sorted({round(item.x1, 1) for item in items if left + 0.12 * width < item.x1 < right - 0.12 * width})
    if not edges:
        return None
    place = min(edges, key=lambda edge: (sum(item.x0 < edge + strip and item.x1 > edge + 0.2 for item in items), edge))
    return _accepted(items, (place + 0.2, place + strip), size)


def _accepted(items: Sequence[Item], strip: tuple[float, float], size: float) -> _Gutter | None:
    gutter = _Gutter(
        [item for item in items if item.x1 <= strip[0]],
        [item for item in items if item.x0 >= strip[1]],
        [item for item in items if item.x1 > strip[0] and item.x0 < strip[1]],
    )
    sides = (gutter.left, gutter.right)
    if min(map(len, sides)) < 3 or len(gutter.across) > 0.5 * len(items):
        return None
    tops, bottoms = (
        [min(item.top for item in side) for side in sides],
        [max(item.bottom for item in side) for side in sides],
    )
    if min(bottoms) - max(tops) < 3 * size or not all(_is_wide(side, items) for side in sides):
        return None
    prose = [is_prose([item for item in side if isinstance(item, Run)]) for side in sides]
    # The cells of a table stand side by side; lines of two columns need not, unless both are set on one grid.
    return gutter if all(prose) or _aligned(*sides) < (0.9 if any(prose) else 0.6) else None


def _is_wide(side: Sequence[Item], items: Sequence[Item]) -> bool:
    """Return False for a column of bullets or numbers."""
    width = max(item.x1 for item in side) - min(item.x0 for item in side)
    return width > 0.15 * (max(item.x1 for item in items) - min(item.x0 for item in items))


def _aligned(left: Sequence[Item], right: Sequence[Item]) -> float:
    """The share of lines with a line at the same height on the other side, as in a table."""
    few, many = sorted((left, right), key=len)
    heights = sorted((item.top + item.bottom) / 2 for item in many)
    near = 0
    for item in few:
        middle = (item.top + item.bottom) / 2
        place = bisect_left(heights, middle)
        gap = min((abs(other - middle) for other in heights[max(place - 1, 0) : place + 1]), default=inf)
        near += gap < 0.25 * (item.bottom - item.top)
    return near / len(few)
