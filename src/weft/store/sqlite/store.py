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

from weft.errors import InvalidInput, NotFound
from weft.store.sqlite.access import visible_lists
from weft.store.sqlite.batch import SqliteBatch
from weft.store.sqlite.codec import dump, ids, to_micros
from weft.store.sqlite.connection import Connections, Tracer
from weft.store.sqlite.derived import DerivedIndexes
from weft.store.sqlite.vector_cache import SqliteVectorCache
from weft.store.sqlite.view import SqliteView
from weft.types import EVERYONE

NO_MODELS: Mapping[str, int] = MappingProxyType({})


class SqliteStore:
    """Implements `weft.store.protocol.Store` on one file; indexes live in a folder beside it."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime], tracer: Tracer | None = None) -> None:
        self.path = path
        self._clock = clock
        self._connections = Connections(path, tracer)
        self._folder = path.with_name(path.name + ".index")
        self.embedding_cache = SqliteVectorCache(self._connections, clock)
        self._derived: dict[int, DerivedIndexes] = {}
        self._guard = threading.Lock()

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
            yield SqliteBatch(connection, number, access, to_micros(self._clock()))

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

    def known_nodes(self, workspace: str, names: Sequence[str]) -> set[str]:
        """Those of these ids that exist, seen by nobody in particular: for writing only."""
        with self._connections.read() as connection:
            rows = connection.execute(
                "SELECT id FROM nodes WHERE workspace = ? AND id IN (SELECT value FROM json_each(?))",
                (_workspace(connection, workspace)[0], ids(names)),
            )
            return {row[0] for row in rows}

    def known_vectors(self, workspace: str, model: str, digests: Sequence[str]) -> set[str]:
        """Those of these digests under which a vector is kept."""
        with self._connections.read() as connection:
            rows = connection.execute(
                """SELECT digest FROM vectors
                   WHERE workspace = ? AND model = ? AND digest IN (SELECT value FROM json_each(?))""",
                (_workspace(connection, workspace)[0], model, ids(digests)),
            )
            return {row[0] for row in rows}

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
        raise NotFound(f"workspace {name!r} does not exist: create it with  weft init --workspace {name}")
    return row[0], row[1], frozenset(json.loads(row[2]))
