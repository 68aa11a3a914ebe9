"""Entries of the audit log, as administrators see them."""

from __future__ import annotations

from datetime import datetime

from weftwork.server.http.schemas.values import FieldValues, Reply


class AuditEntryOut(Reply):
    """A change: who made it, with which key, from where."""

    id: int
    at: datetime
    action: str
    """The operation or the tool, such as `write_nodes` or `weftwork_remember`."""
    workspace: str
    user: str
    key: str
    """The id of the key; `local` without one, `command` for the command line."""
    address: str
    request: str
    details: FieldValues
    """Ids, names and counts; never content."""


class AuditList(Reply):
    """Entries, the oldest first."""

    entries: list[AuditEntryOut]
