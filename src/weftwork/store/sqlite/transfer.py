"""A workspace as rows that any store can give and take; see `weftwork.store.transfer`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from weftwork.store.files import Files
from weftwork.store.sql.codec import fields_of, indexed_pairs, searchable_node
from weftwork.store.sql.transfer import SqlTransfer
from weftwork.store.sqlite import transfer_queries
from weftwork.store.sqlite.put import ADD_FIELD, ADD_TAG, next_number, word_count
from weftwork.store.sqlite.session import Session
from weftwork.store.transfer import PROGRESS, Numbers, Row
from weftwork.types import Passage

_TABLES = {"nodes": "nodes", "passages": "passages", "lists": "acls"}
"""The tables whose keys are reserved."""


class SqliteTransfer(SqlTransfer):
    """Implements `weftwork.store.transfer.Arriving`; in a transaction that only reads, `Leaving`."""

    _session: Session

    def __init__(self, session: Session, version: int, files: Files) -> None:
        super().__init__(session, transfer_queries, version, files)

    @cached_property
    def before(self) -> Numbers:
        """The numbers before its first; while it arrives, before those that were reserved for it."""
        reserved = self.progress().get("before")
        if reserved is not None:
            return Numbers(*json.loads(reserved))
        return Numbers(*(first - 1 for first, _ in self._spans))

    def rows(self, kind: str) -> Iterator[Row]:
        """The rows of a kind."""
        yield from self._session.connection.execute(transfer_queries.ROWS[kind], {"ws": self._session.workspace})

    def add(self, kind: str, rows: Sequence[Row]) -> None:
        """Write rows of a kind, with what is derived from them."""
        if kind == "passages":
            self._add_passages(rows)
            return
        if kind == "keys":
            self._refuse_other_keys(rows)
        self._insert(transfer_queries.ADD[kind], rows)
        if kind == "nodes":
            self._insert(ADD_TAG, [(tag, row[0]) for row in rows for tag in json.loads(row[6])])
            self._insert(ADD_FIELD, [(*pair, row[0]) for row in rows for pair in indexed_pairs(fields_of(row[7]))])
        elif kind == "lists":
            self._insert(
                "INSERT INTO acl_principals (workspace, principal, acl) VALUES (?, ?, ?)",
                [(principal, row[0]) for row in rows for principal in json.loads(row[1])],
            )
        elif kind == "keys":
            self._insert("INSERT INTO key_workspaces (workspace, key) VALUES (?, ?)", [row[:1] for row in rows])

    def _insert(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for each row, with the number of the workspace before its columns."""
        self._session.connection.executemany(statement, [(self._session.workspace, *row) for row in rows])

    def _add_passages(self, rows: Sequence[Row]) -> None:
        node_rows = self._session.rows(
            "SELECT pk, id, title, tags, fields FROM nodes WHERE pk IN (SELECT value FROM json_each(:nodes))",
            nodes=sorted({row[1] for row in rows}),
        )
        nodes = {row[0]: searchable_node(row[1:]) for row in node_rows}
        self._session.connection.executemany(
            """INSERT INTO passages (key, node, acl, ordinal, start, "end", text, tokens, digest, citation, words)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            [(*row, word_count(nodes[row[1]], Passage(*row[3:]))) for row in rows],
        )

    def rename(self, name: str) -> None:
        """Give it its name, replacing an empty workspace of that name."""
        self._session.run("DELETE FROM workspaces WHERE name = :name", name=name)
        self._session.run("UPDATE workspaces SET name = :name WHERE id = :ws", name=name)


def announce(
    connection: sqlite3.Connection, workspace: str, access: str, span: Numbers, marks: Mapping[str, str]
) -> None:
    """Create a workspace without users, and reserve numbers for it that nothing else gets."""
    cursor = connection.execute("INSERT INTO workspaces (name, access) VALUES (?, ?)", (workspace, access))
    session = Session(connection, int(cursor.lastrowid or 0))
    before = [_reserve(session, table, getattr(span, kind)) for kind, table in _TABLES.items()]
    connection.executemany(
        transfer_queries.ADD["marks"],
        [(session.workspace, PROGRESS, *pair) for pair in {**marks, "before": json.dumps(before)}.items()],
    )


def _reserve(session: Session, table: str, count: int) -> int:
    """Reserve the next numbers of a table; return the one before them."""
    before = next_number(session, table) - 1
    session.run("DELETE FROM sqlite_sequence WHERE name = :table", table=table)
    session.run("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :seq)", table=table, seq=before + count)
    return before
