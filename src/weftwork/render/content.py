"""The text of an excerpt: passages of one document in reading order, as their author laid them out.

List items are indented, rows stand in a table, turns have their speaker, headings come before what they head, and
`[…]` stands where something is left out. A passage that was found by itself carries its citation at its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from weftwork.compose.reading import LISTED, ROWS, TURNS
from weftwork.render.quote import clean, closes, inline, open_fence
from weftwork.render.stretches import Shown, one_line, trim
from weftwork.render.values import ALL_FIELDS, FieldChoice, day, field_lines, field_value
from weftwork.types import PAGE, FieldValue, Item, NodeInfo

GAP = "[…]"
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_MARKS = {"done": "x", "cancelled": "-", "canceled": "-", "in progress": "/"}
_SHORT = 80
"""Characters up to which fields stand in one line."""
_FURTHER_LINE = re.compile(r"\n(?=[^\n])")

ProseFields = Literal["always", "bare", "never"]
"""Fields of nodes other than list items and rows: before the text, only where there is no text, or never."""
Fences = Literal["closed", "kept", "none"]
"""Code fences: each closed, the author's as they are (code nodes fenced), or the author's alone."""

Mark = Callable[[Item], str]
"""The mark at the end of a passage: its citation and its note."""


@dataclass(frozen=True, slots=True)
class Style:
    """A template's settings for the text of an excerpt."""

    fields: FieldChoice = ALL_FIELDS
    mark: Mark = lambda item: ""
    number_pages: bool = True
    prose_fields: ProseFields = "always"
    fences: Fences = "closed"
    days: bool = True
    """True writes the day of each turn of a conversation."""
    ends: bool = True
    """True marks where the text of a node is cut before or after all that is shown."""


def content(stretches: Sequence[Shown], style: Style) -> str:
    """The text of these stretches."""
    blocks: list[tuple[str, str]] = []
    for run in _table_runs(stretches):
        first = run[0]
        midway = not first.first and not first.items[0].truncated
        marked = midway and (style.ends or bool(blocks))
        if first.gap or (marked and not first.headings):
            blocks.append(("gap", GAP))
        blocks += [("heading", heading) for heading in first.headings]
        if marked and first.headings:
            # The beginning of the section is left out, which stands below its heading.
            blocks.append(("gap", GAP))
        if len(run) > 1:
            blocks.append(("table", _table(run, style)))
        elif first.node.type == "heading" and first.headings and not first.text:
            blocks[-1] = ("heading", _with(first.headings[-1], _marks(first, _attributed(first, style))))
        else:
            kind = "text" if first.node.type == "heading" else first.node.type
            blocks.append((kind, _block(first, _attributed(first, style))))
    if style.ends and stretches and stretches[-1].cut:
        blocks.append(("gap", GAP))
    return _joined([(kind, text) for kind, text in blocks if text])


def _attributed(stretch: Shown, style: Style) -> Style:
    """The style with the name of whoever added a stretch to somebody else's document at its end."""
    if not stretch.by or stretch.node.type in TURNS:
        return style
    last, mark, name = stretch.items[-1], style.mark, f"(by {inline(stretch.by, 40)})"
    return replace(style, mark=lambda item: _with(name if item is last else "", mark(item)))


def _table_runs(stretches: Sequence[Shown]) -> Iterator[list[Shown]]:
    """Group the rows of each table; everything else stands by itself."""
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
    """Join blocks by blank lines; list items and turns by line breaks alone."""
    text, before = "", ""
    for kind, block in blocks:
        if text:
            close = _in_one_list(text, before, block, kind) or (kind in TURNS and before in TURNS)
            close = close or "gap" in (kind, before) or (before == "heading")
            text += "\n" if close else "\n\n"
        text += block
        before = kind
    return text


def _in_one_list(text: str, before: str, block: str, kind: str) -> bool:
    """Return True if a list goes on from one block to the next, at least one of which is a list item."""
    if kind in LISTED and before in LISTED:
        return True
    ends_in_list = before == "text" and _BULLET.match(text.rpartition("\n")[2]) is not None
    begins_with_list = kind in ("text", "paragraph") and _BULLET.match(block) is not None
    return (kind in LISTED and ends_in_list) or (before in LISTED and begins_with_list)


def _block(stretch: Shown, style: Style) -> str:
    node, text = stretch.node, stretch.text
    if node.type in LISTED:
        return _listed(stretch, style)
    if node.type in TURNS:
        return _turn(stretch, style)
    head = ""
    if node.type == PAGE:
        number = node.fields.get("page")
        numbered = style.number_pages and (stretch.first or (stretch.enters and not stretch.named))
        head = f"(page {number})" if numbered and isinstance(number, int) else ""
    elif node.type != "heading" and stretch.first:
        title = "" if stretch.named else inline(node.title, 200)
        always = style.prose_fields == "always" or node.type in ROWS
        show_fields = always or (style.prose_fields == "bare" and not text)
        fields = field_lines(node.fields, style.fields) if show_fields else []
        head = _titled("" if title and text.startswith(title) else title, fields)
    if node.type == "code" and text and "```" not in text and style.fences != "none":
        return "\n".join(filter(None, (head, f"```\n{text}\n```", _marks(stretch, style))))
    return _headed(head, stretch, style)


def _headed(head: str, stretch: Shown, style: Style) -> str:
    """The text of a stretch below its own first line; if it has no text, that line alone."""
    if not stretch.text:
        return _with(head, _marks(stretch, style))
    # Fields of a page that take several lines are kept apart from its first paragraph.
    gap = "\n\n" if "\n" in head and stretch.node.type not in LISTED else "\n"
    return gap.join(filter(None, (head, _with_marks(stretch, style))))


