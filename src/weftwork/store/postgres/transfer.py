"""A workspace as rows that any store can give and take; see `weftwork.store.transfer`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.store.files import Files
from weftwork.store.postgres import embeddings, words, workspaces
from weftwork.store.postgres.codec import HEAD_LENGTH, folded, lexemes, read_vector
from weftwork.store.postgres.load import insert
from weftwork.store.postgres.put import NODE_COLUMNS, PASSAGE_COLUMNS
from weftwork.store.sqlite.codec import field_pairs, fields_of
from weftwork.store.sqlite.put import searchable
from weftwork.store.sqlite.transfer import node_of, refuse_other
from weftwork.store.transfer import COLUMNS, KEPT_COMMITS, PROGRESS, STAYING, Numbers, Row
from weftwork.types import Passage

if TYPE_CHECKING:
    from psycopg import Connection

_NODE = """n.pk, n.id, n.type, n.title, n.parent, n.position, n.tags, n.fields, n.confidence, n.conversation,
    n.created_at, n.updated_at, n.source, n.owner, n.access, n.acl, n.digest, n.valid_from, n.valid_until"""
AT_ONCE = 500
"""Rows that are fetched together."""

ROWS = {
    "workspace": "SELECT version, access FROM workspaces WHERE workspace = %(ws)s",
    "lists": "SELECT id, principals FROM acls WHERE workspace = %(ws)s ORDER BY id",
    "nodes": f"""WITH RECURSIVE tree (pk, level) AS (
            SELECT pk, 0 FROM nodes WHERE workspace = %(ws)s AND parent IS NULL
            UNION ALL SELECT c.pk, tree.level + 1 FROM tree
            JOIN nodes c ON c.workspace = %(ws)s AND c.parent = tree.pk
        ) SELECT {_NODE} FROM tree JOIN nodes n ON n.workspace = %(ws)s AND n.pk = tree.pk ORDER BY tree.level, n.pk""",
    "passages": """SELECT key, node, acl, ordinal, start, "end", text, tokens, digest, citation FROM passages
        WHERE workspace = %(ws)s ORDER BY node, key""",
    "vectors": """SELECT DISTINCT ON (m.name, p.digest) m.name, p.digest, vector_send(e.vector) FROM embeddings e
        JOIN passages p ON p.workspace = %(ws)s AND p.key = e.key
        JOIN models m ON m.workspace = %(ws)s AND m.model = e.model
        WHERE e.workspace = %(ws)s ORDER BY m.name, p.digest""",
    "page_vectors": """SELECT model, node, width, sketch, vectors FROM page_vectors
        WHERE workspace = %(ws)s ORDER BY model, node""",
    "edges": """SELECT source, target, type, label, weight FROM edges
        WHERE workspace = %(ws)s ORDER BY source, target, type, label""",
    "changes": "SELECT node, version, id, acl, deleted::int FROM changes WHERE workspace = %(ws)s ORDER BY node",
    "commits": f"""SELECT version, mark FROM commits WHERE workspace = %(ws)s AND version > (
            SELECT version FROM workspaces WHERE workspace = %(ws)s) - {KEPT_COMMITS} ORDER BY version DESC""",
    "activity": "SELECT who, kind, node, at FROM activity WHERE workspace = %(ws)s ORDER BY who, kind, node",
    "feedback": "SELECT node, who, useful::int, at FROM feedback WHERE workspace = %(ws)s ORDER BY node, who",
    "usage": "SELECT node, who, used FROM usage WHERE workspace = %(ws)s ORDER BY node, who",
    "contexts": """SELECT who, thread, name, kept, at FROM contexts
        WHERE workspace = %(ws)s ORDER BY who, thread, name""",
    "marks": f"""SELECT topic, name, mark FROM marks
        WHERE workspace = %(ws)s AND topic NOT IN {STAYING} ORDER BY topic, name""",
    "users": "SELECT name FROM users WHERE workspace = %(ws)s ORDER BY name",
    "members": "SELECT who, team FROM members WHERE workspace = %(ws)s ORDER BY who, team",
    "keys": """SELECT k.id, k.digest, k.who, k.scope, k.name, k.created_at, k.expires_at, k.revoked_at
        FROM key_workspaces c JOIN keys k ON k.id = c.key WHERE c.workspace = %(owner)s ORDER BY k.id""",
    "jobs": """SELECT id, who, state, created_at, updated_at, details FROM jobs
        WHERE workspace = %(owner)s ORDER BY id""",
}
_SPANS = (
    """SELECT min(first), max(last) FROM (
           SELECT min(pk) AS first, max(pk) AS last FROM nodes WHERE workspace = %(ws)s
           UNION ALL SELECT min(node), max(node) FROM changes WHERE workspace = %(ws)s) AS spans""",
    "SELECT min(key), max(key) FROM passages WHERE workspace = %(ws)s",
    "SELECT min(id), max(id) FROM acls WHERE workspace = %(ws)s",
)
PLAIN = frozenset("page_vectors edges changes commits activity feedback usage contexts marks users members".split())
"""Kinds that are kept as they come."""
FLAGS = {"changes": 4, "feedback": 2}
"""Columns that are true or false."""


class PostgresTransfer:
    """Implements `weftwork.store.transfer.Arriving`; in a transaction that only reads, `Leaving`."""

    def __init__(self, connection: Connection[Any], number: int, owner: int, files: Files) -> None:
        self._connection = connection
        self._names = {"ws": number, "owner": owner}
        self._number = number
        self.files = files
        # A workspace may take as long as it takes; who moves one is no request that others wait for.
        connection.execute("SET LOCAL statement_timeout TO 0")
        self.version = int(self._one("SELECT version FROM workspaces WHERE workspace = %(ws)s")[0])

    @cached_property
    def before(self) -> Numbers:
        """What its numbers begin after: zero while it arrives, since the numbers of each workspace are its own."""
        if self.progress():
            return Numbers(0, 0, 0)
        return Numbers(*(first - 1 for first, _ in self._spans))

    @property
    def last(self) -> Numbers:
        """The last of its numbers, those of removed nodes included."""
        return Numbers(*(last for _, last in self._spans))

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The first and the last number of its nodes, passages and lists."""
        rows = [self._one(query) for query in _SPANS]
        return [(1, 0) if first is None else (first, last) for first, last in rows]

    def rows(self, kind: str) -> Iterator[Row]:
        """The rows of a kind, fetched a few at a time."""
        with self._connection.cursor(name=f"leaving_{kind}") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(ROWS[kind].encode(), self._names)
            for row in cursor:
                yield (*row[:2], read_vector(row[2]).tobytes()) if kind == "vectors" else row

    def count(self, kind: str) -> int:
        """How many there are."""
        return int(self._one(f"SELECT count(*) FROM ({ROWS[kind]}) AS counted")[0])

    def add(self, kind: str, rows: Sequence[Row]) -> None:
        """Write rows of a kind, with what is derived from them."""
        if kind in PLAIN:
            flag = FLAGS.get(kind, -1)
            plain = [tuple(bool(v) if place == flag else v for place, v in enumerate(row)) for row in rows]
            self._insert(kind, COLUMNS[kind].split(), plain)
            return
        getattr(self, f"_add_{kind}")(rows)

    def _add_workspace(self, rows: Sequence[Row]) -> None:
        version, access = rows[0]
        self._connection.execute(
            "UPDATE workspaces SET version = %s, access = %s WHERE workspace = %s", (version, access, self._number)
        )

    def _add_lists(self, rows: Sequence[Row]) -> None:
        digests = [blake2b(row[1].encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for row in rows]
        lists = [(*row, digest) for row, digest in zip(rows, digests, strict=True)]
        self._insert("acls", ("id", "principals", "digest"), lists)
        principals = [(principal, row[0]) for row in rows for principal in json.loads(row[1])]
        self._insert("acl_principals", ("principal", "acl"), principals)

    def _add_nodes(self, rows: Sequence[Row]) -> None:
        self._insert("nodes", NODE_COLUMNS[1:], [(*row, folded(row[3]), folded(row[12])) for row in rows])
        tags = [(tag, row[0]) for row in rows for tag in dict.fromkeys(json.loads(row[6]))]
        self._insert("tags", ("tag", "node"), tags)
        fields = [
            (name, value, value[:HEAD_LENGTH], row[0], ordinal)
            for row in rows
            for ordinal, (name, value) in enumerate(field_pairs(fields_of(row[7])))
        ]
        self._insert("fields", ("name", "value", "head", "node", "ordinal"), fields)

    def _add_passages(self, rows: Sequence[Row]) -> None:
        numbers = sorted({row[1] for row in rows})
        found = self._connection.execute(
            "SELECT pk, id, title, tags, fields FROM nodes WHERE workspace = %s AND pk = ANY (%s::bigint[])",
            (self._number, numbers),
        )
        nodes = {row[0]: node_of(row[1:]) for row in found}
        passages = []
        for row in rows:
            text, length = lexemes(searchable(nodes[row[1]], Passage(*row[3:])))
            passages.append((*row[:8], length, *row[8:], text))
        self._insert("passages", PASSAGE_COLUMNS[1:], passages)
        words.file(self._connection, self._number, numbers)

    def _add_vectors(self, rows: Sequence[Row]) -> None:
        for model in sorted({row[0] for row in rows}):
            given = {row[1]: np.frombuffer(row[2], dtype=np.float32) for row in rows if row[0] == model}
            embeddings.put(self._connection, self._number, model, given)

    def _add_keys(self, rows: Sequence[Row]) -> None:
        refuse_other(dict(self._connection.execute("SELECT id, digest FROM keys").fetchall()), rows)
        with self._connection.cursor() as cursor:
            cursor.executemany(
                """INSERT INTO keys (id, digest, who, scope, name, created_at, expires_at, revoked_at)
                   VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING""",
                rows,
            )
            cursor.executemany(
                "INSERT INTO key_workspaces (key, workspace) VALUES (%s, %s)",
                [(row[0], self._names["owner"]) for row in rows],
            )

    def _add_jobs(self, rows: Sequence[Row]) -> None:
        columns = ("workspace", "id", "who", "state", "created_at", "updated_at", "details")
        insert(self._connection, "jobs", columns, [(self._names["owner"], *row) for row in rows])

    def progress(self) -> dict[str, str]:
        """The account of how far it has come."""
        query = "SELECT name, mark FROM marks WHERE workspace = %s AND topic = %s"
        return dict(self._connection.execute(query, (self._number, PROGRESS)).fetchall())

    def mark(self, marks: Mapping[str, str]) -> None:
        """Replace this account."""
        self._connection.execute("DELETE FROM marks WHERE workspace = %s AND topic = %s", (self._number, PROGRESS))
        self.add("marks", [(PROGRESS, name, mark) for name, mark in marks.items()])

    def rename(self, name: str) -> None:
        """Give it its name, in the place of an empty workspace that has it."""
        if self._connection.execute("SELECT 1 FROM directory WHERE name = %s", (name,)).fetchone() is not None:
            workspaces.drop(self._connection, name)
        self._connection.execute("UPDATE directory SET name = %s WHERE id = %s", (name, self._names["owner"]))

    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        insert(self._connection, table, ("workspace", *columns), [(self._number, *row) for row in rows])

    def _one(self, query: str) -> tuple[Any, ...]:
        row = self._connection.execute(query.encode(), self._names).fetchone()
        assert row is not None
        return tuple(row)


def announce(connection: Connection[Any], workspace: str, access: str, span: Numbers, marks: Mapping[str, str]) -> None:
    """Make a workspace without users, and set numbers aside for it that nothing else gets."""
    workspaces.create(connection, workspace, frozenset(json.loads(access)))
    number = workspaces.number_of(connection, workspace, workspaces.WRITE)
    connection.execute(
        "UPDATE workspaces SET next_node = %s, next_passage = %s, next_list = %s WHERE workspace = %s",
        (span.nodes + 1, span.passages + 1, span.lists + 1, number),
    )
    rows = [(number, PROGRESS, *pair) for pair in marks.items()]
    insert(connection, "marks", ("workspace", "topic", "name", "mark"), rows)
