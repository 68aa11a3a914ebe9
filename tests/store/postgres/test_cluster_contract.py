import pytest

from weft.store.contract import StoreContract

from .sharded import Shards


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A store whose parts are on three servers."""
    shards = Shards(tmp_path_factory.mktemp("files"))
    try:
        with shards.open():
            shards.apply("one", "two", "three")
        with shards.open(route="coordinator") as store:
            yield store
    finally:
        shards.close()


@pytest.fixture
def store(shared):
    """An empty store: what a test leaves is dropped."""
    yield shared
    for name in shared.workspaces():
        shared.drop_workspace(name)
    shared._connections.do(lambda connection: connection.execute("DELETE FROM keys"))


class TestCluster(StoreContract):
    """The whole contract, through the coordinator."""
