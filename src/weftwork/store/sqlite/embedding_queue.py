"""Which texts wait for a vector: those that have none. One worker at a time has some of them, which a lock sees to."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from weftwork.store.sqlite.codec import fields_of
from weftwork.text.split import embedded_text

Waiting = Mapping[str, str]
"""What is to be embedded, by the digest under which its vector is kept."""

_WITHOUT = """FROM nodes n CROSS JOIN passages p ON p.node = n.pk WHERE n.workspace = ?1 AND NOT EXISTS (
    SELECT 1 FROM vectors v WHERE v.workspace = ?1 AND v.digest = p.digest AND v.model = ?2)"""


def some(connection: sqlite3.Connection, workspace: int, model: str, limit: int) -> Waiting:
    """Some of the texts that wait."""
    rows = connection.execute(
        f"SELECT p.digest, n.title, n.fields, p.text {_WITHOUT} LIMIT ?3", (workspace, model, limit)
    )
    return {digest: embedded_text(title, fields_of(fields), text) for digest, title, fields, text in rows}


def count(connection: sqlite3.Connection, workspace: int, model: str) -> int:
    """How many texts wait."""
    return int(connection.execute(f"SELECT COUNT(DISTINCT p.digest) {_WITHOUT}", (workspace, model)).fetchone()[0])
