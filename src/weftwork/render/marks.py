"""Marks for the reader of an excerpt: where the focus is, and how much of a table or of a page is shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from weftwork.compose.offers import Offer
from weftwork.compose.reading import ROWS, Reading
from weftwork.render.content import Style, content
from weftwork.render.stretches import Shown
from weftwork.types import Item

BEFORE, FOCUS, AFTER = "(before the focus)", "(the focus)", "(after the focus)"
_MARK = re.compile(r"^[ \t]*(?=\((?:(?:before |after )?the focus\)|[\d,]+ of [\d,]+ ))", re.MULTILINE | re.IGNORECASE)
"""Content that looks like a mark."""


def around_focus(offer: Offer, shown: Sequence[Shown], style: Style) -> str:
    """The text of these stretches, with marks where something stands before or after a focused block."""
    focus = next((hit.key for hit in offer.hits.values() if hit.asked and hit.found_as("focus") == 1.0), None)
    reading = offer.reading
    if focus is None or not reading.owner.get(focus):
        return _without_marks(content(shown, style))
    start = reading.owner[focus]
    end = reading.ends[start]
    parts: dict[str, list[Shown]] = {BEFORE: [], FOCUS: [], AFTER: []}
    for stretch in shown:
        position = reading.owner.get(stretch.items[0].candidate.key, start)
        parts[BEFORE if position < start else FOCUS if position < end else AFTER].append(stretch)
    texts = {mark: _without_marks(content(part, style)) for mark, part in parts.items() if part}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n\n".join(f"{mark}\n{text}" for mark, text in texts.items())


def _without_marks(text: str) -> str:
    """The text with a backslash before what looks like a mark."""
    return _MARK.sub(lambda match: match[0] + "\\", text)


def rows_shown(reading: Reading, items: Sequence[Item]) -> str:
    """The number of rows of a table that are shown, if not all are."""
    total = sum(node.type in ROWS for node in reading.nodes)
    shown = len({item.candidate.node.id for item in items if item.candidate.node.type in ROWS})
    return f"({shown:,} of {total:,} rows are shown)" if 0 < shown < total else ""


def share_shown(reading: Reading, items: Sequence[Item], keys: Iterable[int]) -> str:
    """The share of these passages that is shown: rows, blocks, or words of a single text."""
    rows = rows_shown(reading, items)
    if rows:
        return rows
    wanted = [key for key in keys if reading.says(key)]
    total = len({reading.owner[key] for key in wanted})
    shown = len({item.candidate.node.id for item in items if reading.says(item.candidate.key)})
    if shown < total:
        return f"({shown:,} of {total:,} blocks are shown)"
    words = sum(len(item.text.split()) for item in items)
    tokens = reading.cost(wanted)
    whole = sum(reading.tokens[item.candidate.key] for item in items) or 1
    of_whole = sum(len(item.candidate.passage.text.split()) for item in items) * tokens // whole
    return f"({words:,} of about {of_whole:,} words are shown)" if words < of_whole else ""


def rows_that_match(items: Sequence[Item], words: Collection[str]) -> set[int]:
    """The places of the rows with the most words of a query; none if no row has any."""
    stems = {word.removesuffix("s") for word in words if len(word) > 2}
    matches = {
        place: sum(stem in text for stem in stems)
        for place, item in enumerate(items)
        if item.candidate.node.type in ROWS and (text := _row_text(item))
    }
    most = max(matches.values(), default=0)
    return {place for place, count in matches.items() if count == most} if most else set()


def _row_text(item: Item) -> str:
    node = item.candidate.node
    return " ".join(map(str, (node.title, *node.fields.values(), item.candidate.passage.text))).casefold()
