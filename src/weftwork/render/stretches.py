"""The passages of an excerpt as stretches of one node each, with the headings that stand above them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from weftwork.compose.reading import LISTED, Reading
from weftwork.render.quote import clean, inline
from weftwork.types import Item, NodeInfo, OutlineNode

LEVEL = "_level"
"""The field that keeps the level which a heading has in its file."""
_BLANK_START = re.compile(r"\A(?:[^\S\n]*\n)+")


def trim(text: str) -> str:
    """The text without the blank lines around it; the indentation of its first line stays."""
    return _BLANK_START.sub("", text).rstrip()


@dataclass(frozen=True, slots=True)
class Shown:
    """A stretch of one node's text that is shown without a gap."""

    node: NodeInfo
    items: tuple[Item, ...]
    first: bool
    """Whether it begins with the node's first passage."""
    gap: bool = False
    """Whether something between it and what is shown before it is left out."""
    headings: tuple[str, ...] = ()
    """Headings above it that nothing before it has shown, the outermost first, with their marks."""
    indent: int = 0
    """In how many of the shown list items it is nested."""
    named: bool = False
    """Whether the heading of the excerpt tells its title."""
    opened: str = ""
    """The mark of the code fence that it begins in, where it has its end."""

    @property
    def text(self) -> str:
        """Its own words, without blank lines around them."""
        return trim(clean("".join(item.text for item in self.items)))


def common_headings(reading: Reading, items: Sequence[Item]) -> list[int]:
    """The headings above all passages of an excerpt, which its own heading names, by position."""
    above = [
        reading.headings(reading.owner[item.candidate.key]) for item in items if item.candidate.key in reading.owner
    ]
    common = [each for places in zip(*above, strict=False) if len(set(places)) == 1 for each in places[:1]]
    return [each for each in common if reading.nodes[each].title]


def stretches(reading: Reading, items: Sequence[Item], named: Collection[str]) -> list[Shown]:
    """The items as stretches, each with the headings that nothing before it has shown."""
    placed = [(item, reading.place.get(item.candidate.key, place)) for place, item in enumerate(items)]
    told = set(common_headings(reading, items))
    outermost = min((_nesting(reading, item) for item in items if item.candidate.node.type in LISTED), default=0)
    shown: list[Shown] = []
    last: int | None = None
    for stretch in _divided(placed):
        first, place = stretch[0]
        node = first.candidate.node
        position = reading.owner.get(first.candidate.key, 0)
        above = reading.headings(position)
        new = [reading.nodes[each] for each in above if each not in told]
        told.update(above)
        shown.append(
            Shown(
                node,
                tuple(item for item, _ in stretch),
                first=first.candidate.passage.ordinal == 0,
                gap=last is not None and any(map(reading.says, reading.keys[last + 1 : place])),
                headings=tuple(_heading_line(node, reading.nodes[position].depth, each) for each in new if each.title),
                indent=max(0, _nesting(reading, first) - outermost),
                named=node.id in named,
            )
        )
        last = stretch[-1][1]
    return shown


def _nesting(reading: Reading, item: Item) -> int:
    """In how many list items one stands."""
    above = reading.above(reading.owner.get(item.candidate.key, 0))
    return sum(reading.nodes[each].type in LISTED for each in above)


def _heading_line(node: NodeInfo, depth: int, entry: OutlineNode) -> str:
    """A heading as it stands in its text, told by the level of the node at this depth that it stands above, or is."""
    level = node.fields.get(LEVEL)
    marks = level - (depth - entry.depth) if isinstance(level, int) else 1 + entry.depth
    return f"{'#' * max(1, min(6, marks))} {inline(entry.title, 200)}"


def _divided(items: Sequence[tuple[Item, int]]) -> Iterator[list[tuple[Item, int]]]:
    """Items with their places in the reading, divided where the node changes or something is left out."""
    stretch: list[tuple[Item, int]] = []
    for item, place in items:
        if stretch and (stretch[-1][1] + 1 != place or stretch[-1][0].candidate.node.id != item.candidate.node.id):
            yield stretch
            stretch = []
        stretch.append((item, place))
    if stretch:
        yield stretch
