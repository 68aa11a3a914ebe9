"""What the two formats of Tana have in common: a node taken apart, and what a tree of them comes to.

Nodes with tags, fields, a box or something that refers to them stay nodes, and so does what holds one of them; all
others are lines of the node above them.
"""

from __future__ import annotations

import io
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from weftwork.ingest.connectors.exports import Entry, digest, export_top
from weftwork.ingest.connectors.jsonstream import items
from weftwork.ingest.connectors.merging import Outline
from weftwork.ingest.connectors.protocol import Link, Source, Yielded
from weftwork.ingest.events import Note
from weftwork.ingest.files import identity
from weftwork.types import FieldValue, Node

LONGEST_NAME = 100
"""Characters above which the text of a node is no title that others mention."""
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


@dataclass(frozen=True, slots=True)
class Top:
    """The node that a source begins with: its id in the store, what it stands below, and where."""

    id: str
    parent: str
    position: int = 0


Tree = dict[str, Told]
"""A node and all below it, each before those below it."""


def kept(tree: Tree, referred: Container[str]) -> set[str]:
    """The nodes of a tree that are no mere lines: those that say more than their text, and what holds them."""
    above = {child: told.id for told in tree.values() for child in told.children}
    found: set[str] = set()
    for name in reversed(tree):
        told = tree[name]
        says_more = told.tags or told.fields or told.field_links or told.heading or told.done is not None
        if name in found or says_more or name in referred:
            found |= {name, above.get(name, name)}
    return found


def tree_pieces(tree: Tree, top: Top, referred: Container[str]) -> Iterator[Yielded]:
    """The nodes of a tree, with their names and links."""
    first = next(iter(tree.values()))
    page = _node(first, top.id, "page")
    outline = Outline(replace(page, parent=top.parent, position=top.position))
    outline.page.note([first.id], _links(first))
    outline.page.names += [(page.title, "title")] if page.title else []
    nodes = kept(tree, referred)
    waiting = [(outline.page, 0, name) for name in reversed(first.children)]
    seen = {first.id}
    while waiting:
        above, level, name = waiting.pop()
        if name in seen or name not in tree:
            continue
        seen.add(name)
        told = tree[name]
        holder = above.current or above
        if name in nodes:
            node = _node(told, f"{top.id}#{name}", "heading" if told.heading else "list_item")
            holder = above = outline.add(above, node)
            holder.names += [(node.title, "title")] if node.title and told.tags else []
            level = 0
        elif told.text:
            holder = outline.merge(above, level, told.text)
            level += 1
        holder.note([told.id], _links(told))
        holder.date(told.created_at, told.updated_at or told.created_at)
        waiting += [(above, level, child) for child in reversed(told.children)]
    yield from outline.pieces()


def _node(told: Told, name: str, kind: str) -> Node:
    """A node of its own, with a title where its text is one."""
    title, _, text = told.text.partition("\n")
    is_task = told.done is not None or any(tag.lower() in _TASKS for tag in told.tags)
    untitled = (kind == "list_item" and not is_task) or len(title) > LONGEST_NAME
    if untitled and not told.tags:
        title, text = "", told.text
    status = {"status": "done" if told.done else "open"} if is_task else {}
    return Node(
        id=name, type="todo" if is_task else kind, title=title, text=text.strip(), tags=told.tags,
        fields={**told.fields, **status}, source=f"tana:{told.id}", created_at=told.created_at,
        updated_at=told.updated_at or told.created_at,
    )  # fmt: skip


def _links(told: Told) -> Iterator[Link]:
    for target in dict.fromkeys(told.refers):
        yield Link(source="", names=(target,))
    for name, target in dict.fromkeys(told.field_links):
        yield Link(source="", names=(target,), type="field", label=name)


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
