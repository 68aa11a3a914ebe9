"""Three servers as shards: the first also has the coordinator's database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlencode

import psycopg

from weftwork.store.contract.kit import NOW
from weftwork.store.postgres import PostgresStore
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.cluster import opened

from .server import Server

PARTS = 6


class Shards:
    """The servers, by the names that they have in the cluster, and the coordinator's address."""

    def __init__(self, files, parts: int = PARTS) -> None:
        with ThreadPoolExecutor(3) as threads:
            started = list(threads.map(lambda _: Server().start(), range(3)))
        self.servers = dict(zip(("one", "two", "three"), started, strict=True))
        self.url = started[0].url(weftwork_partitions=parts, weftwork_wait=5, weftwork_files=files)
        for server in started:
            with psycopg.connect(server.url(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE shard")

    def nodes(self, *names: str) -> dict[str, str]:
        """Addresses of shards."""
        return {name: self.servers[name].url("shard") for name in names}

    def apply(self, *names: str, without: tuple[str, ...] = ()) -> None:
        """Lay the parts out on these servers too."""
        with opened(self.url) as cluster:
            cluster.apply(self.nodes(*names), without, lambda line: None)

    def ask(self, statements: str) -> list[tuple]:
        """Run statements as the owner of the coordinator's database; the rows of the last one."""
        with psycopg.connect(self.servers["one"].url(), options="-c search_path=weftwork,public") as owner:
            cursor = owner.execute(statements)
            while cursor.nextset():
                continue
            return cursor.fetchall() if cursor.description else []

    def open(self, **settings: object):
        """The store, to be closed at the end of a block; later settings stand over those of the address."""
        return closing(PostgresStore(parse(f"{self.url}&{urlencode(settings)}"), clock=lambda: NOW))

    def close(self) -> None:
        """Stop all servers."""
        for server in self.servers.values():
            server.close()
