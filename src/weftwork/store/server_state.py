"""State of a server that is stored beside the workspaces: API keys and background jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

Scope = Literal["record", "read", "write", "admin"]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]

UNFINISHED: tuple[JobState, ...] = ("queued", "running")
MOST_JOBS = 200
"""Finished jobs that are kept for each workspace; the oldest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An API key: a user, a scope and workspaces. The store has only the digest of its token."""

    id: str
    digest: str
    user: str
    workspaces: frozenset[str]
    """Existing ones only: a workspace that was dropped and created again under its name is not among them."""
    scope: Scope
    created_at: datetime
    name: str = ""
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    used_at: datetime | None = None
    """When it was last used, to about a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Background work that a user asked for."""

    id: str
    workspace: str
    user: str
    state: JobState
    created_at: datetime
    updated_at: datetime
    details: Mapping[str, Any] = field(default_factory=dict)
    """Input, progress and result, as JSON can hold them."""


class Keys(Protocol):
    """The API keys of a server."""

    def put(self, key: Key) -> None:
        """Store a key, or replace the one with its id; its workspaces must exist."""

    def get(self, digest: str) -> Key | None:
        """The key with this digest, covering those of its workspaces that still exist."""

    def all(self) -> list[Key]:
        """The keys, oldest first."""

    def note_use(self, name: str, at: datetime) -> None:
        """Note when the key with this id was used."""


class Jobs(Protocol):
    """The jobs of a server."""

    def put(self, job: Job) -> None:
        """Store a job, or replace the one with its id; the latest MOST_JOBS finished ones are kept."""

    def get(self, name: str) -> Job | None:
        """The job with this id; jobs are removed with their workspace."""

    def of(self, workspace: str, user: str | None = None) -> list[Job]:
        """The jobs of a workspace, of one user's or of all, the latest first."""

    def in_states(self, states: Sequence[JobState]) -> list[Job]:
        """The jobs in these states, the oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Something that was done: by whom, with which key, from where; ids and names, never content."""

    at: datetime
    action: str
    """What was done, such as `nodes.write`, `access.set` or `key.create`."""
    workspace: str = ""
    user: str = ""
    key: str = ""
    """The id of the key; `local` without one, `command` for the command line."""
    address: str = ""
    request: str = ""
    """The id of the request."""
    details: Mapping[str, Any] = field(default_factory=dict)
    id: int = 0
    """Its number, which rises; 0 before it is stored."""


class AuditLog(Protocol):
    """The append-only log of writes, of changes of access and of keys."""

    def add(self, entry: AuditEntry) -> None:
        """Append an entry."""

    def entries(self, *, after: int = 0, workspace: str | None = None, limit: int = 1000) -> list[AuditEntry]:
        """The entries after the one with this number, of a workspace or of all, the oldest first."""

    def drop_before(self, moment: datetime) -> int:
        """Remove the entries before a moment, as retention asks for; count them."""
