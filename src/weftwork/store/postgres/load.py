"""Bulk inserts: executemany for few rows, COPY for many.

PostgreSQL does not COPY into a table with row-level security, so rows go through a temporary table.
"""

from __future__ import annotations

from collections.abc import Sequence

from weftwork.store.postgres.session import Session

MANY = 100
"""The number of rows from which COPY is faster; it takes four statements for any number."""

CASTS = {"lexemes": "tsvector", "bits": "varbit", "vector": "vector"}
"""Columns whose values are sent as text, and their types."""


def insert(session: Session, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Insert rows of the workspace; `columns` are those after its number."""
    if not rows:
        return
    connection = session.connection
    names = ", ".join(("workspace", *columns))
    if len(rows) < MANY:
        places = ", ".join(("%s", *(f"%s::{CASTS[name]}" if name in CASTS else "%s" for name in columns)))
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {table} ({names}) VALUES ({places})".encode(),
                [(session.workspace, *row) for row in rows],
            )
        return
    staged = f"pg_temp.staged_{table}"
    connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS staged_{table} (LIKE {table}) ON COMMIT DELETE ROWS".encode())
    with connection.cursor().copy(f"COPY {staged} ({names}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row((session.workspace, *row))
    connection.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM {staged}".encode())
    connection.execute(f"DELETE FROM {staged}".encode())
