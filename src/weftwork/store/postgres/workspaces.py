"""The workspaces of a database: names, numbers and locks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, LiteralString

from weftwork.errors import InvalidInput
from weftwork.store.sql.codec import dump
from weftwork.store.sql.errors import missing_user, missing_workspace
from weftwork.store.sql.session import Head

if TYPE_CHECKING:
    from psycopg import Connection


Lock = Literal["", "FOR NO KEY UPDATE", "FOR KEY SHARE"]
WRITE: Lock = "FOR NO KEY UPDATE"
"""One writer at a time; the row in `directory` is locked, which Citus leaves on the coordinator."""
NOTE: Lock = "FOR KEY SHARE"
"""Compatible with a writer, for rows that do not raise the version."""


def number_of(connection: Connection[Any], name: str, lock: Lock = "") -> int:
    """The number of a workspace; sets it for the policies of this transaction."""
    row = connection.execute(
        f"SELECT weftwork_enter(id) FROM directory WHERE name = %s {lock}".encode(), (name,)
    ).fetchone()
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


_GENERIC: LiteralString = "set_config('plan_cache_mode', 'force_generic_plan', true)"
"""For views only, whose statements name one workspace."""


def opened(connection: Connection[Any], workspace: str, user: str) -> tuple[Any, ...]:
    """Set the viewer of the transaction; return number, version, visible lists and totals."""
    row = connection.execute(f"SELECT o.*, {_GENERIC} FROM weftwork_open(%s, %s) o", (workspace, user)).fetchone()
    if row is None:
        raise missing_workspace(workspace)
    if not row[2]:
        raise missing_user(user)
    return tuple(row[:-1])


def create(connection: Connection[Any], name: str, access: frozenset[str]) -> None:
    """Create an empty workspace."""
    row = connection.execute(
        "INSERT INTO directory (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING weftwork_enter(id)", (name,)
    ).fetchone()
    if row is None:
        raise InvalidInput(f"workspace {name!r} exists already: choose another name")
    connection.execute("INSERT INTO workspaces (workspace, access) VALUES (%s, %s)", (row[0], dump(sorted(access))))


def drop(connection: Connection[Any], name: str) -> int:
    """Remove a workspace with everything in it; return its number."""
    number = number_of(connection, name, WRITE)
    connection.execute("DELETE FROM workspaces WHERE workspace = %s", (number,))
    connection.execute("DELETE FROM directory WHERE id = %s", (number,))
    return number
