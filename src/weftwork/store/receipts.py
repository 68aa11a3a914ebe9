"""What a store keeps of contexts that were handed out: receipts, and what each thread was given.

Neither raises the version of a workspace. Who may read which receipt is decided above the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """The record of a context or turn, as JSON, and by what it is found."""

    id: str
    user: str
    thread: str
    """Empty for a context outside of any thread."""
    at: datetime
    record: str


class Receipts(Protocol):
    """The receipts of workspaces. All methods ignore permissions."""

    def put(self, workspace: str, rows: Sequence[ReceiptRow], *, most: int) -> None:
        """Store receipts, replace those with the same id, and remove the oldest beyond `most`."""

    def get(self, workspace: str, name: str) -> ReceiptRow | None:
        """The receipt with this id."""

    def list(
        self, workspace: str, *, limit: int, user: str | None = None, thread: str | None = None
    ) -> Sequence[ReceiptRow]:
        """The latest receipts first: of a user, of a thread, or all."""

    def remove(self, workspace: str, *, ids: Sequence[str] | None = None, user: str | None = None) -> int:
        """Remove receipts by their ids, of a user, of both, or all; return their number."""


class GivenToThreads(Protocol):
    """Records of what each user was given in a thread, as JSON; removed with it. Ignores permissions."""

    def put(self, workspace: str, thread: str, *, user: str, given: str, at: datetime) -> None:
        """Store what a user was given in a thread, in the place of what was stored before."""

    def get(self, workspace: str, thread: str, *, user: str) -> str | None:
        """Return the record of what a user was given in a thread."""
