"""What earlier contexts consisted of, kept so that a later one can be told as a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weftwork.store.sqlite.contexts import MOST

if TYPE_CHECKING:
    from psycopg import Connection


def keep(connection: Connection[Any], workspace: int, key: tuple[str, str, str], kept: str, at: int) -> None:
    """Keep a record under (user, thread, name). It is no change of the workspace: no version rises."""
    # A foreign part knows no ON CONFLICT; where two keep the same at once, the second one is tried again.
    changed = connection.execute(
        "UPDATE contexts SET kept = %s, at = %s WHERE workspace = %s AND who = %s AND thread = %s AND name = %s",
        (kept, at, workspace, *key),
    )
    if not changed.rowcount:
        connection.execute(
            "INSERT INTO contexts (workspace, who, thread, name, kept, at) VALUES (%s, %s, %s, %s, %s, %s)",
            (workspace, *key, kept, at),
        )
    connection.execute(
        """DELETE FROM contexts WHERE workspace = %(ws)s AND who = %(who)s AND (thread, name) IN (
               SELECT thread, name FROM contexts WHERE workspace = %(ws)s AND who = %(who)s
               ORDER BY at DESC, name OFFSET %(most)s)""",
        {"ws": workspace, "who": key[0], "most": MOST},
    )


def kept(connection: Connection[Any], workspace: int, key: tuple[str, str, str]) -> str | None:
    """The record under (user, thread, name), if there is one."""
    row = connection.execute(
        "SELECT kept FROM contexts WHERE workspace = %s AND who = %s AND thread = %s AND name = %s", (workspace, *key)
    ).fetchone()
    return None if row is None else str(row[0])
