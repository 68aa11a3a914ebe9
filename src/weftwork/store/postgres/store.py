"""The store itself: workspaces, batches, views, and checks of its own health."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

from psycopg import Connection

from weftwork.errors import InvalidInput
from weftwork.store.files import Files
from weftwork.store.postgres import contexts, health, pages, service, workspaces
from weftwork.store.postgres import embedding_queue as claims
from weftwork.store.postgres.address import Address
from weftwork.store.postgres.batch import PostgresBatch
from weftwork.store.postgres.connection import Connections
from weftwork.store.postgres.routes import Routes
from weftwork.store.postgres.transfer import PostgresTransfer, announce
from weftwork.store.postgres.vector_cache import PostgresVectorCache
from weftwork.store.postgres.view import PostgresView
from weftwork.store.postgres.workspaces import Lock
from weftwork.store.service import Job, JobState, Key
from weftwork.store.sqlite.codec import fields_of, to_micros
from weftwork.store.transfer import Numbers
from weftwork.types import EVERYONE, PAGE, FieldValue, Node

MOST = 1_000_000
"""Texts without a vector that are counted: more are as many."""
NO_MODELS: Mapping[str, int] = MappingProxyType({})
Answer = TypeVar("Answer")


class _Removed(threading.local):
    """Nodes that this thread's batches removed, by workspace, until the outermost one is committed."""

    def __init__(self) -> None:
        self.depth = 0
        self.nodes: dict[str, set[str]] = {}


