"""The passages of an excerpt as stretches of one node each, with the headings that stand above them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weftwork.compose.reading import LISTED, Reading
from weftwork.render.quote import clean
from weftwork.types import FieldValue, Item, NodeInfo, OutlineNode

LEVEL, HEADING, INDENT = "_level", "_heading", "_indent"
"""The fields that keep the level and the words of a heading, and the column of a list item, as their file has them."""
_LONGEST_LINE = 1_000
STEP = 2
"""Columns by which a list item is indented in another."""
Columns = tuple[Callable[[Item], int], int]
"""The column of an item, and that of the margin."""
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
    """The column at which it stands, as a list item in others."""
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

    def column(item: Item) -> int:
        return STEP * _nesting(reading, reading.owner.get(item.candidate.key, 0))

    outermost = min((column(item) for item in items if item.candidate.node.type in LISTED), default=0)
    return _stretches(reading, items, named, set(common_headings(reading, items)), (column, outermost))


def stretches_of_part(
    reading: Reading, items: Sequence[Item], named: Collection[str], root: int, fields: Mapping[str, FieldValue]
) -> list[Shown]:
    """The items as stretches of the node at a position, which has these fields; earlier items were shown before."""
    if not items:
        return []

    def column(item: Item) -> int:
        own = item.candidate.node.fields.get(INDENT)
        return own if isinstance(own, int) else STEP * _nesting(reading, reading.owner[item.candidate.key])

    first = reading.place[items[0].candidate.key]
    above = reading.headings(reading.owner[items[0].candidate.key])
    told = {each for each in above if each < root or reading.place[reading.nodes[each].keys[0]] < first}
    margin = fields.get(INDENT)
    margin = margin if isinstance(margin, int) else STEP * _nesting(reading, root)
    return _stretches(reading, items, named, told, (column, margin))


def _stretches(
    reading: Reading, items: Sequence[Item], named: Collection[str], told: set[int], columns: Columns
) -> list[Shown]:
    column, outermost = columns
    placed = [(item, reading.place.get(item.candidate.key, place)) for place, item in enumerate(items)]
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
                indent=max(0, column(first) - outermost),
                named=node.id in named,
            )
        )
        last = stretch[-1][1]
    return shown


def _nesting(reading: Reading, position: int) -> int:
    """In how many list items a node stands."""
    return sum(reading.nodes[each].type in LISTED for each in reading.above(position))


def _heading_line(node: NodeInfo, depth: int, entry: OutlineNode) -> str:
    """A heading as it stands in its text, told by the level of the node at this depth that it stands above, or is."""
    level = node.fields.get(LEVEL)
    marks = level - (depth - entry.depth) if isinstance(level, int) else 1 + entry.depth
    text = heading_text(node.fields if node.id == entry.id else {}, entry.title)
    return f"{'#' * max(1, min(6, marks))} {text}"


def heading_text(fields: Mapping[str, FieldValue], title: str) -> str:
    """The words of a heading as they are written, in one line: content like the text below it."""
    written = fields.get(HEADING)
    return one_line(written if isinstance(written, str) else title)


def one_line(text: str) -> str:
    """Content as a part of one line; it is quoted with the text around it."""
    return " ".join(clean(text).split())[:_LONGEST_LINE]


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
