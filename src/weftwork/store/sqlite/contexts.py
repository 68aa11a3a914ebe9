"""What earlier contexts consisted of, kept so that a later one can be told as a difference."""

from __future__ import annotations

from datetime import datetime

from weftwork.store.sqlite.codec import to_micros
from weftwork.store.sqlite.connection import Connections

MOST = 200
"""Contexts that are kept for each user of a workspace; the oldest go first."""


def keep(connections: Connections, workspace: int, key: tuple[str, str, str], kept: str, at: datetime) -> None:
    """Keep a record under (user, thread, name). It is no change of the workspace: no version rises."""
    with connections.write() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO contexts VALUES (?, ?, ?, ?, ?, ?)", (workspace, *key, kept, to_micros(at))
        )
        connection.execute(
            """DELETE FROM contexts WHERE (workspace, user, thread, name) IN (
                   SELECT workspace, user, thread, name FROM contexts WHERE workspace = ? AND user = ?
                   ORDER BY at DESC, name LIMIT -1 OFFSET ?)""",
            (workspace, key[0], MOST),
        )


def kept(connections: Connections, workspace: int, key: tuple[str, str, str]) -> str | None:
    """The record under (user, thread, name), if there is one."""
    with connections.read() as connection:
        row = connection.execute(
            "SELECT kept FROM contexts WHERE workspace = ? AND user = ? AND thread = ? AND name = ?", (workspace, *key)
        ).fetchone()
    return None if row is None else str(row[0])
