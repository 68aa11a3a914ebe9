"""A workspace as rows that any store can give and take; see `weftwork.store.transfer`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from weftwork.errors import InvalidInput
from weftwork.store.files import Files
from weftwork.store.sqlite.codec import field_pairs, fields_of, ids
from weftwork.store.sqlite.put import next_number, searchable
from weftwork.store.transfer import KEPT_COMMITS, PROGRESS, STAYING, Numbers, Row
from weftwork.text.analysis import analyse
from weftwork.types import Node, Passage

_COUNTED = {"nodes": "nodes", "passages": "passages", "lists": "acls"}
_PASSAGE = 'p.key, p.node, p.acl, p.ordinal, p.start, p."end", p.text, p.tokens, p.digest, p.citation'
_NODE = """n.pk, n.id, n.type, n.title, n.parent, n.position, n.tags, n.fields, n.confidence, n.conversation,
    n.created_at, n.updated_at, n.source, n.owner, n.access, n.acl, n.digest, n.valid_from, n.valid_until"""

ROWS = {
    "workspace": "SELECT version, access FROM workspaces WHERE id = ?1",
    "lists": "SELECT id, principals FROM acls WHERE workspace = ?1 ORDER BY id",
    "nodes": f"""WITH RECURSIVE tree (pk, level) AS (
            SELECT pk, 0 FROM nodes WHERE workspace = ?1 AND parent IS NULL
            UNION ALL SELECT c.pk, tree.level + 1 FROM tree CROSS JOIN nodes c ON c.parent = tree.pk
        ) SELECT {_NODE} FROM tree CROSS JOIN nodes n ON n.pk = tree.pk ORDER BY tree.level, n.pk""",
    "passages": f"""SELECT {_PASSAGE} FROM nodes n CROSS JOIN passages p ON p.node = n.pk
        WHERE n.workspace = ?1 ORDER BY n.pk, p.key""",
    "vectors": """SELECT v.model, v.digest, v.vector FROM vectors v WHERE v.workspace = ?1 AND EXISTS (
            SELECT 1 FROM passages p CROSS JOIN nodes n ON n.pk = p.node
            WHERE p.digest = v.digest AND n.workspace = ?1) ORDER BY v.model, v.digest""",
    "page_vectors": """SELECT model, node, width, sketch, vectors FROM page_vectors
        WHERE workspace = ?1 ORDER BY model, node""",
    "edges": """SELECT source, target, type, label, weight FROM edges
        WHERE workspace = ?1 ORDER BY source, target, type, label""",
    "changes": "SELECT node, version, id, acl, deleted FROM changes WHERE workspace = ?1 ORDER BY node",
    "commits": f"""SELECT version, mark FROM commits WHERE workspace = ?1 AND version > (
            SELECT version FROM workspaces WHERE id = ?1) - {KEPT_COMMITS} ORDER BY version DESC""",
    "activity": "SELECT user, kind, node, at FROM activity WHERE workspace = ?1 ORDER BY user, kind, node",
    "feedback": """SELECT f.node, f.user, f.useful, f.at FROM nodes n CROSS JOIN feedback f ON f.node = n.pk
        WHERE n.workspace = ?1 ORDER BY f.node, f.user""",
    "usage": """SELECT u.node, u.user, u.used FROM nodes n CROSS JOIN usage u ON u.node = n.pk
        WHERE n.workspace = ?1 ORDER BY u.node, u.user""",
    "contexts": "SELECT user, thread, name, kept, at FROM contexts WHERE workspace = ?1 ORDER BY user, thread, name",
    "marks": f"""SELECT topic, name, mark FROM marks
        WHERE workspace = ?1 AND topic NOT IN {STAYING} ORDER BY topic, name""",
    "users": "SELECT name FROM users WHERE workspace = ?1 ORDER BY name",
    "members": "SELECT user, team FROM members WHERE workspace = ?1 ORDER BY user, team",
    "keys": """SELECT k.id, k.digest, k.user, k.scope, k.name, k.created_at, k.expires_at, k.revoked_at
        FROM key_workspaces c JOIN keys k ON k.id = c.key WHERE c.workspace = ?1 ORDER BY k.id""",
    "jobs": "SELECT id, user, state, created_at, updated_at, details FROM jobs WHERE workspace = ?1 ORDER BY id",
}

ADD = {
    "workspace": "UPDATE workspaces SET version = ?2, access = ?3 WHERE id = ?1",
    "lists": "INSERT INTO acls (workspace, id, principals) VALUES (?1, ?2, ?3)",
    "nodes": """INSERT INTO nodes (workspace, pk, id, type, title, parent, position, tags, fields, confidence,
            conversation, created_at, updated_at, source, owner, access, acl, digest, valid_from, valid_until)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)""",
    "vectors": "INSERT INTO vectors (workspace, model, digest, vector) VALUES (?1, ?2, ?3, ?4)",
    "page_vectors": """INSERT INTO page_vectors (workspace, model, node, width, sketch, vectors)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)""",
    "edges": """INSERT INTO edges (workspace, source, target, type, label, weight) VALUES (?1, ?2, ?3, ?4, ?5, ?6)""",
    "changes": "INSERT INTO changes (workspace, node, version, id, acl, deleted) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    "commits": "INSERT INTO commits (workspace, version, mark) VALUES (?1, ?2, ?3)",
    "activity": "INSERT INTO activity (workspace, user, kind, node, at) VALUES (?1, ?2, ?3, ?4, ?5)",
    "feedback": "INSERT INTO feedback (node, user, useful, at) VALUES (?2, ?3, ?4, ?5)",
    "usage": "INSERT INTO usage (node, user, used) VALUES (?2, ?3, ?4)",
    "contexts": "INSERT INTO contexts (workspace, user, thread, name, kept, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    "marks": "INSERT INTO marks (workspace, topic, name, mark) VALUES (?1, ?2, ?3, ?4)",
    "users": "INSERT INTO users (workspace, name) VALUES (?1, ?2)",
    "members": "INSERT INTO members (workspace, user, team) VALUES (?1, ?2, ?3)",
    "keys": """INSERT INTO keys (id, digest, user, scope, name, created_at, expires_at, revoked_at)
        VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING""",
    "jobs": """INSERT INTO jobs (workspace, id, user, state, created_at, updated_at, details)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)""",
}


_SPANS = (
    """SELECT MIN(first), MAX(last) FROM (
           SELECT MIN(pk) AS first, MAX(pk) AS last FROM nodes WHERE workspace = ?1
           UNION ALL SELECT MIN(node), MAX(node) FROM changes WHERE workspace = ?1)""",
    """SELECT MIN(p.key), MAX(p.key) FROM nodes n CROSS JOIN passages p ON p.node = n.pk WHERE n.workspace = ?1""",
    "SELECT MIN(id), MAX(id) FROM acls WHERE workspace = ?1",
)


class SqliteTransfer:
    """Implements `weftwork.store.transfer.Arriving`; in a transaction that only reads, `Leaving`."""

    def __init__(self, connection: sqlite3.Connection, number: int, files: Files) -> None:
        self._connection = connection
        self._number = number
        self.files = files
        self.version = int(self._scalar("SELECT version FROM workspaces WHERE id = ?", number))

    @cached_property
    def before(self) -> Numbers:
        """What its numbers begin after; while it arrives, after those that were set aside for it."""
        reserved = self.progress().get("before")
        if reserved is not None:
            return Numbers(*json.loads(reserved))
        return Numbers(*(first - 1 for first, _ in self._spans))

    @property
    def last(self) -> Numbers:
        """The last of its numbers, those of removed nodes included."""
        return Numbers(*(last for _, last in self._spans))

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The first and the last number of its nodes, passages and lists."""
        rows = [self._connection.execute(query, (self._number,)).fetchone() for query in _SPANS]
        return [(1, 0) if first is None else (first, last) for first, last in rows]

    def rows(self, kind: str) -> Iterator[Row]:
        """The rows of a kind."""
        yield from self._connection.execute(ROWS[kind], (self._number,))

    def count(self, kind: str) -> int:
        """How many there are."""
        return int(self._scalar(f"SELECT COUNT(*) FROM ({ROWS[kind]})", self._number))

    def add(self, kind: str, rows: Sequence[Row]) -> None:
        """Write rows of a kind, with what is derived from them."""
        if kind == "passages":
            self._add_passages(rows)
            return
        if kind == "keys":
            refuse_other(dict(self._connection.execute("SELECT id, digest FROM keys").fetchall()), rows)
        self._connection.executemany(ADD[kind], [(self._number, *row) for row in rows])
        if kind == "nodes":
            self._add_details(rows)
        elif kind == "lists":
            self._connection.executemany(
                "INSERT INTO acl_principals (workspace, principal, acl) VALUES (?, ?, ?)",
                [(self._number, principal, row[0]) for row in rows for principal in json.loads(row[1])],
            )
        elif kind == "keys":
            self._connection.executemany(
                "INSERT INTO key_workspaces (key, workspace) VALUES (?, ?)", [(row[0], self._number) for row in rows]
            )

    def _add_details(self, rows: Sequence[Row]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO tags (workspace, tag, node) VALUES (?, ?, ?)",
            [(self._number, tag, row[0]) for row in rows for tag in json.loads(row[6])],
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO fields (workspace, name, value, node) VALUES (?, ?, ?, ?)",
            [(self._number, *pair, row[0]) for row in rows for pair in field_pairs(fields_of(row[7]))],
        )

    def _add_passages(self, rows: Sequence[Row]) -> None:
        found = self._connection.execute(
            "SELECT pk, id, title, tags, fields FROM nodes WHERE pk IN (SELECT value FROM json_each(?))",
            (ids(sorted({row[1] for row in rows})),),
        )
        nodes = {row[0]: node_of(row[1:]) for row in found}
        self._connection.executemany(
            """INSERT INTO passages (key, node, acl, ordinal, start, "end", text, tokens, digest, citation, words)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            [(*row, len(analyse(searchable(nodes[row[1]], Passage(*row[3:]))))) for row in rows],
        )

    def progress(self) -> dict[str, str]:
        """The account of how far it has come."""
        rows = self._connection.execute(
            "SELECT name, mark FROM marks WHERE workspace = ? AND topic = ?", (self._number, PROGRESS)
        )
        return dict(rows.fetchall())

    def mark(self, marks: Mapping[str, str]) -> None:
        """Replace this account."""
        self._connection.execute("DELETE FROM marks WHERE workspace = ? AND topic = ?", (self._number, PROGRESS))
        self.add("marks", [(PROGRESS, name, mark) for name, mark in marks.items()])

    def rename(self, name: str) -> None:
        """Give it its name, in the place of an empty workspace that has it."""
        self._connection.execute("DELETE FROM workspaces WHERE name = ?", (name,))
        self._connection.execute("UPDATE workspaces SET name = ? WHERE id = ?", (name, self._number))

    def _scalar(self, query: str, *values: object) -> Any:
        return self._connection.execute(query, values).fetchone()[0]


def announce(
    connection: sqlite3.Connection, workspace: str, access: str, span: Numbers, marks: Mapping[str, str]
) -> None:
    """Make a workspace without users, and set numbers aside for it that nothing else gets."""
    cursor = connection.execute("INSERT INTO workspaces (name, access) VALUES (?, ?)", (workspace, access))
    before = [_reserve(connection, table, getattr(span, kind)) for kind, table in _COUNTED.items()]
    connection.executemany(
        "INSERT INTO marks (workspace, topic, name, mark) VALUES (?, ?, ?, ?)",
        [(cursor.lastrowid, PROGRESS, *pair) for pair in {**marks, "before": json.dumps(before)}.items()],
    )


def node_of(row: Sequence[Any]) -> Node:
    """As much of a node as is searched with its passages: from its id, title, tags and fields."""
    name, title, tags, fields = row
    return Node(id=name, title=title, tags=tuple(json.loads(tags)), fields=fields_of(fields))


def refuse_other(known: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Raise if a key of another digest has the id of one of these."""
    for row in rows:
        if known.get(row[0], row[1]) != row[1]:
            raise InvalidInput(f"the target has another key with the id {row[0]!r}: revoke one of the two")


def _reserve(connection: sqlite3.Connection, table: str, count: int) -> int:
    """Set the next numbers of a table aside; the one before them."""
    before = next_number(connection, table) - 1
    connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
    connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, before + count))
    return before
