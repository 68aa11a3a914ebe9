"""What a store does so that something is gone for good, and what it tells of a user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

Rows = Sequence[Mapping[str, Any]]


class Erasure(Protocol):
    """Finds and removes what is stored beside the nodes. All methods ignore permissions."""

    def known(self, workspace: str, user: str) -> Mapping[str, Rows]:
        """Return all rows that name a user, by kind, without the content of nodes."""

    def lists_with(self, workspace: str, user: str) -> Mapping[str, frozenset[str]]:
        """Return the own access lists of nodes that name a user, as a transaction that is under way left them."""

    def below(self, workspace: str, ids: Collection[str]) -> set[str]:
        """Return the ids of these nodes and of all below them."""

    def citations(self, workspace: str, ids: Collection[str]) -> set[str]:
        """Return the citation ids of the passages of these nodes, at every length at which they are shown."""

    def expired(self, workspace: str, kind: str, before: datetime) -> set[str]:
        """Return the ids of the nodes of a type that are older, as is all that hangs below them."""

    def forget_user(self, workspace: str, user: str) -> Mapping[str, int]:
        """Remove what is stored of a user beside their nodes; count it by kind."""

    def forget_nodes(self, workspace: str, names: Collection[str]) -> Mapping[str, int]:
        """Remove the traces of removed nodes: records that name their ids or citations, and cached vectors."""

    def forget_before(self, workspace: str, kind: str, before: datetime) -> int:
        """Remove the older ones of `receipts`, `contexts`, `activity`, `feedback`, `jobs` or `audit`; count them."""

    def compact(self, workspace: str) -> None:
        """Write the database and its indexes anew, so that no bytes of what was removed are left in them."""
