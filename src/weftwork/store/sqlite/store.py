"""The embedded store itself: workspaces, batches, views, and checks of its own health."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from filelock import FileLock

from weftwork.errors import InvalidInput, NotFound
from weftwork.store.files import Files
from weftwork.store.service import Job, JobState, Key
from weftwork.store.sqlite import contexts, pages, service
from weftwork.store.sqlite import embedding_queue as claims
from weftwork.store.sqlite.access import visible_lists
from weftwork.store.sqlite.batch import SqliteBatch
from weftwork.store.sqlite.codec import dump, fields_of, ids, to_micros
from weftwork.store.sqlite.connection import Connections, Tracer
from weftwork.store.sqlite.index_sync import DerivedIndexes
from weftwork.store.sqlite.transfer import SqliteTransfer, announce
from weftwork.store.sqlite.vector_cache import SqliteVectorCache
from weftwork.store.sqlite.view import SqliteView
from weftwork.store.transfer import Numbers
from weftwork.types import EVERYONE, PAGE, FieldValue, Node

NO_MODELS: Mapping[str, int] = MappingProxyType({})


class SqliteStore:
    """Implements `weftwork.store.protocol.Store` on one file; indexes live in a folder beside it."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime], tracer: Tracer | None = None) -> None:
        self.path = path
        self._clock = clock
        self._connections = Connections(path, tracer)
        self._folder = path.with_name(path.name + ".index")
        self.embedding_cache = SqliteVectorCache(self._connections, clock)
        self._derived: dict[int, DerivedIndexes] = {}
        self._guard = threading.Lock()
        self._depth = 0
        self._removed: dict[str, set[str]] = {}
        self._files: dict[int, Files] = {}
        self._claiming = FileLock(path.with_name(path.name + ".claims"))

    def create_workspace(self, workspace: str, *, owner: str, access: frozenset[str] = frozenset({EVERYONE})) -> None:
        """Make a workspace with its first user; what has no list of its own follows `access`."""
        if not workspace.strip():
            raise InvalidInput("a workspace needs a name")
        with self._connections.write() as connection:
            if connection.execute("SELECT 1 FROM workspaces WHERE name = ?", (workspace,)).fetchone():
                raise InvalidInput(f"workspace {workspace!r} exists already: choose another name")
            connection.execute("INSERT INTO workspaces (name, access) VALUES (?, ?)", (workspace, dump(sorted(access))))
            with self.atomic(workspace) as batch:
                batch.add_user(owner)

    def drop_workspace(self, workspace: str) -> None:
        """Remove a workspace and everything derived from it."""
        with self._connections.write() as connection:
            number, _, _ = _workspace(connection, workspace)
            connection.execute("DELETE FROM nodes WHERE workspace = ?", (number,))
            connection.execute("DELETE FROM workspaces WHERE id = ?", (number,))
        with self._guard:
            self._derived.pop(number, None)
        shutil.rmtree(self._folder / str(number), ignore_errors=True)
        Files(self.path, number).clear()

    def workspaces(self) -> list[str]:
        """Names of all workspaces."""
        with self._connections.read() as connection:
            return [row[0] for row in connection.execute("SELECT name FROM workspaces ORDER BY name")]

    def version(self, workspace: str) -> int:
        """A number that each write raises."""
        with self._connections.read() as connection:
            return _workspace(connection, workspace)[1]

    def users(self, workspace: str) -> dict[str, tuple[str, ...]]:
        """Users of a workspace with the groups that they belong to."""
        with self._connections.read() as connection:
            rows = connection.execute(
                """SELECT u.name, m.team FROM users u LEFT JOIN members m ON m.workspace = u.workspace
                   AND m.user = u.name WHERE u.workspace = ? ORDER BY u.name, m.team""",
                (_workspace(connection, workspace)[0],),
            )
            found: dict[str, tuple[str, ...]] = {}
            for name, team in rows:
                found[name] = found.get(name, ()) + (() if team is None else (team,))
            return found

    @contextmanager
    def atomic(self, workspace: str) -> Iterator[SqliteBatch]:
        """A batch that is committed when the block ends, and undone if it raises."""
        with self._connections.write() as connection:
            number, _, access = _workspace(connection, workspace)
            batch = SqliteBatch(connection, number, access, to_micros(self._clock()))
            self._depth += 1  # the writer's lock is held
            try:
                yield batch
            finally:
                self._depth -= 1
                self._removed.setdefault(workspace, set()).update(batch.removed)
            removed = {}
            if not self._depth:
                removed, self._removed = self._removed, {}
        for name, nodes in removed.items():
            self._forget_files(name, nodes)

    def _forget_files(self, workspace: str, nodes: set[str]) -> None:
        """Remove the files of nodes that are gone, after what removed them was committed."""
        files = self.files(workspace) if nodes else None
        if files is not None and files.any:
            with files.exclusively():
                files.forget(nodes, self.unchecked_nodes(workspace, sorted(nodes)))

    @contextmanager
    def view(self, workspace: str, user: str) -> Iterator[SqliteView]:
        """A snapshot for one user."""
        with self._connections.read() as connection:
            number, version, _ = _workspace(connection, workspace)
            yield SqliteView(
                connection,
                self._indexes(number),
                names=(workspace, user),
                workspace=number,
                version=version,
                acls=visible_lists(connection, number, user),
            )

    def unchecked_nodes(self, workspace: str, names: Sequence[str]) -> set[str]:
        """Those of these ids that exist, seen by nobody in particular: for writing only."""
        with self._connections.read() as connection:
            rows = connection.execute(
                "SELECT id FROM nodes WHERE workspace = ? AND id IN (SELECT value FROM json_each(?))",
                (_workspace(connection, workspace)[0], ids(names)),
            )
            return {row[0] for row in rows}

    def unchecked_fields(self, workspace: str, name: str) -> Mapping[str, FieldValue] | None:
        """The fields of a node, None if it does not exist; seen by nobody in particular: for writing only."""
        with self._connections.read() as connection:
            key = (_workspace(connection, workspace)[0], name)
            row = connection.execute("SELECT fields FROM nodes WHERE workspace = ? AND id = ?", key).fetchone()
            return None if row is None else fields_of(row[0])

    def unchecked_children(self, workspace: str, name: str) -> set[str]:
        """Ids of the nodes directly below one, seen by nobody in particular: for writing only."""
        with self._connections.read() as connection:
            rows = connection.execute(
                """SELECT n.id FROM nodes p JOIN nodes n ON n.parent = p.pk WHERE p.workspace = ? AND p.id = ?""",
                (_workspace(connection, workspace)[0], name),
            )
            return {row[0] for row in rows}

    def marks(self, workspace: str, group: str) -> dict[str, str]:
        """What a batch kept under the names of a group, by name; seen by nobody in particular: for writing only."""
        with self._connections.read() as connection:
            rows = connection.execute(
                "SELECT name, mark FROM marks WHERE workspace = ? AND topic = ? ORDER BY name",
                (_workspace(connection, workspace)[0], group),
            )
            return dict(rows.fetchall())

    def files(self, workspace: str) -> Files:
        """The files that belong to the workspace's nodes; they go when their nodes are removed."""
        number = self._number(workspace)
        with self._guard:
            return self._files.setdefault(number, Files(self.path, number))

    def unchecked_vectors(self, workspace: str, model: str, digests: Sequence[str]) -> set[str]:
        """Those of these digests under which a vector is kept."""
        with self._connections.read() as connection:
            rows = connection.execute(
                """SELECT digest FROM vectors
                   WHERE workspace = ? AND model = ? AND digest IN (SELECT value FROM json_each(?))""",
                (_workspace(connection, workspace)[0], model, ids(digests)),
            )
            return {row[0] for row in rows}

    def unchecked_pages_without_vectors(self, workspace: str, model: str, limit: int) -> list[Node]:
        """Some of the document pages without vectors of a model, seen by nobody in particular: for writing only."""
        with self._connections.read() as connection:
            rows = pages.without_vectors(connection, _workspace(connection, workspace)[0], model, limit)
            return [
                Node(id=name, type=PAGE, parent=above, text=text or "", fields=fields_of(fields))
                for name, above, text, fields in rows
            ]

    def keep_context(self, workspace: str, name: str, *, user: str, thread: str, kept: str) -> None:
        """Keep what a user's context consisted of, for a while; the workspace is as it was before."""
        contexts.keep(self._connections, self._number(workspace), (user, thread, name), kept, self._clock())

    def kept_context(self, workspace: str, name: str, *, user: str, thread: str) -> str | None:
        """What was kept of a context of this user and thread."""
        return contexts.kept(self._connections, self._number(workspace), (user, thread, name))

    def put_key(self, key: Key) -> None:
        """Keep a key of the server, or replace the one with its id."""
        service.put_key(self._connections, key)

    def key(self, digest: str) -> Key | None:
        """The key with this digest."""
        return service.key(self._connections, digest)

    def keys(self) -> list[Key]:
        """All keys, the oldest first."""
        return service.keys(self._connections)

    def put_job(self, job: Job) -> None:
        """Keep a job, or replace the one with its id; the oldest of many finished ones go."""
        service.put_job(self._connections, job)

    def job(self, name: str) -> Job | None:
        """The job with this id."""
        return service.job(self._connections, name)

    def jobs(self, states: Sequence[JobState]) -> list[Job]:
        """The jobs in these states, the oldest first."""
        return service.jobs(self._connections, states)

    def waiting(self, workspace: str, model: str) -> int:
        """How many texts have no vector of a model."""
        with self._connections.read() as connection:
            return claims.count(connection, _workspace(connection, workspace)[0], model)

    @contextmanager
    def claim(self, workspace: str, model: str, limit: int) -> Iterator[Mapping[str, str]]:
        """Some of the texts that wait for a vector; whoever else wants some waits until the block ends."""
        with self._claiming:
            with self._connections.read() as connection:
                texts = claims.some(connection, _workspace(connection, workspace)[0], model, limit)
            yield texts

    @contextmanager
    def leaving(self, workspace: str) -> Iterator[SqliteTransfer]:
        """A snapshot of a whole workspace, seen by nobody in particular: to move it to another store."""
        with self._connections.read() as connection:
            yield self._transfer(connection, workspace)

    def announce(self, workspace: str, access: str, span: Numbers, marks: Mapping[str, str]) -> None:
        """Make a workspace without users for what is to arrive, and set so many numbers aside for it."""
        with self._connections.write() as connection:
            announce(connection, workspace, access, span, marks)

    @contextmanager
    def arriving(self, workspace: str) -> Iterator[SqliteTransfer]:
        """A transaction on a workspace that is not there wholly."""
        with self._connections.write() as connection:
            yield self._transfer(connection, workspace)

    def _transfer(self, connection: sqlite3.Connection, workspace: str) -> SqliteTransfer:
        number = _workspace(connection, workspace)[0]
        return SqliteTransfer(connection, number, Files(self.path, number))

    def _number(self, workspace: str) -> int:
        with self._connections.read() as connection:
            return _workspace(connection, workspace)[0]

    def catch_up(self, workspace: str, models: Mapping[str, int] = NO_MODELS) -> None:
        """Bring the indexes up to date; `models` names the vector indexes and their dimensions."""
        with self._connections.read() as connection:
            indexes = self._indexes(_workspace(connection, workspace)[0])
            indexes.words(connection)
            for model, dimensions in models.items():
                indexes.vectors(connection, model, dimensions)

    def check(self) -> list[str]:
        """Problems found in the database; empty when all is well."""
        with self._connections.read() as connection:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            problems += [f"row {row[1]} of {row[0]} refers to a missing {row[2]}" for row in
                         connection.execute("PRAGMA foreign_key_check")]  # fmt: skip
            problems += [
                f"access list {row[0]} counts {row[1]} passages where there are {row[2]}"
                for row in connection.execute(
                    """SELECT a.id, a.passages, COALESCE(p.found, 0) FROM acls a LEFT JOIN
                           (SELECT acl, COUNT(*) AS found, SUM(words) AS words FROM passages GROUP BY acl) p
                       ON p.acl = a.id WHERE a.passages != COALESCE(p.found, 0) OR a.words != COALESCE(p.words, 0)"""
                )
            ]
            return problems

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


def _workspace(connection: sqlite3.Connection, name: str) -> tuple[int, int, frozenset[str]]:
    """Number, version and default access list of a workspace."""
    row = connection.execute("SELECT id, version, access FROM workspaces WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise NotFound(f"workspace {name!r} does not exist: create it with  weftwork init --workspace {name}")
    return row[0], row[1], frozenset(json.loads(row[2]))
