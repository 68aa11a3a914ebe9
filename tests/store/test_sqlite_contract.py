import pytest

from weftwork.store.contract import StoreContract
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = SqliteStore(tmp_path / "contract.weft", clock=lambda: NOW)
        yield store
        assert store.check() == []
        store.close()
