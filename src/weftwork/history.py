"""What happened to nodes: what users did, what was written, what was used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a user did to a node."""

    node: str
    key: int
    kind: Literal["view", "edit"]
    at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """A node that was written or removed after a version."""

    node: str
    version: int
    deleted: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """Uses of a node, as they count for a viewer."""

    used: int = 0


@dataclass(frozen=True, slots=True)
class Vote:
    """A user's word on a node: that it helped, or did not."""

    node: str
    useful: bool
    query: str = ""
    """The question for which it did; empty if it was none in particular."""
