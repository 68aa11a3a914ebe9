"""What a server keeps in a store beside the workspaces: the keys that open it, and the jobs that it has taken on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Scope = Literal["read", "write", "admin"]
JobState = Literal["queued", "running", "done", "failed", "cancelled"]

UNFINISHED: tuple[JobState, ...] = ("queued", "running")
MOST_JOBS = 200
"""Finished jobs that are kept for each workspace; the oldest go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Who may do what where; the key itself is known to its holder alone, the store has its digest."""

    id: str
    digest: str
    user: str
    workspaces: frozenset[str]
    """Those that still exist: one that is dropped and made again under the same name is not among them."""
    scope: Scope
    created_at: datetime
    name: str = ""
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that a user asked for and does not wait for."""

    id: str
    workspace: str
    user: str
    state: JobState
    created_at: datetime
    updated_at: datetime
    details: Mapping[str, Any] = field(default_factory=dict)
    """What is to be done, how far it is and what came of it, as JSON can hold it."""
