"""Opens views directly on the server of the cluster that has the rows, not through the coordinator.

A server has the same tables, functions and policies as the coordinator. Only the coordinator's directory knows where a
workspace is; it is queried each time, since a workspace can be moved.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, LiteralString

from psycopg import Connection
from psycopg.conninfo import make_conninfo

from weftwork.errors import NotFound
from weftwork.store.postgres.cluster.servers import PREFIX, Servers
from weftwork.store.postgres.connection import Connections
from weftwork.store.sql.errors import missing_user, missing_workspace

ATTEMPTS = 5
"""Look-ups in the directory for a workspace that is being moved."""
_PARTS = """SELECT count(*) FILTER (WHERE f.ftrelid IS NOT NULL), count(*) FROM pg_inherits i
    LEFT JOIN pg_foreign_table f ON f.ftrelid = i.inhrelid WHERE i.inhparent = 'weftwork.workspaces'::regclass"""
_WHERE = """SELECT d.number, s.srvname
    FROM (SELECT COALESCE(place, id) AS number FROM directory WHERE name = %(name)s) d
    JOIN pg_inherits i ON i.inhparent = 'weftwork.workspaces'::regclass
    JOIN pg_class c ON c.oid = i.inhrelid AND satisfies_hash_partition(
        i.inhparent, %(parts)s::int, substring(c.relname FROM '[0-9]+$')::int, d.number)
    LEFT JOIN pg_foreign_table f ON f.ftrelid = c.oid LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver"""
_KEPT: LiteralString = "set_config('plan_cache_mode', 'force_generic_plan', true)"
"""For views only, whose statements name one workspace: other generic plans would ask all servers."""
Opened = tuple[Connection[Any], tuple[Any, ...]]


class _Elsewhere(NotFound):
    """A workspace is not (any more) on a server."""


class Routes:
    """Opens snapshots for viewers where the rows are; thread-safe."""

    def __init__(self, coordinator: Connections) -> None:
        self._coordinator = coordinator
        self._guard = threading.Lock()
        self._open: dict[str, Connections] = {}
        self._parts = 0
        """Partitions of the cluster; 0 without a cluster, or if it is read through the coordinator."""
        if coordinator.address.route == "direct":
            foreign, parts = coordinator.ask(lambda connection: connection.execute(_PARTS).fetchone()) or (0, 0)
            self._parts = parts if foreign else 0

    @contextmanager
    def read(self, workspace: str, user: str) -> Iterator[Opened]:
        """A connection with one snapshot, and what `weftwork_open` returned."""
        with ExitStack() as stack:
            yield self._opened(stack, workspace, user)

    def _opened(self, stack: ExitStack, workspace: str, user: str) -> Opened:
        if not self._parts:
            return stack.enter_context(self._coordinator.read(lambda connection: _open(connection, workspace, user)))
        for _ in range(ATTEMPTS):
            number, server = self._where(workspace)
            try:
                way = self._to(server)
                return stack.enter_context(way.read(partial(_open_at, number, user)))
            except _Elsewhere:
                continue
        raise missing_workspace(workspace)

    def _where(self, workspace: str) -> tuple[int, str | None]:
        """The number of a workspace's rows, and the server that has them; None for the coordinator."""
        values = {"name": workspace, "parts": self._parts}
        row = self._coordinator.ask(lambda connection: connection.execute(_WHERE, values).fetchone())
        if row is None:
            raise missing_workspace(workspace)
        return row[0], row[1]

    def _to(self, server: str | None) -> Connections:
        if server is None:
            return self._coordinator
        with self._guard:
            known_connections = self._open.get(server)
        if known_connections is not None:
            return known_connections
        opened = self._connected(
            server.removeprefix(PREFIX)
        )  # outside the lock: a server that is down must not block others
        with self._guard:
            connections = self._open.setdefault(server, opened)
        if connections is not opened and opened is not self._coordinator:
            opened.close()
        return connections

    def _connected(self, name: str) -> Connections:
        """Connections to a server, or the coordinator's if this login has no user mapping for it."""
        address = self._coordinator.address
        with Servers(address) as servers:
            settings, place = servers.settings(name), servers.place(name)
        if "user" not in settings:
            return self._coordinator
        direct = replace(address, server=make_conninfo(**settings), place=place, read=None)
        return Connections(direct, create=False, tracer=self._coordinator.tracer)

    def close(self) -> None:
        """Close the connections to all servers but the coordinator."""
        for connections in self._open.values():
            if connections is not self._coordinator:
                connections.close()


def _open(connection: Connection[Any], workspace: str, user: str) -> tuple[Any, ...]:
    """Set the viewer of the transaction; return number, version and visible lists."""
    row = connection.execute(f"SELECT o.*, {_KEPT} FROM weftwork_open(%s, %s) o", (workspace, user)).fetchone()
    if row is None:
        raise missing_workspace(workspace)
    return _known(row[:-1], user)


def _open_at(number: int, user: str, connection: Connection[Any]) -> tuple[Any, ...]:
    """Do the same on the server of a workspace, by its number."""
    row = connection.execute(f"SELECT o.*, {_KEPT} FROM weftwork_open_at(%s, %s) o", (number, user)).fetchone()
    if row is None:
        raise _Elsewhere(f"{number} is not here")
    return _known(row[:-1], user)


def _known(row: tuple[Any, ...], user: str) -> tuple[Any, ...]:
    if not row[2]:
        raise missing_user(user)
    return row
