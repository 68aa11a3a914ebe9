"""Chats as threads: a thread with its messages below it, in the order in which the user saw them."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from weftwork.ingest.connectors.exports import (
    Entry,
    Export,
    digest,
    entry_sources,
    export_sources,
    export_top,
    first_item,
    names_in,
    open_export,
)
from weftwork.ingest.connectors.jsonstream import Damaged, Item, items, unpacked
from weftwork.ingest.connectors.protocol import Listed, Source, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity, shown
from weftwork.types import FieldValue, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message as displayed."""

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


def thread_nodes(thread: Thread, messages: Sequence[ChatMessage], top: str | None = None) -> Iterator[Node]:
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


def message_node(message: ChatMessage, thread: str, position: int, *, top: str, source: str) -> Node:
    """The node of a message."""
    fields: dict[str, FieldValue] = {"role": message.role}
    if message.author:
        fields["author"] = message.author
    return Node(
        id=f"{top}#{message.key}",
        type="message",
        title=message.author or message.role,
        text=message.text,
        parent=thread,
        position=position,
        conversation=thread,
        fields={**fields, **message.fields},
        source=source,
        created_at=message.at,
        updated_at=message.at,
    )


def upwards(last: str, parent: Callable[[str], str | None]) -> list[str]:
    """The branch from the first message to the last; a cycle is cut."""
    way: dict[str, None] = {}
    at: str | None = last
    while at is not None and at not in way:
        way[at] = None
        at = parent(at)
    return list(way)[::-1]


_FILE = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$", re.IGNORECASE)


class ChatExport(ABC):
    """Base of connectors for the data export of a chat product: zip, folder, or `conversations.json`."""

    name: str
    """Also the prefix of ids."""
    summary: str
    version = 2
    title: str
    mark: str
    """A member that each of its conversations has."""
    ids: tuple[str, ...]
    """Members that may hold a conversation's id."""
    left_out: Mapping[str, str] = MappingProxyType({})
    """Descriptions of files of the export that are not read, by name."""

    @abstractmethod
    def read(self, value: Mapping[str, Any], thread: Thread) -> Iterator[Yielded]:
        """Yield the pieces of a conversation; raise Refused if it is none."""

    def recognises(self, path: Path) -> float:
        """An export whose first conversation has the mark."""
        depth = 0 if path.is_dir() else 1
        has_file = any(_FILE.search(name) and name.count("/") <= depth for name in names_in(path))
        if not has_file and path.suffix.lower() != ".json":
            return 0.0
        try:
            files = [entry for entry in open_export(path).files if _is_chat_file(entry, path)]
            first = first_item(files[0]) if files else None
        except (Damaged, Refused, OSError, UnicodeDecodeError):
            return 0.0
        return 0.95 if first and isinstance(first.value, dict) and self.mark in first.value else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each conversation."""
        top = export_top(path, self.name, self.title)
        return export_sources(path, top, partial(self._sources, path, top.id))

    def _sources(self, path: Path, top: str, export: Export) -> Iterator[Listed]:
        for entry in export.files:
            if content := self.left_out.get(entry.name.rpartition("/")[2]):
                yield Skipped(f"{shown(str(path))}: {entry.name}", f"holds {content}, which are not read")
        seen: set[str] = set()
        files = [entry for entry in export.files if _is_chat_file(entry, path)]
        yield from entry_sources(path, files, lambda entry: self._conversations(entry, top, seen))

    def _conversations(self, entry: Entry, top: str, seen: set[str]) -> Iterator[Listed]:
        with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
            for number, item in enumerate(items(text)):
                yield self._source(item, f"{entry.name}: conversation {number + 1}", top, seen)

    def _source(self, item: Item, what: str, top: str, seen: set[str]) -> Source | Skipped:
        """A conversation, packed until it is read: all of them parsed would take many times the file."""
        if not isinstance(item.value, dict) or self.mark not in item.value:
            return Skipped(what, f"is not a conversation: it has no {self.mark!r}")
        chat_id = next((item.value[name] for name in self.ids if isinstance(item.value.get(name), str)), "")
        if not chat_id or not chat_id.isprintable():
            chat_id = digest(item.text)
        if chat_id in seen:
            return Skipped(what, f"has the id of another conversation, {chat_id}")
        seen.add(chat_id)
        packed = item.packed()
        name, fingerprint = item.value.get("title") or item.value.get("name"), digest(item.text)

        def read(source_id: str) -> Iterator[Yielded]:
            title = name if isinstance(name, str) else ""
            thread = Thread(id=source_id, title=title, source=f"{self.name}:{chat_id}", parent=top)
            yield from self.read(unpacked(packed), thread)

        return Source(
            key=f"{self.name}/{chat_id}", id=identity(self.name, chat_id), what=what, fingerprint=lambda: fingerprint,
            read=read, stamp=fingerprint, movable=False,
        )  # fmt: skip


def _is_chat_file(entry: Entry, path: Path) -> bool:
    return _FILE.search(entry.name) is not None or (path.is_file() and entry.name == path.name)
