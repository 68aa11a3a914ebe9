"""Vectors of what is written: there with it, made once, and never while a transaction is open."""

import pytest
from tests.write.committing import Committing

from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore


class TestOnSqlite(Committing):
    @pytest.fixture
    def store(self, tmp_path):
        store = SqliteStore(tmp_path / "notes.weft", clock=lambda: NOW)
        yield store
        assert store.check() == []
        store.close()
