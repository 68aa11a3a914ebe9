"""Logseq's JSON export: a list of pages, each with its blocks."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.dates import written_date
from weftwork.ingest.connectors.exports import digest, export_top, open_export, unread
from weftwork.ingest.connectors.jsonstream import GLANCE, Damaged, Item, items, unpacked
from weftwork.ingest.connectors.outline import Block, Page, Task, listed, page_pieces
from weftwork.ingest.connectors.protocol import Listed, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity

TaskReader = Callable[[str], Task | None]
_HEAD = re.compile(r'\A\ufeff?\s*\{\s*"(?:version|blocks)"')


def is_logseq_json(path: Path) -> bool:
    """Return True for a JSON export of Logseq."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8-sig") as file:
            if not _HEAD.match(file.read(200)):
                return False
            file.seek(0)
            first = next(items(file, "blocks", GLANCE), None)
    except (OSError, UnicodeDecodeError, Damaged):
        return False
    return first is not None and isinstance(first.value, dict) and "page-name" in first.value


def json_sources(path: Path, task: TaskReader) -> Iterator[Listed]:
    """A source for each page; `task` parses the task of a block."""
    top = export_top(path, "logseq", path.stem)
    yield top
    seen: set[str] = set()
    try:
        (entry,) = open_export(path).files
        with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
            for number, item in enumerate(items(text, "blocks")):
                name = item.value.get("page-name") if isinstance(item.value, dict) else None
                if not isinstance(name, str) or not name.strip() or name in seen:
                    yield Skipped(f"{path.name}: page {number + 1}", "has no name, or that of another page")
                else:
                    seen.add(name)
                    yield _source(item, name, number, top.id, task)
    except (Damaged, Refused, ValueError) as error:
        yield unread(path, str(error))


def _source(item: Item, name: str, number: int, top: str, task: TaskReader) -> Source:
    packed, content = item.packed(), digest(item.text)
    return Source(
        key=f"page/{name}", id=f"{top}/{identity('page', name)}", what=name, fingerprint=lambda: content,
        stamp=content, read=partial(_read, packed, number, top, task), movable=False,
    )  # fmt: skip


def _read(packed: bytes, number: int, top: str, task: TaskReader, source_id: str) -> Iterator[Yielded]:
    value = unpacked(packed)
    title, properties = value["page-name"].strip(), _properties(value)
    day = written_date(title)
    try:
        blocks = _blocks(value.get("children"), task)
    except RecursionError as error:
        raise Refused("is nested too deeply") from error
    page = Page(
        title=title,
        source=f"logseq:{title}",
        parent=top,
        position=number,
        blocks=blocks,
        aliases=listed(properties.pop("alias", "")),
        properties=properties,
        day=day,
    )
    yield from page_pieces(page, source_id)


def _properties(value: Mapping[str, Any]) -> dict[str, str]:
    """Properties in Logseq's syntax; several values become links."""
    properties = value.get("properties")
    pairs = properties.items() if isinstance(properties, dict) else ()
    return {
        str(name): ", ".join(f"[[{item}]]" for item in property_value)
        if isinstance(property_value, list)
        else str(property_value)
        for name, property_value in pairs
        if name not in ("id", "collapsed", "title", "heading")
    }


def _blocks(value: Any, task: TaskReader) -> tuple[Block, ...]:
    sound = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return tuple(_block(item, task) for item in sound)


def _block(value: Mapping[str, Any], task: TaskReader) -> Block:
    text, key = value.get("content"), value.get("id")
    body = "\n".join(line for line in str(text or "").split("\n") if not re.match(r"\s*[\w-]+:: ", line)).strip()
    properties = value.get("properties")
    heading = properties.get("heading") if body and isinstance(properties, dict) else None
    level = heading if isinstance(heading, int) and heading is not True and 1 <= heading <= 6 else 0
    return Block(
        text=body, children=_blocks(value.get("children"), task), key=key if isinstance(key, str) else "",
        task=task(body), properties=_properties(value) if body else {}, heading=level > 0 or heading is True,
        level=level,
    )  # fmt: skip
