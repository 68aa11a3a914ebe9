"""A passage as the indexes see it, and the scope of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weftwork.frozen import frozen
from weftwork.types import Filters


@frozen
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
        return searchable_text(self.title, self.text, self.tags, self.fields)


def searchable_text(title: str, text: str, tags: Sequence[str], fields: str) -> str:
    """Put together what is searched by words of a passage."""
    return "\n".join((title, title, text, " ".join(tags), fields))


@dataclass(frozen=True, slots=True)
class Scope:
    """The access lists that a viewer may see, and the filters of the request."""

    acls: frozenset[int]
    filters: Filters = field(default_factory=Filters)
    excluded: frozenset[int] = frozenset()
    """Nodes to leave out, by number."""


class IndexDamaged(Exception):
    """The files of an index are unusable; its owner rebuilds it."""
