"""The text of an excerpt: passages of one document in reading order, as their author laid them out.

List items are indented, rows stand in a table, turns have their speaker, headings come before what they head, and
`[…]` stands where something is left out. A passage that was found by itself carries its citation at its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from weftwork.render.quote import clean, inline
from weftwork.render.values import ALL_FIELDS, FieldChoice, fields_of
from weftwork.types import PAGE, FieldValue, Item, NodeInfo, OutlineNode

GAP = "[…]"
LISTED = frozenset({"list_item", "todo", "block"})
ROWS = frozenset({"db_row", "row"})
TURNS = frozenset({"message"})
LEVEL = "_level"
"""The field that keeps the level which a heading has in its file."""
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_MARKS = {"done": "x", "cancelled": "-", "canceled": "-", "in progress": "/"}
_BLANK_START = re.compile(r"\A(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Shown:
    """A stretch of one node's text that is shown without a gap."""

    node: NodeInfo
    entry: OutlineNode
    items: tuple[Item, ...]
    first: bool
    """Whether it begins with the node's first passage."""
    gap: bool
    """Whether something between it and what is shown before it is left out."""
    headings: tuple[str, ...]
    """Headings above it that nothing before it has shown, the outermost first, with their marks."""

    @property
    def text(self) -> str:
        """Its own words, without blank lines around them."""
        return trim(clean("".join(item.text for item in self.items)))


def trim(text: str) -> str:
    """The text without the blank lines around it; the indentation of its first line stays."""
    return _BLANK_START.sub("", text).rstrip()


def content(
    stretches: Sequence[Shown],
    *,
    fields: FieldChoice = ALL_FIELDS,
    base: int = 0,
    cited: Callable[[Item], str] = lambda item: "",
    number_pages: bool = True,
) -> str:
    """The text of these stretches; `base` is the depth at which lists are not indented."""
    blocks: list[tuple[str, str]] = []
    for together in _tables(stretches):
        first = together[0]
        if first.gap:
            blocks.append(("gap", GAP))
        blocks += [("heading", heading) for heading in first.headings]
        if len(together) > 1:
            blocks.append(("table", _table(together, fields, cited)))
        else:
            kind = "text" if first.node.type == "heading" else first.node.type
            blocks.append((kind, _block(first, fields, base, cited, number_pages)))
    return _joined([(kind, text) for kind, text in blocks if text])


def _tables(stretches: Sequence[Shown]) -> Iterator[list[Shown]]:
    """Rows that stand next to each other together, everything else by itself."""
    rows: list[Shown] = []
    for stretch in stretches:
        if rows and (stretch.node.type not in ROWS or stretch.gap or stretch.headings):
            yield rows
            rows = []
        if stretch.node.type in ROWS:
            rows.append(stretch)
        else:
            yield [stretch]
    if rows:
        yield rows


def _joined(blocks: Sequence[tuple[str, str]]) -> str:
    """Blocks one below the other: lists and turns without blank lines between them."""
    text, before = "", ""
    for kind, block in blocks:
        if text:
            close = (kind in LISTED and before in LISTED) or (kind in TURNS and before in TURNS)
            close = close or "gap" in (kind, before) or (before == "heading")
            text += "\n" if close else "\n\n"
        text += block
        before = kind
    return text


def _block(stretch: Shown, fields: FieldChoice, base: int, cited: Callable[[Item], str], number_pages: bool) -> str:
    node = stretch.node
    text = with_citations(stretch, cited)
    if node.type in LISTED:
        return _listed(stretch, text, fields, base)
    if node.type in TURNS:
        return _turn(node, text)
    title = "" if node.type in ("heading", PAGE) else _title(stretch, text)
    if node.type == "code" and text and "```" not in text:
        return "\n".join(filter(None, (title, f"```\n{text}\n```")))
    if node.type == PAGE:
        number = node.fields.get("page")
        mark = f"(page {number})" if number_pages and stretch.first and isinstance(number, int) else ""
        return "\n".join(filter(None, (mark, text)))
    said = fields_of(node.fields, fields) if stretch.first and node.type != "heading" else ""
    return "\n".join(filter(None, (_told(title, said), text)))


def _title(stretch: Shown, text: str) -> str:
    """The title of a block whose text does not begin with it; that of a document stands in its heading."""
    title = inline(stretch.node.title, 200) if stretch.first and stretch.entry.depth else ""
    return "" if title and text.startswith(title) else title


