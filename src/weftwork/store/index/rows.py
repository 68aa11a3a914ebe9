"""A passage as the indexes see it, and the scope of a search."""

from __future__ import annotations

from dataclasses import dataclass, field

from weftwork.types import Filters


@dataclass(frozen=True, slots=True)
class Row:
    """A passage as the indexes see it; numbers are the database's own keys."""

    key: int
    node: int
    acl: int
    ordinal: int
    type: str
    title: str
    source: str
    text: str
    tags: tuple[str, ...]
    fields: str
    """Field values as one searchable text."""
    updated: int
    """Microseconds since the epoch."""
    confidence: float | None
    conversation: str | None
    digest: str
    valid_from: int | None = None
    valid_until: int | None = None
    """Start and end of its validity, in the same microseconds; None for no limit."""

    @property
    def searchable(self) -> str:
        """The text that is searched by words: the title counts twice."""
        return "\n".join((self.title, self.title, self.text, " ".join(self.tags), self.fields))


@dataclass(frozen=True, slots=True)
class Scope:
    """The access lists that a viewer may see, and the filters of the request."""

    acls: frozenset[int]
    filters: Filters = field(default_factory=Filters)
    excluded: frozenset[int] = frozenset()
    """Nodes to leave out, by number."""


class IndexDamaged(Exception):
    """The files of an index are unusable; its owner rebuilds it."""
