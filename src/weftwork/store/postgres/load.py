"""Bulk inserts: one statement with an array for each column.

The rows come from a join with the workspace's own row, so that Citus sends the statement to its worker as it is. COPY
is refused where policies apply, and Citus would use it for rows that come from nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weftwork.store.postgres.schema import TABLES
from weftwork.store.postgres.session import Session

MANY = 2_000
"""Rows of one statement at most."""
CASTS = {"tsvector": "text", "varbit": "text", "vector": "text"}
"""Types whose values are sent as text."""
_COLUMN = re.compile(r'(?:^|,)\s*("?\w+"?) (text|bigint|int|float8|boolean|bytea|tsvector|varbit|vector)\b(?!\()')
TYPES = {table: dict(_COLUMN.findall(columns)) for table, columns in TABLES.items()}
"""The type of each column but the workspace, by table."""


def insert(
    session: Session,
    table: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    key: Sequence[str] = (),
) -> None:
    """Insert rows of the workspace, or replace those with the same key; `columns` are those after its number."""
    types = [TYPES[table][name] for name in columns]
    arrays = ", ".join(f"%(a{place})s::{CASTS.get(kind, kind)}[]" for place, kind in enumerate(types))
    aliases = ", ".join(f"c{place}" for place in range(len(columns)))
    values = ", ".join(f"g.c{place}::{kind}" for place, kind in enumerate(types))
    statement = f"""INSERT INTO {table} (workspace, {", ".join(columns)}) SELECT w.workspace, {values}
        FROM workspaces w CROSS JOIN unnest({arrays}) AS g ({aliases}) WHERE w.workspace = %(ws)s"""
    if key:
        changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in key)
        statement += f" ON CONFLICT (workspace, {', '.join(key)}) DO UPDATE SET {changes}"
    for start in range(0, len(rows), MANY):
        transposed = zip(*rows[start : start + MANY], strict=True)
        session.run(statement, **{f"a{place}": list(column) for place, column in enumerate(transposed)})
