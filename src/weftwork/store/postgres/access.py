"""Who may see what: lists are worked out on write and interned, so that a node carries one number."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from weftwork.store.postgres import words
from weftwork.store.rules import AccessRule
from weftwork.store.sqlite.codec import dump

if TYPE_CHECKING:
    from psycopg import Connection


class AccessLists(AccessRule):
    """The access lists of one workspace, within one transaction."""

    def __init__(self, connection: Connection[Any], workspace: int, default: frozenset[str]) -> None:
        super().__init__(default)
        self._connection = connection
        self._workspace = workspace

    def stored(self, number: int) -> frozenset[str]:
        """Whom a list names that is stored under a number."""
        rows = self._connection.execute(
            "SELECT principals FROM acls WHERE workspace = %s AND id = %s", (self._workspace, number)
        ).fetchall()
        return frozenset(json.loads(rows[0][0]))

    def intern(self, principals: frozenset[str]) -> int:
        """The number of a list, stored now if it is a new one."""
        text = dump(sorted(principals))
        # A list may be longer than what an index holds: it is found by its hash.
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        found = self._connection.execute(
            "SELECT id FROM acls WHERE workspace = %s AND digest = %s", (self._workspace, digest)
        ).fetchone()
        if found is not None:
            return int(found[0])
        number = take_numbers(self._connection, self._workspace, "list", 1)
        self._connection.execute(
            "INSERT INTO acls (workspace, id, principals, digest) VALUES (%s, %s, %s, %s)",
            (self._workspace, number, text, digest),
        )
        with self._connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO acl_principals (workspace, principal, acl) VALUES (%s, %s, %s)",
                [(self._workspace, principal, number) for principal in sorted(principals)],
            )
        return number

    def spread(self, roots: Iterable[int]) -> list[int]:
        """Work out again the lists of everything below these nodes; return the nodes that changed."""
        changed: list[int] = []
        frontier = list(roots)
        while frontier:
            rows = self._connection.execute(
                """SELECT n.pk, n.acl, n.access, n.owner, p.acl
                   FROM nodes n JOIN nodes p ON p.workspace = %(ws)s AND p.pk = n.parent
                   WHERE n.workspace = %(ws)s AND n.parent = ANY (%(above)s::bigint[]) ORDER BY n.pk""",
                {"ws": self._workspace, "above": frontier},
            ).fetchall()
            moved: dict[int, int] = {}
            for pk, acl, own, owner, parent_acl in rows:
                wanted = self.effective(None if own is None else frozenset(json.loads(own)), owner, parent_acl)
                if wanted != acl:
                    moved[pk] = wanted
            assign(self._connection, self._workspace, moved)
            frontier = list(moved)
            changed += frontier
        return changed


def assign(connection: Connection[Any], workspace: int, lists: dict[int, int]) -> None:
    """Give nodes and what belongs to them other lists, by the numbers of the nodes."""
    if not lists:
        return
    words.count(connection, workspace, lists, -1)
    values = {"ws": workspace, "nodes": list(lists), "acls": list(lists.values())}
    for table, column in (("nodes", "pk"), ("passages", "node"), ("words", "node"), ("embeddings", "node")):
        wanted = "" if table != "words" else _THEIR_WORDS
        connection.execute(
            f"""UPDATE {table} t SET acl = v.acl
                FROM unnest(%(nodes)s::bigint[], %(acls)s::bigint[]) AS v (node, acl)
                WHERE t.workspace = %(ws)s AND t.{column} = v.node{wanted}""".encode(),
            values,
        )
    words.count(connection, workspace, lists, 1)


_THEIR_WORDS = """ AND (t.term, t.key) IN (
    SELECT l.term, p.key FROM passages p CROSS JOIN unnest(tsvector_to_array(p.lexemes)) AS l (term)
    WHERE p.workspace = %(ws)s AND p.node = ANY (%(nodes)s::bigint[]))"""
"""The rows of words are found by their terms: they are too many for an index by node."""


def take_numbers(connection: Connection[Any], workspace: int, kind: str, count: int) -> int:
    """The first of so many new numbers of a kind; no number is ever given twice in a workspace."""
    row = connection.execute(
        f"UPDATE workspaces SET next_{kind} = next_{kind} + %s WHERE workspace = %s RETURNING next_{kind}".encode(),
        (count, workspace),
    ).fetchone()
    assert row is not None
    return int(row[0]) - count
