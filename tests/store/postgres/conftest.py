from __future__ import annotations

import pytest

from weftwork.store.contract.kit import NOW

from .server import Server


@pytest.fixture(scope="session")
def server():
    """A server for all tests of a worker."""
    running = Server()
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture(scope="session")
def shared(server, tmp_path_factory):
    """A store on it that tests share; see `store`."""
    from weftwork.store.postgres import PostgresStore
    from weftwork.store.postgres.address import parse

    url = server.url(weftwork_files=tmp_path_factory.mktemp("files"))
    store = PostgresStore(parse(url), clock=lambda: NOW)
    yield store
    store.close()


@pytest.fixture
def store(shared, server):
    """An empty store: what a test leaves is dropped."""
    import psycopg

    yield shared
    problems = shared.check()
    for name in shared.workspaces():
        shared.drop_workspace(name)
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("DELETE FROM weftwork.keys")
        owner.execute("DELETE FROM weftwork.audit")
    assert problems == []


@pytest.fixture
def traced(store, server):
    """A second store on the same database, and the statements that it sends."""
    from weftwork.store.postgres import PostgresStore
    from weftwork.store.postgres.address import parse

    statements = []
    second = PostgresStore(parse(server.url()), clock=lambda: NOW, tracer=statements.append)
    yield second, statements
    second.close()
