"""What the two formats of Tana have in common: a node taken apart, and what it comes to."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.exports import Entry, digest, export_top
from weftwork.ingest.connectors.jsonstream import items
from weftwork.ingest.connectors.protocol import Link, Named, Source, Yielded
from weftwork.ingest.events import Note
from weftwork.ingest.files import identity
from weftwork.types import FieldValue, Node

LONGEST_NAME = 100
"""Characters above which the text of a node is no title that others mention."""
DEEPEST = 64
"""Levels below which nodes stand side by side."""
_TASKS = frozenset({"todo", "task", "to-do"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A node of either format, taken apart."""

    id: str
    text: str
    refers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    field_links: tuple[tuple[str, str], ...] = ()
    """Names of fields with the ids of what they refer to."""
    children: tuple[str, ...] = ()
    done: bool | None = None
    heading: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None


def values(entry: Entry, key: str) -> Iterator[Any]:
    """What a file keeps under a key, one after the other."""
    with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
        for item in items(text, key):
            yield item.value


def pieces(told: Told, node: str, own: str, parent: str, place: int) -> Iterator[Yielded]:
    """A node, its names and its links."""
    title, _, text = told.text.partition("\n")
    if len(title) > LONGEST_NAME and not told.tags:
        title, text = "", told.text
    is_task = told.done is not None or any(tag.lower() in _TASKS for tag in told.tags)
    fields = {**told.fields, "status": "done" if told.done else "open"} if is_task else told.fields
    kind = "todo" if is_task else "page" if node == own else "heading" if told.heading else "list_item"
    if kind == "list_item" and not told.tags:
        title, text = "", told.text
    yield Node(
        id=node, type=kind, title=title, text=text.strip(), parent=parent, position=place, tags=told.tags,
        fields=fields, source=f"tana:{told.id}", created_at=told.created_at,
        updated_at=told.updated_at or told.created_at,
    )  # fmt: skip
    yield Named(node, told.id, "id")
    if title and (told.tags or node == own):
        yield Named(node, title)
    for target in dict.fromkeys(told.refers):
        yield Link(source=node, names=(target,))
    for name, target in dict.fromkeys(told.field_links):
        yield Link(source=node, names=(target,), type="field", label=name)


def top_source(path: Path, left_out: Mapping[str, int] | None = None) -> Source:
    """The export itself; it says how much of it was left out."""
    top = export_top(path, "tana", "Tana")
    told = {name: count for name, count in (left_out or {}).items() if name != "content"}
    said = f"{told.get('trash', 0):,} nodes in the trash, {told.get('system', 0):,} of Tana's own and "
    said += f"{told.get('lost', 0):,} that nothing holds were left out"

    def read(own: str) -> Iterator[Yielded]:
        yield from top.read(own)
        if told:
            yield Note(top.what, said)

    return replace(top, read=read, fingerprint=lambda: digest(top.fingerprint(), said))


def source(name: str, what: str, read: partial[Iterator[Yielded]], stamp: str) -> Source:
    """A node with all below it; what it comes to is its content, since it shows the names of others.

    The stamp is that of the whole file.
    """
    return Source(
        key=name, id=identity("tana", name), what=what[:LONGEST_NAME], read=read, movable=False, stamp=stamp,
        fingerprint=lambda: digest(*map(repr, read(""))),
    )  # fmt: skip