class PostgresStore:
    """Implements `weftwork.store.protocol.Store` on one database; any number of processes may share it."""

    def __init__(self, address: Address, *, clock: Callable[[], datetime], create: bool = True) -> None:
        self.address = address
        self._clock = clock
        self._connections = Connections(address, create=create)
        self._routes = Routes(self._connections)
        self.embedding_cache = PostgresVectorCache(self._connections, clock)
        self._guard = threading.Lock()
        self._removed = _Removed()
        self._files: dict[int, Files] = {}

    def create_workspace(self, workspace: str, *, owner: str, access: frozenset[str] = frozenset({EVERYONE})) -> None:
        """Make a workspace with its first user; what has no list of its own follows `access`."""
        if not workspace.strip():
            raise InvalidInput("a workspace needs a name")
        with (
            self._connections.write(lambda connection: workspaces.create(connection, workspace, access)),
            self.atomic(workspace) as batch,
        ):
            batch.add_user(owner)

    def drop_workspace(self, workspace: str) -> None:
        """Remove a workspace and everything derived from it."""
        number = self._connections.do(lambda connection: workspaces.drop(connection, workspace))
        Files(self.address.files, number).clear()

    def workspaces(self) -> list[str]:
        """Names of all workspaces."""
        return [row[0] for row in self._rows("SELECT name FROM directory ORDER BY name")]

    def version(self, workspace: str) -> int:
        """A number that each write raises."""
        return self._connections.ask(lambda connection: workspaces.head(connection, workspace).version)

    def users(self, workspace: str) -> dict[str, tuple[str, ...]]:
        """Users of a workspace with the groups that they belong to."""
        rows = self._within(
            workspace,
            """SELECT u.name, m.team FROM users u LEFT JOIN members m ON m.workspace = %(ws)s AND m.who = u.name
               WHERE u.workspace = %(ws)s ORDER BY u.name, m.team""",
        )
        found: dict[str, tuple[str, ...]] = {}
        for name, team in rows:
            found[name] = found.get(name, ()) + (() if team is None else (team,))
        return found

    @contextmanager
    def atomic(self, workspace: str) -> Iterator[PostgresBatch]:
        """A batch that is committed when the block ends, and undone if it raises; others wait for their turn."""
        removed: dict[str, set[str]] = {}
        with self._connections.write(lambda connection: workspaces.head(connection, workspace, locked=True)) as (
            connection,
            head,
        ):
            batch = PostgresBatch(
                connection,
                head.number,
                default=head.access,
                now=to_micros(self._clock()),
                committing=self._connections.will_commit,
            )
            mine = self._removed
            mine.depth += 1
            try:
                yield batch
                mine.nodes.setdefault(workspace, set()).update(batch.removed)
            finally:
                mine.depth -= 1
                if not mine.depth:
                    removed, mine.nodes = mine.nodes, {}
        for name, nodes in removed.items():
            self._forget_files(name, nodes)

    def _forget_files(self, workspace: str, nodes: set[str]) -> None:
        """Remove the files of nodes that are gone, after what removed them was committed."""
        files = self.files(workspace) if nodes else None
        if files is not None and files.any:
            with files.exclusively():
                files.forget(nodes, self.known_nodes(workspace, sorted(nodes)))

    @contextmanager
    def view(self, workspace: str, user: str) -> Iterator[PostgresView]:
        """A snapshot for one user."""
        with self._routes.read(workspace, user) as (connection, head):
            view = PostgresView(connection, (workspace, user), head)
            try:
                yield view
            finally:
                view.close()

    def known_nodes(self, workspace: str, names: Sequence[str]) -> set[str]:
        """Those of these ids that exist, seen by nobody in particular: for writing only."""
        query = "SELECT id FROM nodes WHERE workspace = %(ws)s AND id = ANY (%(names)s::text[])"
        return {row[0] for row in self._within(workspace, query, names=list(names))}

    def known_fields(self, workspace: str, name: str) -> Mapping[str, FieldValue] | None:
        """The fields of a node, None if it does not exist; seen by nobody in particular: for writing only."""
        query = "SELECT fields FROM nodes WHERE workspace = %(ws)s AND id = %(name)s"
        rows = self._within(workspace, query, name=name)
        return fields_of(rows[0][0]) if rows else None

    def known_children(self, workspace: str, name: str) -> set[str]:
        """Ids of the nodes directly below one, seen by nobody in particular: for writing only."""
        query = """SELECT n.id FROM nodes p JOIN nodes n ON n.workspace = %(ws)s AND n.parent = p.pk
                   WHERE p.workspace = %(ws)s AND p.id = %(name)s"""
        return {row[0] for row in self._within(workspace, query, name=name)}

    def marks(self, workspace: str, group: str) -> dict[str, str]:
        """What a batch kept under the names of a group, by name; seen by nobody in particular: for writing only."""
        query = "SELECT name, mark FROM marks WHERE workspace = %(ws)s AND topic = %(group)s ORDER BY name"
        return {name: mark for name, mark in self._within(workspace, query, group=group)}

    def files(self, workspace: str) -> Files:
        """The files that belong to the workspace's nodes; they go when their nodes are removed."""
        number = self._connections.ask(lambda connection: workspaces.identity(connection, workspace))
        with self._guard:
            return self._files.setdefault(number, Files(self.address.files, number))

    def known_vectors(self, workspace: str, model: str, digests: Sequence[str]) -> set[str]:
        """Those of these digests under which a vector is kept."""
        query = """SELECT DISTINCT p.digest FROM passages p
                   JOIN embeddings e ON e.workspace = %(ws)s AND e.key = p.key
                   JOIN models m ON m.workspace = %(ws)s AND m.model = e.model AND m.name = %(model)s
                   WHERE p.workspace = %(ws)s AND p.digest = ANY (%(digests)s::text[])"""
        return {row[0] for row in self._within(workspace, query, model=model, digests=list(digests))}

    def unseen_pages(self, workspace: str, model: str, limit: int) -> list[Node]:
        """Some of the document pages without vectors of a model, seen by nobody in particular: for writing only."""
        rows = self._connections.ask(
            lambda connection: pages.without_vectors(
                connection, workspaces.number_of(connection, workspace), model, limit
            )
        )
        return [
            Node(id=name, type=PAGE, parent=above, text=text or "", fields=fields_of(fields))
            for name, above, text, fields in rows
        ]

    def keep_context(self, workspace: str, name: str, *, user: str, thread: str, kept: str) -> None:
        """Keep what a user's context consisted of, for a while; the workspace is as it was before."""
        at = to_micros(self._clock())
        self._connections.do(
            lambda connection: contexts.keep(
                connection,
                workspaces.number_of(connection, workspace, workspaces.NOTE),
                (user, thread, name),
                kept,
                at,
            )
        )

    def kept_context(self, workspace: str, name: str, *, user: str, thread: str) -> str | None:
        """What was kept of a context of this user and thread."""
        return self._connections.ask(
            lambda connection: contexts.kept(
                connection, workspaces.number_of(connection, workspace), (user, thread, name)
            )
        )

    def put_key(self, key: Key) -> None:
        """Keep a key of the server, or replace the one with its id."""
        self._connections.do(lambda connection: service.put_key(connection, key))

    def key(self, digest: str) -> Key | None:
        """The key with this digest."""
        return self._connections.ask(lambda connection: service.key(connection, digest))

    def keys(self) -> list[Key]:
        """All keys, the oldest first."""
        return self._connections.ask(service.keys)

    def put_job(self, job: Job) -> None:
        """Keep a job, or replace the one with its id; the oldest of many finished ones go."""
        self._connections.do(lambda connection: service.put_job(connection, job))

    def job(self, name: str) -> Job | None:
        """The job with this id."""
        return self._connections.ask(lambda connection: service.job(connection, name))

    def jobs(self, states: Sequence[JobState]) -> list[Job]:
        """The jobs in these states, the oldest first."""
        return self._connections.ask(lambda connection: service.jobs(connection, states))

    def waiting(self, workspace: str, model: str) -> int:
        """How many texts have no vector of a model, those included that someone is working on."""
        return self._waiting(workspace, model, MOST)

    def _waiting(self, workspace: str, model: str, most: int) -> int:
        def count(connection: Connection[Any]) -> int:
            return claims.count(connection, workspace, model, most)

        def is_surveyed(connection: Connection[Any]) -> bool:
            return claims.is_surveyed(connection, workspace, model)

        found = self._connections.ask(count)
        if not found and not self._connections.ask(is_surveyed):
            self._connections.do(lambda connection: claims.survey(connection, workspace, model))
            found = self._connections.ask(count)
        return found

    @contextmanager
    def claim(self, workspace: str, model: str, limit: int) -> Iterator[Mapping[str, str]]:
        """Some of the texts that wait for a vector and that nobody else works on, until the block ends."""
        self._waiting(workspace, model, 1)
        with self._connections.write(lambda connection: claims.take(connection, workspace, model, limit)) as (
            connection,
            texts,
        ):
            yield texts
            claims.settle(connection, workspace, model, list(texts))

    @contextmanager
    def leaving(self, workspace: str) -> Iterator[PostgresTransfer]:
        """A snapshot of a whole workspace, seen by nobody in particular: to move it to another store."""
        with self._connections.read(lambda connection: self._transfer(connection, workspace)) as (_, transfer):
            yield transfer

    def announce(self, workspace: str, access: str, span: Numbers, marks: Mapping[str, str]) -> None:
        """Make a workspace without users for what is to arrive, and set so many numbers aside for it."""
        self._connections.do(lambda connection: announce(connection, workspace, access, span, marks))

    @contextmanager
    def arriving(self, workspace: str) -> Iterator[PostgresTransfer]:
        """A transaction on a workspace that is not there wholly."""
        with self._connections.write(lambda connection: self._transfer(connection, workspace, workspaces.WRITE)) as (
            _,
            transfer,
        ):
            yield transfer

    def _transfer(self, connection: Connection[Any], workspace: str, lock: Lock = "") -> PostgresTransfer:
        number = workspaces.number_of(connection, workspace, lock)
        owner = workspaces.identity(connection, workspace)
        return PostgresTransfer(connection, number, owner, Files(self.address.files, owner))

    def catch_up(self, workspace: str, models: Mapping[str, int] = NO_MODELS) -> None:
        """Nothing is ever behind: what is derived is written with what it is derived from."""
        self.version(workspace)

    def check(self) -> list[str]:
        """Problems found in the database; empty when all is well."""
        numbers = {
            name: number for number, name in self._rows("SELECT COALESCE(place, id), name FROM directory ORDER BY name")
        }
        return self._connections.ask(lambda connection: health.problems(connection, numbers))

    def close(self) -> None:
        """Close all connections."""
        self._routes.close()
        self._connections.close()

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._connections.ask(lambda connection: connection.execute(query.encode()).fetchall())

    def _within(self, workspace: str, query: str, **values: object) -> list[tuple[Any, ...]]:
        """Rows of a query on one workspace, seen by nobody in particular."""

        def ask(connection: Connection[Any]) -> list[tuple[Any, ...]]:
            number = workspaces.number_of(connection, workspace)
            return connection.execute(query.encode(), {"ws": number, **values}).fetchall()

        return self._connections.ask(ask)