def _told(title: str, fields: str) -> str:
    return f"{title} ({fields})" if title and fields else title or fields


def with_citations(stretch: Shown, cited: Callable[[Item], str]) -> str:
    """The text of a stretch, with the citations of its passages at their ends."""
    text = ""
    for item in stretch.items:
        own, mark = clean(item.text), cited(item)
        if mark:
            body = own.rstrip()
            separator = "\n" if body.endswith(("```", "~~~", "|")) else " "
            own = f"{body}{separator if body else ''}{mark}{own[len(body) :]}"
        text += own
    return trim(text)


def _listed(stretch: Shown, text: str, fields: FieldChoice, base: int) -> str:
    """A list item with its mark, indented by its depth; the lines after the first hang below it."""
    node = stretch.node
    indent = "  " * max(0, stretch.entry.depth - base)
    mark = "- "
    if not stretch.first:
        mark = ""
    elif node.type == "todo":
        status = node.fields.get("status")
        mark = f"- [{_MARKS.get(status, ' ') if isinstance(status, str) else ' '}] "
    elif _BULLET.match(text):
        mark = ""
    title = inline(node.title, 200) if node.title and stretch.first else ""
    said = fields_of(_worth_telling(node), fields) if stretch.first else ""
    body = "\n".join(filter(None, (_told(title, said) if title else "", text)))
    if not title and said:
        body = f"{body} ({said})" if body else said
    hanging = "\n" + indent + " " * len(mark)
    return f"{indent}{mark}{body}".replace("\n", hanging)


def _worth_telling(node: NodeInfo) -> Mapping[str, FieldValue]:
    """The fields of a task without the status, which its mark tells."""
    if node.type != "todo":
        return node.fields
    return {name: value for name, value in node.fields.items() if name != "status" or value not in (*_MARKS, "open")}


def _turn(node: NodeInfo, text: str) -> str:
    """A turn of a conversation with its speaker and its day."""
    speaker, when = inline(node.title, 60), day(node.created_at)
    # A bare "user:" would be taken for a turn of the conversation that the context is for.
    said = ", ".join(filter(None, (speaker, when))) if when else f"{speaker} said"
    return f"{said}: {text}" if speaker or when else text


def day(moment: datetime | None) -> str:
    """A day as it is written, empty where there is none."""
    return "" if moment is None else f"{moment:%Y-%m-%d}"


def _table(rows: Sequence[Shown], fields: FieldChoice, cited: Callable[[Item], str]) -> str:
    """Rows of a database below each other, one column for each field; what has text of its own is told after it."""
    shown = [fields.of(row.node.fields) for row in rows]
    names = list(dict.fromkeys(name for values in shown for name in values))
    titled = any(row.node.title for row in rows)
    head = [*(["Name"] if titled else []), *(inline(name, 40) for name in names)]
    if not head:
        return "\n\n".join(with_citations(row, cited) for row in rows)
    lines = [_row(head), _row(["---"] * len(head))]
    texts = []
    for row, values in zip(rows, shown, strict=True):
        mark = "".join(cited(item) for item in row.items)
        name = " ".join(filter(None, (inline(row.node.title, 80), mark)))
        cells = [fields_of({key: values[key]}).partition(": ")[2] if key in values else "" for key in names]
        lines.append(_row([*([name] if titled else []), *cells]))
        if row.text:
            texts.append(f"{inline(row.node.title, 80)}: {row.text}" if row.node.title else row.text)
    return "\n\n".join(("\n".join(lines), *texts))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"


def heading_line(node: NodeInfo, entry: OutlineNode) -> str:
    """A heading as it stands in its text."""
    level = node.fields.get(LEVEL) if node.id == entry.id else None
    marks = level if isinstance(level, int) else 1 + entry.depth
    return f"{'#' * max(1, min(6, marks))} {inline(entry.title, 200)}"


def stretches_of(items: Sequence[tuple[Item, int]]) -> Iterator[list[tuple[Item, int]]]:
    """Items with their places in the reading, divided where the node changes or something is left out."""
    stretch: list[tuple[Item, int]] = []
    for item, place in items:
        if stretch and (stretch[-1][1] + 1 != place or stretch[-1][0].candidate.node.id != item.candidate.node.id):
            yield stretch
            stretch = []
        stretch.append((item, place))
    if stretch:
        yield stretch
