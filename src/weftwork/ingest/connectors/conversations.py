"""Chats as threads: a thread with its messages below it, in the order in which the person saw them."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.exports import Entry, digest, export_top, names_in, open_export, unread
from weftwork.ingest.connectors.jsonstream import GLANCE, Damaged, Item, items, unpacked
from weftwork.ingest.connectors.protocol import Source, Unread, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as it was seen."""

    key: str
    """Its id within the conversation."""
    role: str
    text: str
    author: str = ""
    at: datetime | None = None
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A conversation without its messages."""

    id: str
    title: str
    source: str
    parent: str | None = None
    position: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None
    text: str = ""
    tags: tuple[str, ...] = ()
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


def thread_nodes(thread: Thread, messages: Sequence[Said], top: str | None = None) -> Iterator[Node]:
    """The thread and its messages; ids of messages begin with that of the source's top node."""
    times = [message.at for message in messages if message.at]
    yield Node(
        id=thread.id,
        type="thread",
        title=thread.title,
        text=thread.text,
        parent=thread.parent,
        position=thread.position,
        tags=thread.tags,
        fields=thread.fields,
        source=thread.source,
        created_at=thread.created_at or min(times, default=None),
        updated_at=max([*times, *([thread.updated_at] if thread.updated_at else [])], default=None),
    )
    for position, message in enumerate(messages):
        yield message_node(message, thread.id, position, top=top or thread.id, source=thread.source)


def message_node(message: Said, thread: str, position: int, *, top: str, source: str) -> Node:
    """A message of a thread."""
    known: dict[str, FieldValue] = {"role": message.role}
    if message.author:
        known["author"] = message.author
    return Node(
        id=f"{top}#{message.key}",
        type="message",
        title=message.author,
        text=message.text,
        parent=thread,
        position=position,
        conversation=thread,
        fields={**known, **message.fields},
        source=source,
        created_at=message.at,
        updated_at=message.at,
    )


def upwards(last: str, parent: Callable[[str], str | None]) -> list[str]:
    """A branch from its first message to its last; one that leads back to itself is cut there."""
    way: dict[str, None] = {}
    at: str | None = last
    while at is not None and at not in way:
        way[at] = None
        at = parent(at)
    return list(way)[::-1]


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """How the chats of a product are told apart and read."""

    kind: str
    """The name of the connector: ids begin with it."""
    title: str
    mark: str
    """A member that each of its conversations has."""
    ids: tuple[str, ...]
    """Members that may hold a conversation's id."""
    read: Callable[[Mapping[str, Any], Thread], Iterator[Yielded]]
    """What a conversation holds; Refused if it is none."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Files of the export that people would miss, by their names, and what these hold."""


def recognises_chats(path: Path, chats: ChatFormat) -> float:
    """How sure one can be that a path holds conversations of this format: the first of them is looked at."""
    names = names_in(path)
    depth = 0 if path.is_dir() else 1
    held = any(_holds_conversations(name) and name.count("/") <= depth for name in names)
    if not held and path.suffix.lower() != ".json":
        return 0.0
    try:
        files = [entry for entry in open_export(path).files if _is_chat_file(entry, path)]
        for entry in files[:1]:
            with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
                first = next(items(text, largest=GLANCE), None)
                return 0.95 if first and isinstance(first.value, dict) and chats.mark in first.value else 0.0
    except (Damaged, Refused, OSError, UnicodeDecodeError):
        pass
    return 0.0


def chat_sources(path: Path, chats: ChatFormat) -> Iterator[Source | Unread | Skipped]:
    """A source for each conversation."""
    try:
        export = open_export(path)
    except (Refused, OSError) as refused:
        yield unread(path, str(refused))
        return
    top = export_top(path, chats.kind, chats.title)
    yield top
    yield from export.skipped
    yield from _left_out(export.files, path, chats)
    seen: set[str] = set()
    for entry in (entry for entry in export.files if _is_chat_file(entry, path)):
        try:
            with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
                for number, item in enumerate(items(text)):
                    yield _source(item, f"{entry.name}: conversation {number + 1}", chats, top.id, seen)
        except (Damaged, *_READING) as error:
            yield unread(path, f"{entry.name} {error}")


def _left_out(files: Iterable[Entry], path: Path, chats: ChatFormat) -> Iterator[Skipped]:
    for entry in files:
        held = chats.left_out.get(entry.name.rpartition("/")[2])
        if held:
            yield Skipped(f"{shown(str(path))}: {entry.name}", f"holds {held}, which are not read")


_FILE = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$", re.IGNORECASE)
_READING = (Refused, OSError, zlib.error, EOFError, ValueError)


def _holds_conversations(name: str) -> bool:
    return _FILE.search(name) is not None


def _is_chat_file(entry: Entry, path: Path) -> bool:
    return _holds_conversations(entry.name) or (path.is_file() and entry.name == path.name)


def _source(item: Item, what: str, chats: ChatFormat, top: str, seen: set[str]) -> Source | Skipped:
    """A conversation that is kept packed until it is read: all of them unpacked would be many times the file."""
    if not isinstance(item.value, dict) or chats.mark not in item.value:
        return Skipped(what, f"is not a conversation: it has no {chats.mark!r}")
    known = next((item.value[name] for name in chats.ids if isinstance(item.value.get(name), str)), "")
    if not known or not known.isprintable():
        known = digest(item.text)
    if known in seen:
        return Skipped(what, f"has the id of another conversation, {known}")
    seen.add(known)
    packed = item.packed()
    name, fingerprint = item.value.get("title") or item.value.get("name"), digest(item.text)

    def read(own: str) -> Iterator[Yielded]:
        value = unpacked(packed)
        title = name if isinstance(name, str) else ""
        yield from chats.read(value, Thread(id=own, title=title, source=f"{chats.kind}:{known}", parent=top))

    return Source(
        key=f"{chats.kind}/{known}", id=identity(chats.kind, known), what=what, fingerprint=lambda: fingerprint,
        read=read, stamp=fingerprint, movable=False,
    )  # fmt: skip
