"""The order in which a page is read: column by column, between what runs across all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from weftwork.ingest.documents.layout.boxes import Item, Run, is_prose

MOST_ITEMS = 5_000
"""Lines of a page that are searched for columns: a page of a newspaper has 1,000."""
DEEPEST = 6
"""How often a column may be divided again."""


@dataclass(frozen=True, slots=True)
class _Gutter:
    left: list[Item]
    right: list[Item]
    across: list[Item]


def reading_order(items: Sequence[Item], size: float, depth: int = 0) -> list[list[Item]]:
    """Groups of items to be read one after the other; each group is one column, from the top down."""
    gutter = _gutter(items, size) if depth < DEEPEST else None
    if gutter is None:
        return [downwards(items)] if items else []
    groups: list[list[Item]] = []
    bounds = [*sorted(each.top for each in gutter.across), float("inf")]
    start = float("-inf")
    for end in bounds:
        for side in (gutter.left, gutter.right):
            groups += reading_order([each for each in side if start <= each.top < end], size, depth + 1)
        beyond = [each for each in gutter.across if each.top == end]
        if beyond:
            groups.append(downwards(beyond))
        start = end
    return _together(groups, gutter.across)


def _together(groups: list[list[Item]], across: Sequence[Item]) -> list[list[Item]]:
    """Lines that run across all columns and follow each other are one group."""
    wide = {id(each) for each in across}
    merged: list[list[Item]] = []
    for group in groups:
        if merged and all(id(each) in wide for each in (*merged[-1], *group)):
            merged[-1] += group
        else:
            merged.append(group)
    return merged


def downwards(items: Sequence[Item]) -> list[Item]:
    """From the top down; what stands side by side from the left."""
    ordered: list[Item] = []
    row: list[Item] = []
    for item in sorted(items, key=lambda each: ((each.top + each.bottom) / 2, each.x0)):
        if row and min(item.bottom, row[0].bottom) - max(item.top, row[0].top) <= 0.5 * min(
            item.bottom - item.top, row[0].bottom - row[0].top
        ):
            ordered += sorted(row, key=lambda each: each.x0)
            row = []
        row.append(item)
    return ordered + sorted(row, key=lambda each: each.x0)


def _gutter(items: Sequence[Item], size: float) -> _Gutter | None:
    """The blank strip that divides most of these items into a left and a right column, if there is one."""
    if not 6 <= len(items) <= MOST_ITEMS:
        return None
    left, right = min(each.x0 for each in items), max(each.x1 for each in items)
    width = right - left
    strip = 0.7 * size
    edges = sorted({round(each.x1, 1) for each in items if left + 0.12 * width < each.x1 < right - 0.12 * width})
    if not edges:
        return None
    place = min(edges, key=lambda edge: (sum(each.x0 < edge + strip and each.x1 > edge + 0.2 for each in items), edge))
    return _accepted(items, (place + 0.2, place + strip), size)


def _accepted(items: Sequence[Item], strip: tuple[float, float], size: float) -> _Gutter | None:
    found = _Gutter(
        [each for each in items if each.x1 <= strip[0]],
        [each for each in items if each.x0 >= strip[1]],
        [each for each in items if each.x1 > strip[0] and each.x0 < strip[1]],
    )
    sides = (found.left, found.right)
    if min(map(len, sides)) < 3 or len(found.across) > 0.5 * len(items):
        return None
    tops, bottoms = [min(each.top for each in side) for side in sides], [max(e.bottom for e in side) for side in sides]
    if min(bottoms) - max(tops) < 3 * size or not all(_is_wide(side, items) for side in sides):
        return None
    prose = [is_prose([each for each in side if isinstance(each, Run)]) for side in sides]
    # The cells of a table stand side by side; lines of two columns need not, unless both are set on one grid.
    return found if all(prose) or _aligned(*sides) < (0.9 if any(prose) else 0.6) else None


def _is_wide(side: Sequence[Item], items: Sequence[Item]) -> bool:
    """Whether a side is no column of bullets or numbers."""
    width = max(each.x1 for each in side) - min(each.x0 for each in side)
    return width > 0.15 * (max(each.x1 for each in items) - min(each.x0 for each in items))


def _aligned(left: Sequence[Item], right: Sequence[Item]) -> float:
    """The share of lines that have one at the same height on the other side, as the cells of a table do."""
    few, many = sorted((left, right), key=len)
    heights = sorted((each.top + each.bottom) / 2 for each in many)
    near = 0
    for each in few:
        middle = (each.top + each.bottom) / 2
        place = bisect_left(heights, middle)
        gap = min((abs(other - middle) for other in heights[max(place - 1, 0) : place + 1]), default=inf)
        near += gap < 0.25 * (each.bottom - each.top)
    return near / len(few)
