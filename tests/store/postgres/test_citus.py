"""The contract on a Citus cluster; WEFTWORK_TEST_CITUS_URL names the coordinator, as a superuser."""

import os
from contextlib import closing

import psycopg
import pytest

from weftwork.store.contract import StoreContract
from weftwork.store.contract.kit import NOW
from weftwork.store.postgres import PostgresStore
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.citus import distribute

URL = os.environ.get("WEFTWORK_TEST_CITUS_URL", "")
pytestmark = pytest.mark.skipif(not URL, reason="WEFTWORK_TEST_CITUS_URL names no coordinator")
SHARDS = 4


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a distributed store."""
    address = f"{URL}{'&' if '?' in URL else '?'}weftwork_files={tmp_path_factory.mktemp('files')}"
    PostgresStore(parse(address), clock=lambda: NOW).close()
    distribute(parse(address), shards=SHARDS)
    return address


@pytest.fixture(scope="module")
def shared(url):
    """A store on it that tests share."""
    with closing(PostgresStore(parse(url), clock=lambda: NOW)) as store:
        yield store


@pytest.fixture
def store(shared, url):
    """An empty store: what a test leaves is dropped."""
    for name in shared.workspaces():
        shared.drop_workspace(name)
    yield shared
    problems = shared.check()
    for name in shared.workspaces():
        shared.drop_workspace(name)
    with psycopg.connect(parse(url).server, autocommit=True) as owner:
        owner.execute("DELETE FROM weftwork.keys")
    assert problems == []


class TestCitus(StoreContract):
    """The whole contract, on distributed tables."""
