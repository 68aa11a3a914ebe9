"""Two PostgreSQL databases that differ only in what is hidden answer alike."""

import os

import psycopg
from tests.depth import some
from tests.properties.test_differential import FIRST, compare

from weftwork.store.contract.kit import NOW
from weftwork.store.postgres import PostgresStore
from weftwork.store.postgres.address import parse

PAIRS = int(os.environ.get("WEFTWORK_PAIRS_POSTGRES", some(60, part=20)))


def test_stores_that_differ_only_in_what_is_hidden_answer_alike(server, tmp_path_factory):
    stores = []
    with psycopg.connect(server.url(), autocommit=True) as owner:
        for name in ("pair_bare", "pair_full"):
            owner.execute(f"CREATE DATABASE {name}".encode())
            url = server.url(name, weftwork_files=tmp_path_factory.mktemp(name))
            stores.append(PostgresStore(parse(url), clock=lambda: NOW))
        compare(lambda: tuple(stores), PAIRS, FIRST)
        for store in stores:
            assert store.check() == []
            store.close()
        for name in ("pair_bare", "pair_full"):
            owner.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
