"""The servers of a cluster; their only registry is the coordinator's catalogue of foreign servers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from weftwork.errors import InvalidInput, NotFound
from weftwork.store.postgres.address import Address, parse
from weftwork.store.postgres.cluster.layout import HERE
from weftwork.store.postgres.errors import EXPLAINED, explained
from weftwork.store.postgres.policies import APPLICATION
from weftwork.store.postgres.schema import SCHEMA, is_set_up, migrate

PREFIX = "weftwork_"
"""Prefix of the names of our foreign servers, to tell them from others in the database."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
OPTIONS = {
    "extensions": "vector,pg_trgm",  # whose operators are pushed down
    "fetch_size": "1000",
    "batch_size": "100",
    "use_remote_estimate": "true",
    "parallel_commit": "true",
    "connect_timeout": "5",
}
"""Options of postgres_fdw."""
_WITHOUT_PASSWORD = "password_required"


class Servers:
    """Connections to the coordinator and the servers, as the owner of the tables."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._open: dict[str, Connection[Any]] = {}

    def __enter__(self) -> Servers:
        here = self._open[HERE] = _connect(self.address.server, self.address)
        if not is_set_up(here):
            self.close()
            raise NotFound(f"{self.address.place} holds no store: create it with  weftwork init --store ADDRESS")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections, which releases their locks."""
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    @property
    def here(self) -> Connection[Any]:
        """The coordinator."""
        return self._open[HERE]

    def to(self, name: str) -> Connection[Any]:
        """A connection to a server, or to the coordinator."""
        if name not in self._open or self._open[name].closed:
            there = replace(self.address, place=self.place(name))
            self._open[name] = _connect(make_conninfo(**self.settings(name)), there)
        return self._open[name]

    def place(self, name: str) -> str:
        """The name of a server in messages."""
        return f"server {name!r} of the cluster {self.address.place}" if name else self.address.place

    def names(self) -> list[str]:
        """Names of the servers."""
        rows = self.here.execute("SELECT srvname FROM pg_foreign_server WHERE starts_with(srvname, %s)", (PREFIX,))
        return sorted(row[0].removeprefix(PREFIX) for row in rows)

    def parts(self) -> dict[int, str]:
        """The server of each partition."""
        rows = self.here.execute(
            """SELECT substring(c.relname FROM '[0-9]+$')::int, s.srvname
               FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
               LEFT JOIN pg_foreign_table f ON f.ftrelid = c.oid LEFT JOIN pg_foreign_server s ON s.oid = f.ftserver
               WHERE i.inhparent = 'weftwork.workspaces'::regclass ORDER BY 1"""
        )
        return {part: HERE if server is None else server.removeprefix(PREFIX) for part, server in rows}

    def add(self, name: str, url: str) -> None:
        """Add a server, or change its address, and migrate its schema."""
        place, login = read_node(name, url)
        with _connect(make_conninfo(**place, **login), parse(url)) as connection:
            migrate(connection, len(self.parts()))
        if not login.get("password"):
            login[_WITHOUT_PASSWORD] = "false"
        server = sql.Identifier(PREFIX + name)
        with self.here.transaction():
            self.here.execute("CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public")
            if name not in self.names():
                self.here.execute(sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw").format(server))
            options = _options(self._options_of(name), {**OPTIONS, **place})
            self.here.execute(sql.SQL("ALTER SERVER {} OPTIONS ({})").format(server, options))
            for (role,) in self.here.execute(
                "SELECT rolname FROM pg_roles WHERE rolname IN (%s, current_user)", (APPLICATION,)
            ).fetchall():
                who = sql.SQL("FOR {} SERVER {}").format(sql.Identifier(role), server)
                self.here.execute(sql.SQL("DROP USER MAPPING IF EXISTS {}").format(who))
                self.here.execute(sql.SQL("CREATE USER MAPPING {} OPTIONS ({})").format(who, _options({}, login)))

    def bring_up_to_date(self) -> None:
        """Migrate the schemas of the servers, then the coordinator's."""
        for name in (*self.names(), HERE):
            migrate(self.to(name), len(self.parts()))

    def remove(self, name: str) -> None:
        """Remove a server that has no partition."""
        self.here.execute(sql.SQL("DROP SERVER {} CASCADE").format(sql.Identifier(PREFIX + name)))

    def _options_of(self, name: str) -> dict[str, str]:
        row = self.here.execute(
            "SELECT srvoptions FROM pg_foreign_server WHERE srvname = %s", (PREFIX + name,)
        ).fetchone()
        return {} if row is None else _read(row[0])

    def settings(self, name: str) -> dict[str, str]:
        """Connection settings of a server, as far as this login may read them."""
        row = self.here.execute(
            """SELECT umoptions FROM pg_user_mappings WHERE srvname = %s AND usename = current_user""",
            (PREFIX + name,),
        ).fetchone()
        if row is None:
            raise NotFound(
                f"{name!r} is no server of the cluster: use {', '.join(self.names()) or 'weftwork cluster apply first'}"
            )
        options = {**self._options_of(name), **_read(row[0])}
        return {key: value for key, value in options.items() if key not in OPTIONS and key != _WITHOUT_PASSWORD}


def read_node(name: str, url: str) -> tuple[dict[str, str], dict[str, str]]:
    """Parse the address of a server into its host options and its login."""
    if not NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} cannot be a server's name: use small letters, digits and _, a letter first")
    options = {key: str(value) for key, value in conninfo_to_dict(parse(url).server).items()}
    login: dict[str, str] = {key: options.pop(key) for key in ("user", "password") if key in options}
    if "user" not in login:
        raise InvalidInput(f"the address of {name!r} names no user: write it as  postgresql://user@host/name")
    return options, login


@contextmanager
def translated_errors(place: str) -> Iterator[None]:
    """Translate errors of a database."""
    try:
        yield
    except EXPLAINED as error:
        raise explained(error, place) from error


def _connect(conninfo: str, address: Address) -> Connection[Any]:
    with translated_errors(address.place):
        connection = psycopg.connect(conninfo, autocommit=True, connect_timeout=address.wait)
        connection.execute(f"SET search_path TO {SCHEMA}, public".encode())
        return connection


def _read(options: list[str] | None) -> dict[str, str]:
    return dict(option.split("=", 1) for option in options or ())


def _options(existing: Mapping[str, str], options: Mapping[str, str]) -> sql.Composed:
    """The OPTIONS clause: SET for existing options, ADD for the others."""
    return sql.SQL(", ").join(
        sql.SQL("{} {} {}").format(
            sql.SQL("SET" if name in existing else "ADD") if existing else sql.SQL(""), sql.Identifier(name), value
        )
        for name, value in options.items()
    )
