"""Tana nodes: the common form of both export formats, and the conversion of a tree of them.

Nodes with tags, fields, a checkbox or a reference to them stay nodes, and so do their ancestors; all others are lines
of the node above them.
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
class TanaNode:
    """A node of either format."""

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
    """Yield the items under a key of a file."""
    with io.TextIOWrapper(entry.open(), "utf-8-sig") as text:
        for item in items(text, key):
            yield item.value


@dataclass(frozen=True, slots=True)
class Top:
    """The top node of a source: its id in the store, its parent and its position."""

    id: str
    parent: str
    position: int = 0


Tree = dict[str, TanaNode]
"""A node and all below it, each before those below it."""


def standalone(tree: Tree, referred: Container[str]) -> set[str]:
    """The nodes of a tree that are more than lines, by tags, fields or references, and their ancestors."""
    above = {child: node.id for node in tree.values() for child in node.children}
    names: set[str] = set()
    for name in reversed(tree):
        node = tree[name]
        says_more = node.tags or node.fields or node.field_links or node.heading or node.done is not None
        if name in names or says_more or name in referred:
            names |= {name, above.get(name, name)}
    return names


def tree_pieces(tree: Tree, top: Top, referred: Container[str]) -> Iterator[Yielded]:
    """Yield the nodes of a tree, with their names and links."""
    first = next(iter(tree.values()))
    page = _node(first, top.id, "page")
    outline = Outline(replace(page, parent=top.parent, position=top.position))
    outline.page.note([first.id], _links(first))
    outline.page.names += [(page.title, "title")] if page.title else []
    nodes = standalone(tree, referred)
    waiting = [(outline.page, 0, name) for name in reversed(first.children)]
    seen = {first.id}
    while waiting:
        above, level, name = waiting.pop()
        if name in seen or name not in tree:
            continue
        seen.add(name)
        tana_node = tree[name]
        holder = above.current or above
        if name in nodes:
            node = _node(tana_node, f"{top.id}#{name}", "heading" if tana_node.heading else "list_item")
            holder = above = outline.add(above, node)
            holder.names += [(node.title, "title")] if node.title and tana_node.tags else []
            level = 0
        elif tana_node.text:
            holder = outline.merge(above, level, tana_node.text)
            level += 1
        holder.note([tana_node.id], _links(tana_node))
        holder.date(tana_node.created_at, tana_node.updated_at or tana_node.created_at)
        waiting += [(above, level, child) for child in reversed(tana_node.children)]
    yield from outline.pieces()


def _node(node: TanaNode, name: str, kind: str) -> Node:
    """A standalone node, with a title where its text is short."""
    title, _, text = node.text.partition("\n")
    is_task = node.done is not None or any(tag.lower() in _TASKS for tag in node.tags)
    untitled = (kind == "list_item" and not is_task) or len(title) > LONGEST_NAME
    if untitled and not node.tags:
        title, text = "", node.text
    status = {"status": "done" if node.done else "open"} if is_task else {}
    return Node(
        id=name, type="todo" if is_task else kind, title=title, text=text.strip(), tags=node.tags,
        fields={**node.fields, **status}, source=f"tana:{node.id}", created_at=node.created_at,
        updated_at=node.updated_at or node.created_at,
    )  # fmt: skip


def _links(node: TanaNode) -> Iterator[Link]:
    for target in dict.fromkeys(node.refers):
        yield Link(source="", names=(target,))
    for name, target in dict.fromkeys(node.field_links):
        yield Link(source="", names=(target,), type="field", label=name)


def top_source(path: Path, left_out: Mapping[str, int] | None = None) -> Source:
    """The export itself, with a note on what was left out."""
    top = export_top(path, "tana", "Tana")
    counts = {name: count for name, count in (left_out or {}).items() if name != "content"}
    message = f"{counts.get('trash', 0):,} nodes in the trash, {counts.get('system', 0):,} of Tana's own and "
    message += f"{counts.get('lost', 0):,} that nothing holds were left out"

    def read(source_id: str) -> Iterator[Yielded]:
        yield from top.read(source_id)
        if counts:
            yield Note(top.what, message)

    return replace(top, read=read, fingerprint=lambda: digest(top.fingerprint(), message))


def source(name: str, what: str, read: partial[Iterator[Yielded]], stamp: str) -> Source:
    """A node with its descendants; the fingerprint hashes the pieces, which show the names of others.

    The stamp is that of the whole file.
    """
    return Source(
        key=name, id=identity("tana", name), what=what[:LONGEST_NAME], read=read, movable=False, stamp=stamp,
        fingerprint=lambda: digest(*map(repr, read(""))),
    )  # fmt: skip
