import pytest

from weftwork.store.contract.kit import NOW, opened
from weftwork.store.sqlite import SqliteStore

from .asking import Desk


@pytest.fixture
def store(tmp_path):
    """A store with the users ana and ben."""
    made = SqliteStore(tmp_path / "store.weft", clock=lambda: NOW)
    yield opened(made, "ben")
    made.close()


@pytest.fixture
def desk(store):
    return Desk(store)
