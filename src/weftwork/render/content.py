"""The text of an excerpt: passages of one document in reading order, as their author laid them out.

List items are indented, rows stand in a table, turns have their speaker, headings come before what they head, and
`[…]` stands where something is left out. A passage that was found by itself carries its citation at its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from weftwork.compose.reading import LISTED, ROWS, TURNS
from weftwork.render.quote import clean, inline, open_fence
from weftwork.render.stretches import Shown, trim
from weftwork.render.values import ALL_FIELDS, FieldChoice, field_value, fields_of
from weftwork.types import PAGE, FieldValue, Item, NodeInfo

GAP = "[…]"
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_MARKS = {"done": "x", "cancelled": "-", "canceled": "-", "in progress": "/"}
_FURTHER_LINE = re.compile(r"\n(?=[^\n])")

ProseFields = Literal["always", "bare", "never"]
"""Whether the fields of what is neither a list item nor a row are told: before its text, or where it has none."""


Mark = Callable[[Item], str]
"""What stands at the end of a passage: its citation, and what is to be said of it."""


def content(
    stretches: Sequence[Shown],
    *,
    fields: FieldChoice = ALL_FIELDS,
    mark: Mark = lambda item: "",
    number_pages: bool = True,
    prose_fields: ProseFields = "always",
) -> str:
    """The text of these stretches."""
    blocks: list[tuple[str, str]] = []
    for together in _tables(stretches):
        first = together[0]
        if first.gap:
            blocks.append(("gap", GAP))
        blocks += [("heading", heading) for heading in first.headings]
        if len(together) > 1:
            blocks.append(("table", _table(together, fields, mark)))
        elif first.node.type == "heading" and first.headings and not first.text:
            blocks[-1] = ("heading", _with(first.headings[-1], _marks(first, mark)))
        else:
            kind = "text" if first.node.type == "heading" else first.node.type
            blocks.append((kind, _block(first, fields, mark, number_pages, prose_fields)))
    return _joined([(kind, text) for kind, text in blocks if text])


def _tables(stretches: Sequence[Shown]) -> Iterator[list[Shown]]:
    """Rows of one table together, everything else by itself."""
    rows: list[Shown] = []
    for stretch in stretches:
        if rows and (stretch.node.type not in ROWS or stretch.headings):
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


def _block(stretch: Shown, fields: FieldChoice, mark: Mark, number_pages: bool, prose_fields: ProseFields) -> str:
    node, text = stretch.node, stretch.text
    if node.type in LISTED:
        return _listed(stretch, fields, mark)
    if node.type in TURNS:
        return _turn(stretch, mark)
    head = ""
    if node.type == PAGE:
        number = node.fields.get("page")
        head = f"(page {number})" if number_pages and stretch.first and isinstance(number, int) else ""
    elif node.type != "heading" and stretch.first:
        title = "" if stretch.named else inline(node.title, 200)
        told = prose_fields == "always" or (prose_fields == "bare" and not text) or node.type in ROWS
        head = _titled("" if title and text.startswith(title) else title, fields_of(node.fields, fields) if told else "")
    if node.type == "code" and text and "```" not in text:
        return "\n".join(filter(None, (head, f"```\n{text}\n```", _marks(stretch, mark))))
    return _headed(head, stretch, mark)


def _headed(head: str, stretch: Shown, mark: Mark) -> str:
    """The text of a stretch below its own first line; if it has no text, that line alone."""
    if not stretch.text:
        return _with(head, _marks(stretch, mark))
    return "\n".join(filter(None, (head, with_marks(stretch, mark))))


def _titled(title: str, said: str) -> str:
    return f"{title} ({said})" if title and said else title or said


def _with(text: str, mark: str) -> str:
    return " ".join(filter(None, (text, mark)))


def _marks(stretch: Shown, mark: Mark) -> str:
    return " ".join(filter(None, map(mark, stretch.items)))


def with_marks(stretch: Shown, mark: Mark) -> str:
    """The text of a stretch with the marks of its passages at their ends, or after the code that they end in."""
    text = opened = waiting = ""
    for item in stretch.items:
        own = clean(item.text)
        opened = open_fence(own, opened)
        waiting = _with(waiting, mark(item))
        if waiting and not opened:
            body = own.rstrip()
            separator = "\n" if body.endswith(("```", "~~~", "|")) else " " if body else ""
            own, waiting = f"{body}{separator}{waiting}{own[len(body) :]}", ""
        text += own
    # Code that goes on in what is left out would take all that follows for code as well.
    return "\n".join(filter(None, (trim(text), opened, waiting)))


def _listed(stretch: Shown, fields: FieldChoice, mark: Mark) -> str:
    """A list item with its bullet, indented by its depth; the lines after the first hang below it."""
    node, last = stretch.node, stretch.items[-1]
    bullet = "- "
    if not stretch.first:
        bullet = ""
    elif node.type == "todo":
        status = node.fields.get("status")
        bullet = f"- [{_MARKS.get(status, ' ') if isinstance(status, str) else ' '}] "
    title = inline(node.title, 200) if stretch.first else ""
    said = fields_of(_worth_telling(node), fields) if stretch.first else ""
    behind = f"({said})" if said and stretch.text and not title else ""
    head = "" if behind else _titled(title, said)
    body = _headed(head, stretch, lambda item: _with(behind if item is last else "", mark(item)))
    if not body:
        return ""
    if node.type != "todo" and _BULLET.match(body):
        bullet = ""
    indent = "  " * stretch.indent
    return indent + bullet + _hanging(body, indent + " " * len(bullet))


def _hanging(text: str, indent: str) -> str:
    return _FURTHER_LINE.sub("\n" + indent, text)


def _worth_telling(node: NodeInfo) -> Mapping[str, FieldValue]:
    """The fields of a task without the status, which its mark tells."""
    if node.type != "todo":
        return node.fields
    return {name: value for name, value in node.fields.items() if name != "status" or value not in (*_MARKS, "open")}


def _turn(stretch: Shown, mark: Mark) -> str:
    """A turn of a conversation with its speaker and its day; no line of it can pass for the turn of another."""
    if not stretch.text:
        return ""
    node = stretch.node
    speaker, when = inline(node.title, 60), day(node.created_at)
    # A bare "user:" would be taken for a turn of the conversation that the context is for.
    said = ", ".join(filter(None, (speaker, when))) if when else f"{speaker} said"
    text = with_marks(stretch, mark)
    return _hanging(f"{said}: {text}" if speaker or when else text, "  ")


def day(moment: datetime | None) -> str:
    """A day as it is written, empty where there is none."""
    return "" if moment is None else f"{moment:%Y-%m-%d}"


def _table(rows: Sequence[Shown], fields: FieldChoice, mark: Mark) -> str:
    """Rows of a database below each other, one column for each field; what has text of its own is told after it."""
    shown = [fields.of(row.node.fields) for row in rows]
    names = list(dict.fromkeys(name for values in shown for name in values))
    titled = any(row.node.title for row in rows)
    head = [*(["Name"] if titled else []), *(inline(name, 40) for name in names)]
    if not head:
        return "\n\n".join(with_marks(row, mark) for row in rows)
    lines = [_row(head), _row(["---"] * len(head))]
    texts = []
    for place, (row, values) in enumerate(zip(rows, shown, strict=True)):
        if row.gap and place:
            lines.append(_row([GAP, *[""] * (len(head) - 1)]))
        title = inline(row.node.title, 80)
        cells = [*([title] if titled else []), *(field_value(values[name]) if name in values else "" for name in names)]
        lines.append(_row([_with(cells[0], _marks(row, mark)), *cells[1:]]))
        if row.text:
            texts.append(_hanging(f"{title}: {row.text}" if title else row.text, "  "))
    return "\n\n".join(("\n".join(lines), *texts))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"
