"""The passages of an excerpt as stretches of one node each, with the headings that stand above them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from weftwork.compose.reading import LISTED, Reading
from weftwork.frozen import frozen
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


@frozen
class Shown:
    """A stretch of one node's text that is shown without a gap."""

    node: NodeInfo
    items: tuple[Item, ...]
    first: bool
    """True if it begins with the node's first passage."""
    gap: bool = False
    """True if something after the stretch before it is left out, before its own node or within it."""
    headings: tuple[str, ...] = ()
    """Headings above it that nothing before it has shown, the outermost first, with their marks."""
    indent: int = 0
    """The column at which it stands, as a list item in others."""
    named: bool = False
    """True if the heading of the excerpt has its title."""
    enters: bool = False
    """True if the stretch before it is of another node."""
    cut: bool = False
    """True if the text of its node goes on after it."""
    opened: str = ""
    """The mark of the code fence that it begins in, where it has its end."""
    text: str = ""
    """Its own words, without blank lines around them."""
    by: str = ""
    """The owner of its node, where the document is somebody else's."""


def common_headings(reading: Reading, items: Sequence[Item]) -> list[int]:
    """The headings above all passages of an excerpt, which its own heading names, by position."""
    above = [
        reading.headings(reading.owner[item.candidate.key]) for item in items if item.candidate.key in reading.owner
    ]
    common = [position for places in zip(*above, strict=False) if len(set(places)) == 1 for position in places[:1]]
    return [position for position in common if reading.nodes[position].title]


def stretches(
    reading: Reading, items: Sequence[Item], named: Collection[str], *, all_headings: bool = False
) -> list[Shown]:
    """The items as stretches, each with the headings that nothing before it has shown.

    Those above all of them stand in the heading of the excerpt, unless `all_headings` are wanted here.
    """

    def column(item: Item) -> int:
        return STEP * _nesting(reading, reading.owner.get(item.candidate.key, 0))

    outermost = min((column(item) for item in items if item.candidate.node.type in LISTED), default=0)
    headed = set() if all_headings else set(common_headings(reading, items))
    return _stretches(reading, items, named, headed, (column, outermost))


def stretches_of_part(
    reading: Reading, items: Sequence[Item], named: Collection[str], root: int, fields: Mapping[str, FieldValue]
) -> list[Shown]:
    """The items as stretches below the node at `root`, with its `fields`, after what was shown before."""
    if not items:
        return []

    def column(item: Item) -> int:
        indent = item.candidate.node.fields.get(INDENT)
        return indent if isinstance(indent, int) else STEP * _nesting(reading, reading.owner[item.candidate.key])

    first = reading.place[items[0].candidate.key]
    above = reading.headings(reading.owner[items[0].candidate.key])
    shown = {heading for heading in above if heading < root or reading.place[reading.nodes[heading].keys[0]] < first}
    margin = fields.get(INDENT)
    margin = margin if isinstance(margin, int) else STEP * _nesting(reading, root)
    return _stretches(reading, items, named, shown, (column, margin))


def _stretches(
    reading: Reading, items: Sequence[Item], named: Collection[str], headed: set[int], columns: Columns
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
        new = [reading.nodes[heading] for heading in above if heading not in headed]
        headed.update(above)
        shown.append(
            Shown(
                node,
                tuple([item for item, _ in stretch]),
                first=first.candidate.passage.ordinal == 0,
                gap=last is not None and _leaves_out(reading, last + 1, first, place),
                headings=tuple(
                    _heading_line(node, reading.nodes[position].depth, heading) for heading in new if heading.title
                ),
                indent=max(0, column(first) - outermost),
                named=node.id in named,
                enters=not shown or shown[-1].node.id != node.id,
                cut=_goes_on(reading, stretch[-1][0]),
                text=trim(clean("".join([item.text for item, _ in stretch]))),
                by=_added_by(reading.outline.head, node),
            )
        )
        last = stretch[-1][1]
    return shown


def _added_by(document: NodeInfo, node: NodeInfo) -> str:
    """The owner of what somebody else added to a document: it must not read as its author's words."""
    return "" if node.id == document.id or node.owner in (None, document.owner) else str(node.owner)


def _leaves_out(reading: Reading, start: int, first: Item, end: int) -> bool:
    """True if words between two places are left out before the node of a passage, or within it if it began before."""
    begin = reading.place[reading.node_of(first.candidate.key).keys[0]] if first.candidate.key in reading.owner else end
    return any(map(reading.says, reading.keys[start : begin if start <= begin else end]))


def _goes_on(reading: Reading, last: Item) -> bool:
    """True if the node of a passage has more to say after it, and the passage does not tell that itself."""
    key = last.candidate.key
    if key not in reading.owner or last.truncated:
        return False
    keys = reading.node_of(key).keys
    return any(map(reading.says, keys[keys.index(key) + 1 :]))


def _nesting(reading: Reading, position: int) -> int:
    """The number of list items above a node."""
    return sum(reading.nodes[ancestor].type in LISTED for ancestor in reading.above(position))


def _heading_line(node: NodeInfo, depth: int, entry: OutlineNode) -> str:
    """A heading with its marks; its level follows from that of `node`, which is it or stands below it."""
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
