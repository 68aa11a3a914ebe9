"""Keys and jobs of a server; they do not raise the version of any workspace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from weftwork.store.server_state import MOST_JOBS, UNFINISHED, AuditEntry, Job, JobState, Key
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
                used_at=optional_micros(key.used_at),
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

    def note_use(self, name: str, at: datetime) -> None:
        """Note when the key with this id was used."""
        self._database.do(lambda session: session.run(self._sql.NOTE_KEY_USE, id=name, at=to_micros(at)))


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

    def of(self, workspace: str, user: str | None = None) -> list[Job]:
        """The jobs of a workspace, of one user's or of all, the latest first."""

        def read(session: Session) -> list[Row]:
            number = workspace_number(session, self._sql, workspace)
            return list(session.rows(self._sql.JOBS_OF, workspace=number, any=user is None, user=user or ""))

        return [_job(row) for row in self._database.ask(read)]


class SqlAuditLog:
    """Implements `weftwork.store.server_state.AuditLog`."""

    def __init__(self, database: Database, sql: StoreQueries) -> None:
        self._database = database
        self._sql = sql

    def add(self, entry: AuditEntry) -> None:
        """Append an entry."""
        values = {
            "at": to_micros(entry.at),
            "workspace": entry.workspace,
            "user": entry.user,
            "key": entry.key,
            "address": entry.address,
            "request": entry.request,
            "action": entry.action,
            "details": dump(dict(entry.details)),
        }
        self._database.do(lambda session: session.run(self._sql.ADD_AUDIT, **values))

    def entries(self, *, after: int = 0, workspace: str | None = None, limit: int = 1000) -> list[AuditEntry]:
        """The entries after the one with this number, the oldest first."""
        asked = {"after": after, "any": workspace is None, "workspace": workspace or "", "limit": limit}
        rows = self._database.ask(lambda session: session.rows(self._sql.AUDIT, **asked))
        return [
            AuditEntry(
                id=row[0],
                at=from_micros(row[1]),
                workspace=row[2],
                user=row[3],
                key=row[4],
                address=row[5],
                request=row[6],
                action=row[7],
                details=json.loads(row[8]),
            )
            for row in rows
        ]

    def drop_before(self, moment: datetime) -> int:
        """Remove the entries before a moment; count them."""

        def write(session: Session) -> int:
            ((count,),) = session.rows(self._sql.COUNT_AUDIT, before=to_micros(moment))
            session.run(self._sql.DROP_AUDIT, before=to_micros(moment))
            return int(count)

        return self._database.do(write)


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
        used_at=optional_moment(row[9]),
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
