"""The workspaces of a database: names, numbers and locks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from weftwork.errors import InvalidInput, StoreBusy
from weftwork.store.postgres.schema import PARTITIONED
from weftwork.store.sql.codec import dump
from weftwork.store.sql.errors import missing_workspace
from weftwork.store.sql.session import Head

if TYPE_CHECKING:
    from psycopg import Connection


Lock = Literal["", "FOR NO KEY UPDATE", "FOR KEY SHARE"]
WRITE: Lock = "FOR NO KEY UPDATE"
"""One writer at a time; locks the row in `directory`: that in `workspaces` may be on another server."""
NOTE: Lock = "FOR KEY SHARE"
"""Compatible with a writer, for rows that do not raise the version."""


class Moving(StoreBusy):
    """A workspace cannot be written while it is moved to another server."""


def number_of(connection: Connection[Any], name: str, lock: Lock = "") -> int:
    """The number of a workspace's rows; sets it for the policies of this transaction.

    With a lock, the workspace cannot be moved to another server until the transaction ends; during a move, `Moving` is
    raised.
    """
    free = "pg_try_advisory_xact_lock_shared(-id)" if lock else "true"
    row = connection.execute(
        f"""SELECT COALESCE(place, id), {free}, set_config('weftwork.workspace', COALESCE(place, id)::text, true)
            FROM directory WHERE name = %s {lock}""".encode(),
        (name,),
    ).fetchone()
    if row is None:
        raise missing_workspace(name)
    if not row[1]:
        raise Moving(f"workspace {name!r} is on its way to another server: try again")
    return int(row[0])


def identity(connection: Connection[Any], name: str) -> int:
    """The permanent number of a workspace, wherever it is moved."""
    row = connection.execute("SELECT id FROM directory WHERE name = %s", (name,)).fetchone()
    if row is None:
        raise missing_workspace(name)
    return int(row[0])


def head(connection: Connection[Any], name: str, *, locked: bool = False) -> Head:
    """Read the head of a workspace; `locked` excludes other writers until the transaction ends."""
    number = number_of(connection, name, WRITE if locked else "")
    row = connection.execute("SELECT version, access FROM workspaces WHERE workspace = %s", (number,)).fetchone()
    if row is None:  # dropped between the two queries
        raise missing_workspace(name)
    return Head(number, row[0], frozenset(json.loads(row[1])))


def create(connection: Connection[Any], name: str, access: frozenset[str]) -> None:
    """Create an empty workspace."""
    row = connection.execute(
        """INSERT INTO directory (name) VALUES (%s) ON CONFLICT DO NOTHING
           RETURNING id, set_config('weftwork.workspace', id::text, true)""",
        (name,),
    ).fetchone()
    if row is None:
        raise InvalidInput(f"workspace {name!r} exists already: choose another name")
    connection.execute("INSERT INTO workspaces (workspace, access) VALUES (%s, %s)", (row[0], dump(sorted(access))))


def drop(connection: Connection[Any], name: str) -> int:
    """Remove a workspace with everything in it; return its permanent number."""
    number_of(connection, name, WRITE)
    row = connection.execute("SELECT id, COALESCE(place, id), other FROM directory WHERE name = %s", (name,)).fetchone()
    assert row is not None
    for number in filter(None, row[1:]):
        connection.execute("SELECT set_config('weftwork.workspace', %s, true)", (str(number),))
        for table in reversed(PARTITIONED):
            connection.execute(f"DELETE FROM {table} WHERE workspace = %s".encode(), (number,))
    for table in ("key_workspaces", "jobs", "waiting"):
        connection.execute(f"DELETE FROM {table} WHERE workspace = %s".encode(), (row[0],))
    connection.execute("DELETE FROM directory WHERE id = %s", (row[0],))
    return int(row[0])
