"""Roam Research: the pages of a JSON export."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.dates import moment, written_date
from weftwork.ingest.connectors.exports import (
    Entry,
    digest,
    entry_sources,
    export_sources,
    export_top,
    first_item,
    single_json,
)
from weftwork.ingest.connectors.jsonstream import Damaged, Item, items, unpacked
from weftwork.ingest.connectors.outline import Block, Page, Task, page_pieces
from weftwork.ingest.connectors.protocol import Listed, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity

_TASK = re.compile(r"\{\{\s*(?:\[\[)?(TODO|DONE)(?:\]\])?\s*\}\}\s*")
_ATTRIBUTE = re.compile(r"([^\s:`\[\]{}(][^:`\n]{0,80}?|\[\[[^\[\]]+\]\])::(?:\s+(.*)|)$", re.DOTALL)
_DUE = re.compile(r"\b(?:due|deadline):?:?\s*\[\[([^\[\]]+)\]\]", re.IGNORECASE)


class Roam:
    """A graph exported as JSON."""

    name = "roam"
    summary = "Roam Research export: JSON, or the zip that holds it"
    version = 3

    def recognises(self, path: Path) -> float:
        """A JSON file, or a zip of one, whose first item is a page."""
        try:
            entry = single_json(path)
            first = first_item(entry) if entry else None
        except (Damaged, Refused, OSError, UnicodeDecodeError):
            return 0.0
        return 0.9 if first and _is_page(first.value) else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each page."""
        top = export_top(path, "roam", "Roam Research")
        pages = partial(_pages, top=top.id)
        return export_sources(path, top, lambda export: entry_sources(path, export.json_files, pages))


def _is_page(value: Any) -> bool:
    """Return True for a page as Roam writes it, or a block that stands by itself."""
    if not isinstance(value, dict) or not _title(value):
        return False
    blocks = value.get("children")
    if isinstance(blocks, list) and blocks:
        return any(isinstance(block, dict) and "string" in block for block in blocks)
    return any(name in value for name in ("uid", "edit-time", "create-time"))


def _title(value: Mapping[str, Any]) -> str:
    title = value.get("title", value.get("string"))
    return title.strip() if isinstance(title, str) else ""


def _pages(entry: Entry, top: str) -> Iterator[Source | Skipped]:
    seen: set[str] = set()
    with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
        for number, item in enumerate(items(text)):
            what = f"{entry.name}: page {number + 1}"
            if not _is_page(item.value):
                yield Skipped(what, "is not a page: it has no title, or no blocks that hold text")
                continue
            page_id = str(item.value.get("uid") or _title(item.value))
            if page_id in seen:
                yield Skipped(what, f"is there twice: {page_id}")
                continue
            seen.add(page_id)
            yield _source(item, page_id, number, entry.name, top)


def _source(item: Item, page_id: str, number: int, file: str, top: str) -> Source:
    """A page, packed until it is read: all of them parsed would take many times the file."""
    packed, fingerprint = item.packed(), digest(item.text)
    return Source(
        key=f"{file}/{page_id}", id=identity("roam", page_id), what=f"{file}: {_title(item.value)}", stamp=fingerprint,
        fingerprint=lambda: fingerprint, read=partial(_read, packed, number, top), movable=False,
    )  # fmt: skip


def _read(packed: bytes, number: int, top: str, source_id: str) -> Iterator[Yielded]:
    value = unpacked(packed)
    title = _title(value)
    try:
        blocks, properties, wrong = _blocks(value.get("children"))
    except RecursionError as error:
        raise Refused("is nested too deeply") from error
    if wrong:
        yield Skipped(title, f"{wrong} of its blocks hold no text")
    day = written_date(title)
    page = Page(
        title=title,
        source=f"roam:{value.get('uid') or title}",
        parent=top,
        position=number,
        blocks=blocks,
        properties=properties,
        day=day,
        aliases=(day.isoformat(),) if day else (),
        names=(value["uid"],) if isinstance(value.get("uid"), str) else (),
        created_at=moment(value.get("create-time")),
        updated_at=moment(value.get("edit-time")) or _latest(value),
    )
    yield from page_pieces(page, source_id)


def _latest(page: Mapping[str, Any]) -> datetime | None:
    children = page.get("children")
    blocks = children if isinstance(children, list) else []
    times = [moment(block.get("edit-time")) for block in blocks if isinstance(block, dict)]
    return max((time for time in times if time), default=None)


def _blocks(value: Any) -> tuple[tuple[Block, ...], dict[str, str], int]:
    """Nested blocks, the attributes of their parent, and the number of malformed ones."""
    blocks, properties, wrong = [], {}, 0
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("string"), str):
            wrong += 1
            continue
        below, own_properties, unsound = _blocks(item.get("children"))
        wrong += unsound
        attribute = _ATTRIBUTE.fullmatch(item["string"].strip())
        if attribute:
            text = attribute[2] or ", ".join(block.text for block in below)
            properties[attribute[1].strip("[]").strip()] = text.strip()
        if not attribute or below:
            blocks.append(_block(item, below, own_properties))
    return tuple(blocks), properties, wrong


def _block(value: Mapping[str, Any], below: tuple[Block, ...], properties: Mapping[str, str]) -> Block:
    text, key, level = value["string"], value.get("uid"), value.get("heading")
    level = int(level) if level in (1, 2, 3) else 0
    return Block(
        text=_TASK.sub("", text).strip() if _TASK.match(text) else text,
        children=below,
        key=key if isinstance(key, str) and key.isprintable() else "",
        task=_task(text),
        heading=level > 0,
        level=level,
        properties=properties,
        created_at=moment(value.get("create-time")),
        updated_at=moment(value.get("edit-time")) or moment(value.get("create-time")),
    )


def _task(text: str) -> Task | None:
    """The task of a block that begins with a checkbox, with its due date."""
    box = _TASK.match(text)
    if box is None:
        return None
    due = _DUE.search(text)
    day = written_date(due[1]) if due else None
    status = "done" if box[1] == "DONE" else "open"
    return Task(text[box.end() :].strip(), status, {"due": day.isoformat()} if day else {})
