"""A workspace as rows that any store can give and take; see `weftwork.store.transfer`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from weftwork.store.files import Files
from weftwork.store.postgres import embeddings, transfer_queries, words, workspaces
from weftwork.store.postgres.access import list_digest
from weftwork.store.postgres.codec import folded, lexemes, read_vector
from weftwork.store.postgres.load import insert
from weftwork.store.postgres.put import FIELD_COLUMNS, NODE_COLUMNS, PASSAGE_COLUMNS, TAG_COLUMNS, field_rows
from weftwork.store.postgres.session import Session
from weftwork.store.sql.codec import fields_of, searchable, searchable_node
from weftwork.store.sql.transfer import SqlTransfer
from weftwork.store.transfer import COLUMNS, PROGRESS, Numbers, Row
from weftwork.types import Passage

if TYPE_CHECKING:
    from psycopg import Connection

AT_ONCE = 500
"""Rows that are fetched together."""
PLAIN = frozenset(
    "page_vectors edges changes commits activity feedback usage contexts receipts given marks users members".split()
)
"""Kinds whose rows are inserted unchanged."""
LARGE = ("passages", "vectors")
"""Kinds after whose rows statistics of the tables are collected."""
FLAGS = {"changes": 4, "feedback": 2}
"""The boolean column of a kind."""


class PostgresTransfer(SqlTransfer):
    """Implements `weftwork.store.transfer.Arriving`; in a transaction that only reads, `Leaving`."""

    _session: Session

    def __init__(self, session: Session, files: Files) -> None:
        # No request waits for a move, however long it takes.
        session.connection.execute("SET LOCAL statement_timeout TO 0")
        ((version,),) = session.rows("SELECT version FROM workspaces WHERE workspace = %(ws)s")
        super().__init__(session, transfer_queries, version, files)
        self.added = 0
        """The number of passages and vectors that were written."""

    @cached_property
    def before(self) -> Numbers:
        """The numbers before its first; zero while it arrives, since each workspace counts from one."""
        if self.progress():
            return Numbers(0, 0, 0)
        return Numbers(*(first - 1 for first, _ in self._spans))

    def rows(self, kind: str) -> Iterator[Row]:
        """The rows of a kind, fetched a few at a time."""
        with self._session.connection.cursor(name=f"leaving_{kind}") as cursor:
            cursor.itersize = AT_ONCE
            values = {"ws": self._session.workspace}
            cursor.execute(transfer_queries.ROWS[kind].encode(), values)
            for row in cursor:
                yield (*row[:2], read_vector(row[2]).tobytes()) if kind == "vectors" else row

    def add(self, kind: str, rows: Sequence[Row]) -> None:
        """Write rows of a kind, with what is derived from them."""
        if kind in LARGE:
            self.added += len(rows)
        if kind in PLAIN:
            flag = FLAGS.get(kind, -1)
            plain = [tuple(bool(v) if place == flag else v for place, v in enumerate(row)) for row in rows]
            insert(self._session, kind, COLUMNS[kind].split(), plain)
            return
        getattr(self, f"_add_{kind}")(rows)

    def _add_workspace(self, rows: Sequence[Row]) -> None:
        version, access = rows[0]
        self._session.run(
            "UPDATE workspaces SET version = %(version)s, access = %(access)s WHERE workspace = %(ws)s",
            version=version,
            access=access,
        )

    def _add_lists(self, rows: Sequence[Row]) -> None:
        insert(self._session, "acls", ("id", "principals", "digest"), [(*row, list_digest(row[1])) for row in rows])
        principals = [(principal, row[0]) for row in rows for principal in json.loads(row[1])]
        insert(self._session, "acl_principals", ("principal", "acl"), principals)

    def _add_nodes(self, rows: Sequence[Row]) -> None:
        insert(self._session, "nodes", NODE_COLUMNS, [(*row, folded(row[3]), folded(row[12])) for row in rows])
        tags = [(tag, row[0]) for row in rows for tag in dict.fromkeys(json.loads(row[6]))]
        insert(self._session, "tags", TAG_COLUMNS, tags)
        fields = [field for row in rows for field in field_rows(row[0], fields_of(row[7]))]
        insert(self._session, "fields", FIELD_COLUMNS, fields)

    def _add_passages(self, rows: Sequence[Row]) -> None:
        numbers = sorted({row[1] for row in rows})
        node_rows = self._session.rows(
            """SELECT pk, id, title, tags, fields FROM nodes
               WHERE workspace = %(ws)s AND pk = ANY (%(nodes)s::bigint[])""",
            nodes=numbers,
        )
        nodes = {row[0]: searchable_node(row[1:]) for row in node_rows}
        passages = []
        for row in rows:
            text, length = lexemes(searchable(nodes[row[1]], Passage(*row[3:])))
            passages.append((*row[:8], length, *row[8:], text))
        insert(self._session, "passages", PASSAGE_COLUMNS, passages)
        words.file(self._session, numbers)

    def _add_vectors(self, rows: Sequence[Row]) -> None:
        for model in sorted({row[0] for row in rows}):
            vectors = {row[1]: np.frombuffer(row[2], dtype=np.float32) for row in rows if row[0] == model}
            embeddings.put(self._session, model, vectors)

    def _add_keys(self, rows: Sequence[Row]) -> None:
        self._refuse_other_keys(rows)
        with self._session.connection.cursor() as cursor:
            cursor.executemany(
                """INSERT INTO keys (id, digest, who, scope, name, created_at, expires_at, revoked_at)
                   VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING""",
                rows,
            )
            cursor.executemany(
                "INSERT INTO key_workspaces (key, workspace) VALUES (%s, %s)",
                [(row[0], self._session.workspace) for row in rows],
            )

    def _add_jobs(self, rows: Sequence[Row]) -> None:
        with self._session.connection.cursor() as cursor:
            cursor.executemany(
                """INSERT INTO jobs (workspace, id, who, state, created_at, updated_at, details)
                   VALUES (%s, %s, %s, %s, %s, %s, %s)""",
                [(self._session.workspace, *row) for row in rows],
            )

    def rename(self, name: str) -> None:
        """Give it its name, replacing an empty workspace of that name."""
        if self._session.rows("SELECT 1 FROM directory WHERE name = %(name)s", name=name):
            workspaces.drop(self._session.connection, name)
        self._session.run("UPDATE directory SET name = %(name)s WHERE id = %(ws)s", name=name)


def announce(connection: Connection[Any], workspace: str, access: str, span: Numbers, marks: Mapping[str, str]) -> None:
    """Create a workspace without users, and reserve numbers for it that nothing else gets."""
    workspaces.create(connection, workspace, frozenset(json.loads(access)))
    session = Session(connection, workspaces.number_of(connection, workspace, workspaces.WRITE))
    session.run(
        """UPDATE workspaces SET next_node = %(node)s, next_passage = %(passage)s, next_list = %(list)s
           WHERE workspace = %(ws)s""",
        node=span.nodes + 1,
        passage=span.passages + 1,
        list=span.lists + 1,
    )
    insert(session, "marks", ("topic", "name", "mark"), [(PROGRESS, *pair) for pair in marks.items()])
