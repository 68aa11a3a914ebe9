"""Short transactions of the store's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from weftwork.store.sql.errors import missing_user, missing_workspace
from weftwork.store.sql.session import Head
from weftwork.store.sqlite.connection import Connections
from weftwork.store.sqlite.session import Session
from weftwork.types import EVERYONE

Answer = TypeVar("Answer")


def head(connection: sqlite3.Connection, name: str) -> Head:
    """Read number, version and default access list of a workspace."""
    row = connection.execute("SELECT id, version, access FROM workspaces WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise missing_workspace(name)
    return Head(row[0], row[1], frozenset(json.loads(row[2])))


OPENED = """SELECT w.id, w.version, EXISTS (SELECT 1 FROM users WHERE workspace = w.id AND name = :user),
        (SELECT MAX(version) FROM changes WHERE workspace = w.id),
        (SELECT json_group_array(acl) FROM acl_principals WHERE workspace = w.id AND (
            principal IN (:user, :everyone)
            OR principal IN (SELECT 'group:' || team FROM members WHERE workspace = w.id AND user = :user)))
    FROM workspaces w WHERE w.name = :name"""


@dataclass(frozen=True, slots=True)
class Opened:
    """All that a view begins with, read by one statement."""

    workspace: int
    version: int
    content: int
    """The version of the latest write that changed a node."""
    acls: frozenset[int]
    """Numbers of all lists that name the user, one of their groups, or everyone."""


def opened(connection: sqlite3.Connection, workspace: str, user: str) -> Opened:
    """Read what a view of a workspace for a user begins with."""
    values = {"name": workspace, "user": user, "everyone": EVERYONE}
    row = connection.execute(OPENED, values).fetchone()
    if row is None:
        raise missing_workspace(workspace)
    number, version, is_user, content, acls = row
    if not is_user:
        raise missing_user(user)
    return Opened(number, version, content or 0, frozenset(json.loads(acls)))


class SqliteDatabase:
    """Implements `weftwork.store.sql.session.Database`."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def ask(self, question: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run queries in one snapshot, on a workspace if one is named."""
        with self._connections.read() as connection:
            return question(_session(connection, workspace))

    def do(self, write: Callable[[Session], Answer], workspace: str | None = None) -> Answer:
        """Run writes in one transaction; no version rises."""
        with self._connections.write() as connection:
            return write(_session(connection, workspace))


def _session(connection: sqlite3.Connection, workspace: str | None) -> Session:
    return Session(connection, 0 if workspace is None else head(connection, workspace).number)
