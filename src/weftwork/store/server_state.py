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


class Jobs(Protocol):
    """The jobs of a server."""

    def put(self, job: Job) -> None:
        """Store a job, or replace the one with its id; the latest MOST_JOBS finished ones are kept."""

    def get(self, name: str) -> Job | None:
        """The job with this id; jobs are removed with their workspace."""

    def in_states(self, states: Sequence[JobState]) -> list[Job]:
        """The jobs in these states, the oldest first."""