def _titled(title: str, fields: Sequence[str]) -> str:
    """A title with the fields behind it, or below it where they are long."""
    joined = "; ".join(fields)
    if len(joined) > _SHORT:
        return "\n".join(filter(None, (title, *fields)))
    return f"{title} ({joined})" if title and joined else title or joined


def _with(text: str, mark: str) -> str:
    return " ".join(filter(None, (text, mark)))


def _marks(stretch: Shown, style: Style) -> str:
    return " ".join(filter(None, map(style.mark, stretch.items)))


def _with_marks(stretch: Shown, style: Style) -> str:
    """The text of a stretch with a mark at the end of each passage, or after the code that it ends in."""
    text, opened, waiting = "", stretch.opened, ""
    texts = [clean(item.text) for item in stretch.items]
    for place, (item, passage) in enumerate(zip(stretch.items, texts, strict=True)):
        opened = open_fence(passage, opened)
        waiting = _with(waiting, style.mark(item))
        # A mark within a row would read as a part of its cell, and one between two rows would end their table.
        last_line = passage.rstrip("\n").rpartition("\n")[2]
        goes_on = "".join(texts[place + 1 : place + 2])
        in_table = bool(goes_on) and (
            (passage.endswith("|\n") and goes_on.startswith("|"))
            or (not passage.endswith("\n") and last_line.lstrip().startswith("|"))
        )
        if waiting and not opened and not in_table:
            body = passage.rstrip()
            separator = "\n" if body.endswith(("```", "~~~", "|")) else " " if body else ""
            text += f"{body}{separator}{waiting}{passage[len(body) :]}"
            waiting = ""
        else:
            text += passage
    text = trim(text)
    if style.fences != "closed":
        return "\n".join(filter(None, (text, waiting)))
    first, _, rest = text.partition("\n")
    if stretch.opened and closes(first, stretch.opened):
        return "\n".join(filter(None, (trim(rest), opened, waiting)))
    # Code that goes on in what is left out would take all that follows for code as well.
    return "\n".join(filter(None, (stretch.opened, text, opened, waiting)))


def _listed(stretch: Shown, style: Style) -> str:
    """A list item with its bullet, indented by its depth; the lines after the first hang below it."""
    node, last, mark = stretch.node, stretch.items[-1], style.mark
    bullet = "- "
    if not stretch.first:
        bullet = ""
    elif node.type == "todo":
        status = node.fields.get("status")
        bullet = f"- [{_MARKS.get(status, ' ') if isinstance(status, str) else ' '}] "
    title = one_line(node.title) if stretch.first else ""
    fields = field_lines(_fields_beside_checkbox(node), style.fields) if stretch.first else []
    joined = "; ".join(fields)
    after = bool(joined and stretch.text and not title)
    behind = f"({joined})" if after and len(joined) <= _SHORT and "\n" not in stretch.text else ""
    head = "" if after else _titled(title, fields)
    if not head and not stretch.text:
        return ""
    body = _headed(head, stretch, replace(style, mark=lambda item: _with(behind if item is last else "", mark(item))))
    if after and not behind:
        # Further lines may be items below this one: its fields stand before them.
        shown = [joined] if len(joined) <= _SHORT else fields
        first, _, rest = ("", "", body) if _BULLET.match(body) else body.partition("\n")
        body = "\n".join(filter(None, (first, *shown, rest)))
    if node.type != "todo" and _BULLET.match(body):
        bullet = ""
    indent = " " * stretch.indent
    return indent + bullet + _hanging(body, indent + ("  " if bullet else ""))


def _hanging(text: str, indent: str) -> str:
    return _FURTHER_LINE.sub("\n" + indent, text)


def _fields_beside_checkbox(node: NodeInfo) -> Mapping[str, FieldValue]:
    """The fields of a node, without the status of a task that its checkbox shows."""
    if node.type != "todo":
        return node.fields
    return {name: value for name, value in node.fields.items() if name != "status" or value not in (*_MARKS, "open")}


def _turn(stretch: Shown, style: Style) -> str:
    """A turn with its speaker and day, its lines indented so that none can pass for another turn."""
    if not stretch.text:
        return ""
    node = stretch.node
    speaker, when = inline(node.title, 60), day(node.created_at) if style.days else ""
    # A bare "user:" would be taken for a turn of the conversation that the context is for.
    lead = ", ".join(filter(None, (speaker, when))) if when else f"{speaker} said"
    text = _with_marks(stretch, style)
    return _hanging(f"{lead}: {text}" if speaker or when else text, "  ")


def _table(rows: Sequence[Shown], style: Style) -> str:
    """A table of rows, one column for each field; the texts of rows follow it."""
    shown = [style.fields.of(row.node.fields) for row in rows]
    names = list(dict.fromkeys(name for values in shown for name in values))
    titled = any(row.node.title for row in rows)
    head = [*(["Name"] if titled else []), *(inline(name, 40) for name in names)]
    if not head:
        return "\n\n".join(_with_marks(row, _attributed(row, style)) for row in rows)
    lines = [_row(head), _row(["---"] * len(head))]
    texts = []
    for place, (row, values) in enumerate(zip(rows, shown, strict=True)):
        if row.gap and place:
            lines.append(_row([GAP, *[""] * (len(head) - 1)]))
        title = inline(row.node.title, 80)
        cells = [*([title] if titled else []), *(field_value(values[name]) if name in values else "" for name in names)]
        lines.append(_row([_with(cells[0], _marks(row, _attributed(row, style))), *cells[1:]]))
        if row.text:
            texts.append(_hanging(f"{title}: {row.text}" if title else row.text, "  "))
    return "\n\n".join(("\n".join(lines), *texts))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"
