"""The values that a reader yields."""

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
    """A source that could not be read, and the reason."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Note:
    """Advice about a source that was added."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Expected:
    """The number of nodes still to come."""

    count: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a node: stored beside the store, named by a field, and removed with its bundle."""

    node: str
    field: str
    name: str
    data: bytes


class Refused(Exception):
    """A bundle or source cannot be read to its end; nothing of it is added."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A node and its descendants, written atomically, and skipped unread if its version is stored.

    `read` yields its top node, `root`, with the field `version`, and nodes below it whose ids begin with the id of the
    top and `#`: those that are stored but no longer yielded are removed.
    """

    root: str
    what: str
    versions: tuple[str, ...]
    """Values of the root's field `version` with which it need not be read again."""
    read: Callable[[], Iterator[Node | Attachment | Expected | Note]]


Piece = Node | Edge | Person | Skipped | Bundle
