"""What a reader yields, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from weftwork.types import Edge, Node

TIMESTAMP = "timestamp"
"""The field that says when a bundle was added, by the clock of the engine that wrote it."""


@dataclass(frozen=True, slots=True)
class Person:
    """A user of the workspace with their groups."""

    name: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could not be read, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was added, and what its owner should know of it."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Expected:
    """That so many nodes more are to come."""

    count: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that belongs to a node: kept beside the store, named by a field, and gone with its bundle."""

    node: str
    field: str
    name: str
    data: bytes


class Refused(Exception):
    """That a bundle cannot be read to its end: nothing of it is added; the message says why."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A node and all below it: added wholly or not at all, and not even read if it is there already.

    `read` yields its top node, `root`, with the field `version`, and nodes below it whose ids begin with the id of the
    top and `#`: those that are stored but no longer yielded are removed.
    """

    root: str
    what: str
    versions: tuple[str, ...]
    """Values of the root's field `version` with which it need not be read again."""
    read: Callable[[], Iterator[Node | Attachment | Expected | Note]]


Piece = Node | Edge | Person | Skipped | Bundle
