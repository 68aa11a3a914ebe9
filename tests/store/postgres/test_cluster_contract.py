import pytest

from weftwork.store.contract import StoreContract

from .sharded import Shards


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Three servers with a part of the tables each."""
    shards = Shards(tmp_path_factory.mktemp("files"), parts=3)
    try:
        with shards.open():
            shards.apply("one", "two", "three")
        yield shards
    finally:
        shards.close()


@pytest.fixture(scope="module")
def shared(shards):
    """A store on them."""
    with shards.open(weftwork_route="coordinator") as store:
        yield store


@pytest.fixture
def store(shared, shards):
    """An empty store: what a test leaves is forgotten, since to drop it would take longer than most tests."""
    yield shared
    shards.ask(
        "DELETE FROM directory; DELETE FROM keys; DELETE FROM key_workspaces; DELETE FROM jobs; DELETE FROM waiting"
    )


class TestCluster(StoreContract):
    """The whole contract, through the coordinator."""
