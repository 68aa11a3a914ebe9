"""What a reader yields, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from weft.types import Edge, Node


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


Piece = Node | Edge | Person | Skipped
