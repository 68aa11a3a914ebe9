"""Keys and jobs: no part of any workspace's content, so that no version rises when they change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weftwork.store.postgres.workspaces import identity
from weftwork.store.service import MOST_JOBS, UNFINISHED, Job, Key
from weftwork.store.sqlite.codec import dump, to_micros
from weftwork.store.sqlite.service import job_from, key_from

if TYPE_CHECKING:
    from psycopg import Connection

_KEYS = """SELECT k.id, k.digest, k.who, k.scope, k.created_at, k.name, k.expires_at, k.revoked_at,
                  (SELECT COALESCE(json_agg(d.name), '[]')::text
                   FROM key_workspaces c JOIN directory d ON d.id = c.workspace WHERE c.key = k.id) FROM keys k"""
_JOBS = """SELECT j.id, d.name, j.who, j.state, j.created_at, j.updated_at, j.details
           FROM jobs j JOIN directory d ON d.id = j.workspace"""


def put_key(connection: Connection[Any], key: Key) -> None:
    """Keep a key, or replace the one with its id."""
    moments = [moment and to_micros(moment) for moment in (key.created_at, key.expires_at, key.revoked_at)]
    numbers = [identity(connection, name) for name in sorted(key.workspaces)]
    connection.execute("DELETE FROM key_workspaces WHERE key = %s", (key.id,))
    connection.execute("DELETE FROM keys WHERE id = %s", (key.id,))
    connection.execute(
        """INSERT INTO keys (id, digest, who, scope, name, created_at, expires_at, revoked_at)
           VALUES (%s, %s, %s, %s, %s, %s, %s, %s)""",
        (key.id, key.digest, key.user, key.scope, key.name, *moments),
    )
    connection.execute("INSERT INTO key_workspaces (key, workspace) SELECT %s, unnest(%s::bigint[])", (key.id, numbers))


def key(connection: Connection[Any], digest: str) -> Key | None:
    """The key with a digest."""
    row = connection.execute(f"{_KEYS} WHERE k.digest = %s".encode(), (digest,)).fetchone()
    return None if row is None else key_from(row)


def keys(connection: Connection[Any]) -> list[Key]:
    """All keys, the oldest first."""
    return [key_from(row) for row in connection.execute(f"{_KEYS} ORDER BY k.created_at, k.id".encode())]


def put_job(connection: Connection[Any], job: Job) -> None:
    """Keep a job, or replace the one with its id; the oldest of many finished ones go."""
    number = identity(connection, job.workspace)
    connection.execute(
        """INSERT INTO jobs (id, workspace, who, state, created_at, updated_at, details)
           VALUES (%s, %s, %s, %s, %s, %s, %s)
           ON CONFLICT (id) DO UPDATE SET workspace = excluded.workspace, who = excluded.who, state = excluded.state,
               created_at = excluded.created_at, updated_at = excluded.updated_at, details = excluded.details""",
        (job.id, number, job.user, job.state, to_micros(job.created_at), to_micros(job.updated_at),
         dump(dict(job.details))),
    )  # fmt: skip
    connection.execute(
        """DELETE FROM jobs WHERE id IN (
               SELECT id FROM jobs WHERE workspace = %s AND state <> ALL (%s::text[])
               ORDER BY updated_at DESC, id OFFSET %s)""",
        (number, list(UNFINISHED), MOST_JOBS),
    )


def job(connection: Connection[Any], name: str) -> Job | None:
    """The job with an id."""
    row = connection.execute(f"{_JOBS} WHERE j.id = %s".encode(), (name,)).fetchone()
    return None if row is None else job_from(row)


def jobs(connection: Connection[Any], states: Sequence[str]) -> list[Job]:
    """The jobs in these states, the oldest first."""
    rows = connection.execute(
        f"{_JOBS} WHERE j.state = ANY (%s::text[]) ORDER BY j.created_at, j.id".encode(), (list(states),)
    )
    return [job_from(row) for row in rows]
