"""Roam Research: the pages of a JSON export."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.dates import moment, written_date
from weftwork.ingest.connectors.exports import Entry, digest, export_top, names_in, open_export, unread
from weftwork.ingest.connectors.jsonstream import GLANCE, Damaged, Item, items, unpacked
from weftwork.ingest.connectors.outline import Block, Page, Task, page_pieces
from weftwork.ingest.connectors.protocol import Source, Unread, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity

_TASK = re.compile(r"\{\{\s*(?:\[\[)?(TODO|DONE)(?:\]\])?\s*\}\}\s*")
_ATTRIBUTE = re.compile(r"([^\s:`\[\]{}(][^:`\n]{0,80}?|\[\[[^\[\]]+\]\])::(?:\s+(.*)|)$", re.DOTALL)
_DUE = re.compile(r"\b(?:due|deadline):?:?\s*\[\[([^\[\]]+)\]\]", re.IGNORECASE)


class Roam:
    """A graph that was exported as JSON."""

    name = "roam"
    summary = "Roam Research export: JSON, or the zip that holds it"
    version = 2

    def recognises(self, path: Path) -> float:
        """By what the first page holds."""
        if path.is_dir() or not any(name.lower().endswith(".json") for name in names_in(path, 50)):
            return 0.0
        try:
            files = [entry for entry in open_export(path).files if entry.suffix == ".json"]
            if len(files) != 1:
                return 0.0
            with io.TextIOWrapper(files[0].open(), "utf-8-sig") as text:
                first = next(items(text, largest=GLANCE), None)
        except (Damaged, Refused, OSError, UnicodeDecodeError):
            return 0.0
        return 0.9 if first and _is_page(first.value) else 0.0

    def sources(self, path: Path) -> Iterator[Source | Unread | Skipped]:
        """A source for each page."""
        try:
            export = open_export(path)
        except (Refused, OSError) as refused:
            yield unread(path, str(refused))
            return
        top = export_top(path, "roam", "Roam Research")
        yield top
        yield from export.skipped
        for entry in (entry for entry in export.files if entry.suffix == ".json"):
            try:
                yield from _pages(entry, top.id)
            except (Damaged, Refused, OSError, zlib.error, EOFError, ValueError) as error:
                yield unread(path, f"{entry.name} {error}")


def _is_page(value: Any) -> bool:
    """Whether a value is a page as Roam writes it, or a block that stands by itself."""
    if not isinstance(value, dict) or not _title(value):
        return False
    blocks = value.get("children")
    if isinstance(blocks, list) and blocks:
        return any(isinstance(each, dict) and "string" in each for each in blocks)
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
            known = str(item.value.get("uid") or _title(item.value))
            if known in seen:
                yield Skipped(what, f"is there twice: {known}")
                continue
            seen.add(known)
            yield _source(item, known, number, entry.name, top)


def _source(item: Item, known: str, number: int, file: str, top: str) -> Source:
    """A page that is kept packed until it is read: all of them unpacked would be many times the file."""
    packed, fingerprint = item.packed(), digest(item.text)
    return Source(
        key=f"{file}/{known}", id=identity("roam", known), what=f"{file}: {_title(item.value)}", stamp=fingerprint,
        fingerprint=lambda: fingerprint, read=partial(_read, packed, number, top), movable=False,
    )  # fmt: skip


def _read(packed: bytes, number: int, top: str, own: str) -> Iterator[Yielded]:
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
    yield from page_pieces(page, own)


def _latest(page: Mapping[str, Any]) -> datetime | None:
    children = page.get("children")
    blocks = children if isinstance(children, list) else []
    times = [moment(each.get("edit-time")) for each in blocks if isinstance(each, dict)]
    return max((each for each in times if each), default=None)


def _blocks(value: Any) -> tuple[tuple[Block, ...], dict[str, str], int]:
    """Blocks with those below them, attributes of what they stand below, and how many were no blocks."""
    blocks, properties, wrong = [], {}, 0
    for each in value if isinstance(value, list) else ():
        if not isinstance(each, dict) or not isinstance(each.get("string"), str):
            wrong += 1
            continue
        below, own, unsound = _blocks(each.get("children"))
        wrong += unsound
        attribute = _ATTRIBUTE.fullmatch(each["string"].strip())
        if attribute:
            told = attribute[2] or ", ".join(block.text for block in below)
            properties[attribute[1].strip("[]").strip()] = told.strip()
        if not attribute or below:
            blocks.append(_block(each, below, own))
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
    """A task with its box at the beginning, as Roam draws it, and the day that it says it is due."""
    box = _TASK.match(text)
    if box is None:
        return None
    said = _DUE.search(text)
    day = written_date(said[1]) if said else None
    status = "done" if box[1] == "DONE" else "open"
    return Task(text[box.end() :].strip(), status, {"due": day.isoformat()} if day else {})
