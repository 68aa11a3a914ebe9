import pytest

from weftwork.store.contract import StoreContract

from .sharded import Shards


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A store whose parts are on three servers."""
    shards = Shards(tmp_path_factory.mktemp("files"), parts=3)
    try:
        with shards.open():
            shards.apply("one", "two", "three")
        with shards.open(weftwork_route="coordinator") as store:
            yield store
    finally:
        shards.close()


@pytest.fixture
def store(shared):
    """An empty store: what a test leaves is forgotten, since to drop it would take longer than most tests."""
    yield shared
    for table in ("directory", "keys", "key_workspaces", "jobs", "waiting"):
        shared._connections.do(lambda connection, table=table: connection.execute(f"DELETE FROM {table}"))


class TestCluster(StoreContract):
    """The whole contract, through the coordinator."""
