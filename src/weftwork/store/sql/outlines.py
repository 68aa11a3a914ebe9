"""Documents and their nodes in reading order: depth first, children by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from weftwork.types import CONTAINERS, OutlineNode

DOCUMENT_TYPES = frozenset("page file document database thread conversation email memory note journal canvas".split())
"""Types of what people open; everything else is a part of what it stands in."""


def document_of(kind: str, number: int, above: int | None) -> int | None:
    """The document of a node of this type, given that of its parent."""
    if kind in CONTAINERS:
        return None
    return number if kind in DOCUMENT_TYPES or above is None else above


OutlineRow: TypeAlias = tuple[int, int | None, str, str, str, int, int, bool]
"""A passage with its node as a store reads it: node, parent, id, type, title, key, tokens, limited. There are many."""


def in_reading_order(rows: Sequence[OutlineRow], document: int) -> tuple[OutlineNode, ...]:
    """The nodes of a document, itself first.

    Rows come by position. What hangs from something that is not among them stands below the document.
    """
    nodes: dict[int, tuple[OutlineRow, list[int], list[int]]] = {}
    children: dict[int, list[int]] = {}
    for row in rows:
        entry = nodes.get(row[0])
        if entry is None:
            nodes[row[0]] = (row, [row[5]], [row[6]])
        else:
            entry[1].append(row[5])
            entry[2].append(row[6])
    for number, (row, _, _) in nodes.items():
        if number != document:
            parent = row[1]
            children.setdefault(parent if parent is not None and parent in nodes else document, []).append(number)
    ordered: list[OutlineNode] = []
    waiting = [(document, 0)] if document in nodes else []
    while waiting:
        number, depth = waiting.pop()
        (_, _, name, kind, title, *_), keys, tokens = nodes[number]
        ordered.append(OutlineNode(name, kind, title, depth, tuple(keys), tuple(tokens)))
        if number in children:
            waiting += [(child, depth + 1) for child in reversed(children[number])]
    return tuple(ordered)
