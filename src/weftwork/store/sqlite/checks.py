"""Problems of a database that can still be read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from weftwork.store.files import FILE_FIELDS


def problems_of(connection: sqlite3.Connection) -> list[str]:
    """Damaged pages, rows that refer to missing ones, and counts that are wrong; empty when all is well."""
    problems = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    problems += [
        f"row {row[1]} of {row[0]} refers to a missing {row[2]}"
        for row in connection.execute("PRAGMA foreign_key_check")
    ]
    problems += [
        f"access list {row[0]} counts {row[1]} passages where there are {row[2]}"
        for row in connection.execute(
            """SELECT a.id, a.passages, COALESCE(p.found, 0) FROM acls a LEFT JOIN
                   (SELECT acl, COUNT(*) AS found, SUM(words) AS words FROM passages GROUP BY acl) p
               ON p.acl = a.id WHERE a.passages != COALESCE(p.found, 0) OR a.words != COALESCE(p.words, 0)"""
        )
    ]
    return problems


def missing_files(connection: sqlite3.Connection, store: Path) -> Iterator[tuple[str, str]]:
    """Nodes and the files that they name, where these are missing."""
    for node, fields in connection.execute("SELECT id, fields FROM nodes WHERE type IN ('document', 'document_page')"):
        for name in FILE_FIELDS:
            named = json.loads(fields).get(name)
            if isinstance(named, str) and not (store.parent / named).is_file():
                yield node, named
