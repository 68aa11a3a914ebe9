"""Documents and their nodes in reading order: depth first, children by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weftwork.types import CONTAINERS, OutlineNode

DOCUMENT_TYPES = frozenset("page file document database thread conversation email memory note journal canvas".split())
"""Types of what people open; everything else is a part of what it stands in."""


def document_of(kind: str, number: int, above: int | None) -> int | None:
    """The document of a node of this type, given that of its parent."""
    if kind in CONTAINERS:
        return None
    return number if kind in DOCUMENT_TYPES or above is None else above


class OutlineRow(NamedTuple):
    """A passage with its node, as a store reads it."""

    node: int
    parent: int | None
    id: str
    type: str
    title: str
    key: int
    tokens: int


def in_reading_order(rows: Sequence[OutlineRow], document: int) -> tuple[OutlineNode, ...]:
    """The nodes of a document, itself first.

    Rows come by position. What hangs from something that is not among them stands below the document.
    """
    passages: dict[int, list[OutlineRow]] = {}
    for row in rows:
        passages.setdefault(row.node, []).append(row)
    children: dict[int, list[int]] = {}
    for number, node_rows in passages.items():
        if number != document:
            parent = node_rows[0].parent
            children.setdefault(parent if parent in passages and parent is not None else document, []).append(number)
    ordered: list[OutlineNode] = []
    waiting = [(document, 0)] if document in passages else []
    while waiting:
        number, depth = waiting.pop()
        node_rows = passages[number]
        keys, tokens = tuple(row.key for row in node_rows), tuple(row.tokens for row in node_rows)
        ordered.append(OutlineNode(node_rows[0].id, node_rows[0].type, node_rows[0].title, depth, keys, tokens))
        waiting += [(child, depth + 1) for child in reversed(children.get(number, ()))]
    return tuple(ordered)
