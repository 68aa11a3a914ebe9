"""Who may see what: lists are worked out on write and interned, so that a node carries one number."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from weftwork.errors import NotFound
from weftwork.store.rules import AccessRule
from weftwork.store.sqlite.codec import dump, ids
from weftwork.types import EVERYONE


class AccessLists(AccessRule):
    """The access lists of one workspace, within one transaction."""

    def __init__(self, connection: sqlite3.Connection, workspace: int, default: frozenset[str]) -> None:
        super().__init__(default)
        self._connection = connection
        self._workspace = workspace

    def stored(self, number: int) -> frozenset[str]:
        """Whom a list names that is stored under a number."""
        row = self._connection.execute("SELECT principals FROM acls WHERE id = ?", (number,)).fetchone()
        return frozenset(json.loads(row[0]))

    def intern(self, principals: frozenset[str]) -> int:
        """The number of a list, stored now if it is a new one."""
        key = (self._workspace, dump(sorted(principals)))
        found = self._connection.execute("SELECT id FROM acls WHERE workspace = ? AND principals = ?", key).fetchone()
        if found is not None:
            return int(found[0])
        cursor = self._connection.execute("INSERT INTO acls (workspace, principals) VALUES (?, ?)", key)
        number = int(cursor.lastrowid or 0)
        self._connection.executemany(
            "INSERT INTO acl_principals (workspace, principal, acl) VALUES (?, ?, ?)",
            [(self._workspace, principal, number) for principal in sorted(principals)],
        )
        return number

    def spread(self, roots: Iterable[int]) -> list[int]:
        """Work out again the lists of everything below these nodes; return the nodes that changed."""
        changed: list[int] = []
        frontier = list(roots)
        while frontier:
            rows = self._connection.execute(
                """SELECT n.pk, n.acl, n.access, n.owner, p.acl FROM nodes n JOIN nodes p ON p.pk = n.parent
                   WHERE n.parent IN (SELECT value FROM json_each(?)) ORDER BY n.pk""",
                (ids(frontier),),
            ).fetchall()
            frontier = []
            for pk, acl, own, owner, parent_acl in rows:
                wanted = self.effective(None if own is None else frozenset(json.loads(own)), owner, parent_acl)
                if wanted != acl:
                    assign(self._connection, pk, wanted)
                    frontier.append(pk)
            changed += frontier
        return changed


def assign(connection: sqlite3.Connection, pk: int, acl: int) -> None:
    """Give a node and its passages another list."""
    connection.execute("UPDATE nodes SET acl = ? WHERE pk = ?", (acl, pk))
    connection.execute("UPDATE passages SET acl = ? WHERE node = ?", (acl, pk))


def visible_lists(connection: sqlite3.Connection, workspace: int, user: str) -> frozenset[int]:
    """Numbers of all lists that name the user, one of their groups, or everyone."""
    known = connection.execute("SELECT 1 FROM users WHERE workspace = ? AND name = ?", (workspace, user)).fetchone()
    if known is None:
        raise NotFound(f"user {user!r} does not exist in this workspace: add them with  weftwork users add {user}")
    rows = connection.execute(
        """SELECT acl FROM acl_principals WHERE workspace = ?1 AND principal IN (?2, ?3)
           UNION SELECT acl FROM acl_principals WHERE workspace = ?1 AND principal IN
               (SELECT 'group:' || team FROM members WHERE workspace = ?1 AND user = ?2)""",
        (workspace, user, EVERYONE),
    )
    return frozenset(row[0] for row in rows)
