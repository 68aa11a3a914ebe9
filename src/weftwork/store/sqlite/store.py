"""The embedded store itself: its transactions, its indexes, and checks of its own health."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

from filelock import FileLock

from weftwork.errors import InvalidInput
from weftwork.store.files import Files
from weftwork.store.sql.codec import dump, to_micros
from weftwork.store.sql.read_cache import ReadCache
from weftwork.store.sql.session import Tracer
from weftwork.store.sql.store import SqlStore
from weftwork.store.sqlite import embedding_queue, erasure_queries, store_queries
from weftwork.store.sqlite.batch import SqliteBatch
from weftwork.store.sqlite.checks import missing_files, problems_of
from weftwork.store.sqlite.connection import Connections
from weftwork.store.sqlite.database import SqliteDatabase, head, opened
from weftwork.store.sqlite.erasure import SqliteErasure
from weftwork.store.sqlite.index_sync import DerivedIndexes
from weftwork.store.sqlite.session import Reader, Session, written_since
from weftwork.store.sqlite.transfer import SqliteTransfer, announce
from weftwork.store.sqlite.view import SqliteView
from weftwork.store.transfer import Numbers

NO_MODELS: Mapping[str, int] = MappingProxyType({})


class SqliteStore(SqlStore):
    """Implements `weftwork.store.protocol.Store` on one file; indexes live in a folder beside it."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime], tracer: Tracer | None = None) -> None:
        self.path = path
        self._connections = Connections(path, tracer)
        super().__init__(SqliteDatabase(self._connections), store_queries, path, clock)
        self._folder = path.with_name(path.name + ".index")
        self.erasure = SqliteErasure(self._database, erasure_queries, self._connections, self._drop_indexes)
        self._derived: dict[int, DerivedIndexes] = {}
        self._read_cache = ReadCache()
        self._claiming = FileLock(path.with_name(path.name + ".claims"))

    @contextmanager
    def _creating(self, workspace: str, access: frozenset[str]) -> Iterator[None]:
        with self._connections.write() as connection:
            if connection.execute("SELECT 1 FROM workspaces WHERE name = ?", (workspace,)).fetchone():
                raise InvalidInput(f"workspace {workspace!r} exists already: choose another name")
            connection.execute("INSERT INTO workspaces (name, access) VALUES (?, ?)", (workspace, dump(sorted(access))))
            yield

    def drop_workspace(self, workspace: str) -> None:
        """Remove a workspace and everything derived from it."""
        with self._connections.write() as connection:
            number = head(connection, workspace).number
            connection.execute("DELETE FROM nodes WHERE workspace = ?", (number,))
            connection.execute("DELETE FROM workspaces WHERE id = ?", (number,))
        self._drop_indexes(number)
        Files(self.path, number).clear()

    def _drop_indexes(self, number: int) -> None:
        with self._guard:
            self._derived.pop(number, None)
        shutil.rmtree(self._folder / str(number), ignore_errors=True)

    def version(self, workspace: str) -> int:
        """The version of a workspace, which each write raises."""
        with self._connections.read() as connection:
            return head(connection, workspace).version

    @contextmanager
    def _batch(self, workspace: str) -> Iterator[SqliteBatch]:
        with self._connections.write() as connection:
            workspace_head = head(connection, workspace)
            session = Session(connection, workspace_head.number)
            yield SqliteBatch(session, default=workspace_head.access, now=to_micros(self._clock()))

    @contextmanager
    def view(self, workspace: str, user: str) -> Iterator[SqliteView]:
        """A snapshot for one user."""
        with self._connections.read() as connection:
            start = opened(connection, workspace, user)
            session = Session(connection, start.workspace)
            cached = self._read_cache.scope(
                (start.workspace, start.content, start.acls), partial(written_since, session)
            )
            reader = Reader(connection, start.workspace, start.acls, cached, start.content)
            yield SqliteView(reader, self._indexes(start.workspace), (workspace, user), start.version)

    def waiting(self, workspace: str, model: str) -> int:
        """The number of texts without a vector of a model."""
        return self._database.ask(lambda session: embedding_queue.count(session, model), workspace)

    @contextmanager
    def claim(self, workspace: str, model: str, limit: int) -> Iterator[Mapping[str, str]]:
        """Claim some texts without a vector; other workers wait until the block ends."""
        with self._claiming:
            yield self._database.ask(lambda session: embedding_queue.some(session, model, limit), workspace)

    @contextmanager
    def leaving(self, workspace: str) -> Iterator[SqliteTransfer]:
        """A snapshot of a whole workspace, to move it to another store. Ignores permissions."""
        with self._connections.read() as connection:
            yield self._transfer(connection, workspace)

    def announce(self, workspace: str, access: str, span: Numbers, marks: Mapping[str, str]) -> None:
        """Create a workspace without users, and reserve as many numbers for it as the span says."""
        with self._connections.write() as connection:
            announce(connection, workspace, access, span, marks)

    @contextmanager
    def arriving(self, workspace: str) -> Iterator[SqliteTransfer]:
        """A transaction on a workspace that has not arrived completely."""
        with self._connections.write() as connection:
            yield self._transfer(connection, workspace)

    def _transfer(self, connection: sqlite3.Connection, workspace: str) -> SqliteTransfer:
        workspace_head = head(connection, workspace)
        session = Session(connection, workspace_head.number)
        return SqliteTransfer(session, workspace_head.version, Files(self.path, workspace_head.number))

    def catch_up(self, workspace: str, models: Mapping[str, int] = NO_MODELS) -> None:
        """Bring the indexes up to date; `models` names the vector indexes and their dimensions."""
        with self._connections.read() as connection:
            indexes = self._indexes(head(connection, workspace).number)
            indexes.words(connection)
            for model, dimensions in models.items():
                indexes.vectors(connection, model, dimensions)

    def check(self) -> list[str]:
        """Problems found in the database, and commits that it lost; empty when all is well."""
        with self._connections.read() as connection:
            problems = problems_of(connection)
            problems += [
                f"node {node!r} names the file {name}, which is missing: restore a backup, or add its document again"
                for node, name in missing_files(connection, self.path)
            ]
            names = dict(connection.execute("SELECT id, name FROM workspaces"))
        for number, name in sorted(names.items()):
            lost = self._indexes(number).lost_commit()
            if lost is not None:
                problems.append(
                    f"workspace {name!r} had a version {lost} that the file lacks: {self.path.name}-wal was lost, or "
                    "an older copy was put here. Restore a newer backup, or go on with  weftwork doctor --accept"
                )
        return problems

    def accept_loss(self) -> None:
        """Go on without the commits that the database lost."""
        with self._connections.read() as connection:
            numbers = [number for (number,) in connection.execute("SELECT id FROM workspaces")]
        for number in numbers:
            self._indexes(number).accept_loss()

    def close(self) -> None:
        """Release files and connections."""
        with self._guard:
            for indexes in self._derived.values():
                indexes.close()
            self._derived.clear()
        self._connections.close()

    def _indexes(self, workspace: int) -> DerivedIndexes:
        with self._guard:
            if workspace not in self._derived:
                self._derived[workspace] = DerivedIndexes(
                    self._folder / str(workspace), workspace, self._connections.read
                )
            return self._derived[workspace]
