"""Files and folders of the server that were added to a workspace."""

from __future__ import annotations

from weftwork.server.http.schemas.values import Reply


class SkippedOut(Reply):
    """A source that could not be read, and why."""

    what: str
    why: str


class SourceOut(Reply):
    """A file or folder that was added."""

    id: str
    name: str
    """The last part of its path."""
    connector: str
    stored: int
    """Its files, folders, pages or threads that are in the store."""
    skipped: list[SkippedOut]
    is_there: bool
    """Whether it still exists on the server."""


class SourceList(Reply):
    """Sources that were added."""

    sources: list[SourceOut]


class SourceRead(Reply):
    """Changes that reading a source again made."""

    added: int
    changed: int
    moved: int
    removed: int
    unchanged: int
    skipped: list[SkippedOut]
