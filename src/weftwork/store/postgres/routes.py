"""The way to the rows of a workspace: to the server of the cluster that has them, and not through the coordinator.

A server has the same tables, functions and policies as the coordinator, so that a view of it is as one of a database
that is alone. Only the directory says where a workspace is: it is asked each time, since a workspace can be moved.
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
"""How often the directory is asked for a workspace that is not where it said, since it is on its way."""
_PARTS = """SELECT count(*) FILTER (WHERE f.ftrelid IS NOT NULL), count(*) FROM pg_inherits i
    LEFT JOIN pg_foreign_table f ON f.ftrelid = i.inhrelid WHERE i.inhparent = 'weftwork.workspaces'::regclass"""
_WHERE = """SELECT d.number, s.srvname
    FROM (SELECT COALESCE(place, id) AS number FROM directory WHERE name = %(name)s) d
    JOIN pg_inherits i ON i.inhparent = 'weftwork.workspaces'::regclass
    JOIN pg_class c ON c.oid = i.inhrelid AND satisfies_hash_partition(
        i.inhparent, %(parts)s::int, substring(c.relname FROM '[0-9]+$')::int, d.number)
    LEFT JOIN pg_foreign_table f ON f.ftrelid = c.oid LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver"""
_KEPT: LiteralString = "set_config('plan_cache_mode', 'force_generic_plan', true)"
"""A view's queries name their workspace in the text. Others do not, and a plan that is kept would ask all servers."""
Opened = tuple[Connection[Any], tuple[Any, ...]]


class _Elsewhere(NotFound):
    """A workspace is not, or no longer, on a server."""


class Routes:
    """Opens snapshots for viewers where the rows are; thread-safe."""

    def __init__(self, coordinator: Connections) -> None:
        self._coordinator = coordinator
        self._guard = threading.Lock()
        self._open: dict[str, Connections] = {}
        self._parts = 0
        """Parts of a cluster; none where there is none when the store is opened, or where it is not to be used."""
        if coordinator.address.route == "direct":
            foreign, parts = coordinator.ask(lambda connection: connection.execute(_PARTS).fetchone()) or (0, 0)
            self._parts = parts if foreign else 0

    @contextmanager
    def read(self, workspace: str, user: str) -> Iterator[Opened]:
        """A connection that sees one snapshot, and what is known of the workspace and the user to begin with."""
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
            found = self._open.get(server)
        if found is not None:
            return found
        made = self._connected(server.removeprefix(PREFIX))  # not guarded: a server that is down holds up no other
        with self._guard:
            kept = self._open.setdefault(server, made)
        if kept is not made and made is not self._coordinator:
            made.close()
        return kept

    def _connected(self, name: str) -> Connections:
        """Connections to a server, or the coordinator's where its catalogue tells this login not how to get there."""
        address = self._coordinator.address
        with Servers(address) as servers:
            given, place = servers.settings(name), servers.place(name)
        if "user" not in given:
            return self._coordinator
        direct = replace(address, server=make_conninfo(**given), place=place, read=None)
        return Connections(direct, create=False, tracer=self._coordinator.tracer)

    def close(self) -> None:
        """Close the connections to all servers but the coordinator."""
        for each in self._open.values():
            if each is not self._coordinator:
                each.close()


def _open(connection: Connection[Any], workspace: str, user: str) -> tuple[Any, ...]:
    """Say who reads; number, version and what the user may see."""
    row = connection.execute(f"SELECT o.*, {_KEPT} FROM weftwork_open(%s, %s) o", (workspace, user)).fetchone()
    if row is None:
        raise missing_workspace(workspace)
    return _known(row[:-1], user)


def _open_at(number: int, user: str, connection: Connection[Any]) -> tuple[Any, ...]:
    """The same on the server of a workspace, which knows its number alone."""
    row = connection.execute(f"SELECT o.*, {_KEPT} FROM weftwork_open_at(%s, %s) o", (number, user)).fetchone()
    if row is None:
        raise _Elsewhere(f"{number} is not here")
    return _known(row[:-1], user)


def _known(row: tuple[Any, ...], user: str) -> tuple[Any, ...]:
    if not row[2]:
        raise missing_user(user)
    return row
