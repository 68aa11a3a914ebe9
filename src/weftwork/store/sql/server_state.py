"""Keys and jobs of a server; they do not raise the version of any workspace."""

from __future__ import annotations

import json
from collections.abc import Sequence

from weftwork.store.server_state import MOST_JOBS, UNFINISHED, Job, JobState, Key
from weftwork.store.sql.codec import dump, from_micros, optional_micros, optional_moment, to_micros
from weftwork.store.sql.errors import missing_workspace
from weftwork.store.sql.queries import StoreQueries
from weftwork.store.sql.session import Database, Row, Session


class SqlKeys:
    """Implements `weftwork.store.server_state.Keys`."""

    def __init__(self, database: Database, sql: StoreQueries) -> None:
        self._database = database
        self._sql = sql

    def put(self, key: Key) -> None:
        """Store a key, or replace the one with its id; its workspaces must exist."""

        def write(session: Session) -> None:
            numbers = [workspace_number(session, self._sql, name) for name in sorted(key.workspaces)]
            session.run(self._sql.REMOVE_KEY_WORKSPACES, id=key.id)
            session.run(self._sql.REMOVE_KEY, id=key.id)
            session.run(
                self._sql.ADD_KEY,
                id=key.id,
                digest=key.digest,
                user=key.user,
                scope=key.scope,
                name=key.name,
                created_at=to_micros(key.created_at),
                expires_at=optional_micros(key.expires_at),
                revoked_at=optional_micros(key.revoked_at),
            )
            session.run(self._sql.ADD_KEY_WORKSPACES, id=key.id, workspaces=numbers)

        self._database.do(write)

    def get(self, digest: str) -> Key | None:
        """The key with this digest."""
        rows = self._database.ask(lambda session: session.rows(self._sql.KEY, digest=digest))
        return _key(rows[0]) if rows else None

    def all(self) -> list[Key]:
        """The keys, oldest first."""
        return [_key(row) for row in self._database.ask(lambda session: session.rows(self._sql.KEYS))]


class SqlJobs:
    """Implements `weftwork.store.server_state.Jobs`."""

    def __init__(self, database: Database, sql: StoreQueries) -> None:
        self._database = database
        self._sql = sql

    def put(self, job: Job) -> None:
        """Store a job, or replace the one with its id; of many finished ones, the oldest are removed."""

        def write(session: Session) -> None:
            number = workspace_number(session, self._sql, job.workspace)
            session.run(
                self._sql.PUT_JOB,
                id=job.id,
                workspace=number,
                user=job.user,
                state=job.state,
                created_at=to_micros(job.created_at),
                updated_at=to_micros(job.updated_at),
                details=dump(dict(job.details)),
            )
            session.run(self._sql.TRIM_JOBS, workspace=number, unfinished=list(UNFINISHED), most=MOST_JOBS)

        self._database.do(write)

    def get(self, name: str) -> Job | None:
        """The job with this id."""
        rows = self._database.ask(lambda session: session.rows(self._sql.JOB, id=name))
        return _job(rows[0]) if rows else None

    def in_states(self, states: Sequence[JobState]) -> list[Job]:
        """The jobs in these states, the oldest first."""
        rows = self._database.ask(lambda session: session.rows(self._sql.JOBS, states=list(states)))
        return [_job(row) for row in rows]


def workspace_number(session: Session, sql: StoreQueries, name: str) -> int:
    """The permanent number of a workspace, which no other ever gets."""
    rows = session.rows(sql.WORKSPACE, name=name)
    if not rows:
        raise missing_workspace(name)
    return int(rows[0][0])


def _key(row: Row) -> Key:
    return Key(
        id=row[0],
        digest=row[1],
        user=row[2],
        scope=row[3],
        created_at=from_micros(row[4]),
        name=row[5],
        expires_at=optional_moment(row[6]),
        revoked_at=optional_moment(row[7]),
        workspaces=frozenset(json.loads(row[8])),
    )


def _job(row: Row) -> Job:
    return Job(
        id=row[0],
        workspace=row[1],
        user=row[2],
        state=row[3],
        created_at=from_micros(row[4]),
        updated_at=from_micros(row[5]),
        details=json.loads(row[6]),
    )
