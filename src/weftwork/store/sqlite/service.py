"""Keys and jobs: no part of any workspace's content, so that no version rises when they change."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from weftwork.errors import NotFound
from weftwork.store.service import MOST_JOBS, UNFINISHED, Job, Key
from weftwork.store.sqlite.codec import dump, from_micros, ids, to_micros
from weftwork.store.sqlite.connection import Connections

_KEYS = """SELECT k.id, k.digest, k.user, k.scope, k.created_at, k.name, k.expires_at, k.revoked_at,
                  (SELECT json_group_array(w.name) FROM key_workspaces c JOIN workspaces w ON w.id = c.workspace
                   WHERE c.key = k.id) FROM keys k"""
_JOBS = """SELECT j.id, w.name, j.user, j.state, j.created_at, j.updated_at, j.details
           FROM jobs j JOIN workspaces w ON w.id = j.workspace"""


def put_key(connections: Connections, key: Key) -> None:
    """Keep a key, or replace the one with its id."""
    moments = [_micros(moment) for moment in (key.created_at, key.expires_at, key.revoked_at)]
    with connections.write() as connection:
        numbers = [_number(connection, name) for name in sorted(key.workspaces)]
        connection.execute("DELETE FROM keys WHERE id = ?", (key.id,))
        connection.execute(
            """INSERT INTO keys (id, digest, user, scope, name, created_at, expires_at, revoked_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (key.id, key.digest, key.user, key.scope, key.name, *moments),
        )
        connection.executemany("INSERT INTO key_workspaces VALUES (?, ?)", [(key.id, number) for number in numbers])


def key(connections: Connections, digest: str) -> Key | None:
    """The key with a digest."""
    with connections.read() as connection:
        row = connection.execute(f"{_KEYS} WHERE k.digest = ?", (digest,)).fetchone()
        return None if row is None else key_from(row)


def keys(connections: Connections) -> list[Key]:
    """All keys, the oldest first."""
    with connections.read() as connection:
        return [key_from(row) for row in connection.execute(f"{_KEYS} ORDER BY k.created_at, k.id")]


def put_job(connections: Connections, job: Job) -> None:
    """Keep a job, or replace the one with its id; the oldest of many finished ones go."""
    with connections.write() as connection:
        number = _number(connection, job.workspace)
        connection.execute(
            "INSERT OR REPLACE INTO jobs (id, workspace, user, state, created_at, updated_at, details)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (job.id, number, job.user, job.state, to_micros(job.created_at), to_micros(job.updated_at),
             dump(dict(job.details))),
        )  # fmt: skip
        connection.execute(
            """DELETE FROM jobs WHERE id IN (
                   SELECT id FROM jobs WHERE workspace = ? AND state NOT IN (SELECT value FROM json_each(?))
                   ORDER BY updated_at DESC, id LIMIT -1 OFFSET ?)""",
            (number, ids(UNFINISHED), MOST_JOBS),
        )


def job(connections: Connections, name: str) -> Job | None:
    """The job with an id."""
    with connections.read() as connection:
        row = connection.execute(f"{_JOBS} WHERE j.id = ?", (name,)).fetchone()
        return None if row is None else job_from(row)


def jobs(connections: Connections, states: Sequence[str]) -> list[Job]:
    """The jobs in these states, the oldest first."""
    with connections.read() as connection:
        rows = connection.execute(
            f"{_JOBS} WHERE j.state IN (SELECT value FROM json_each(?)) ORDER BY j.created_at, j.id", (ids(states),)
        )
        return [job_from(row) for row in rows]


def _number(connection: sqlite3.Connection, workspace: str) -> int:
    row = connection.execute("SELECT id FROM workspaces WHERE name = ?", (workspace,)).fetchone()
    if row is None:
        raise NotFound(f"workspace {workspace!r} does not exist: create it with  weftwork init --workspace {workspace}")
    return int(row[0])


def key_from(row: Sequence[Any]) -> Key:
    """A key from its columns."""
    return Key(
        id=row[0],
        digest=row[1],
        user=row[2],
        scope=row[3],
        created_at=from_micros(row[4]),
        name=row[5],
        expires_at=_moment(row[6]),
        revoked_at=_moment(row[7]),
        workspaces=frozenset(json.loads(row[8])),
    )


def job_from(row: Sequence[Any]) -> Job:
    """A job from its columns."""
    return Job(
        id=row[0],
        workspace=row[1],
        user=row[2],
        state=row[3],
        created_at=from_micros(row[4]),
        updated_at=from_micros(row[5]),
        details=json.loads(row[6]),
    )


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
