"""Receipts of contexts that were handed out, and what threads were given."""

from __future__ import annotations

from datetime import timedelta

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import NOW, WORKSPACE, node, opened, put
from weftwork.store.protocol import Store
from weftwork.store.receipts import ReceiptRow

MOST = 3


def receipt(number: int, *, user: str = "ana", thread: str = "", record: str = "{}") -> ReceiptRow:
    """A receipt of so many minutes after the contract's moment."""
    return ReceiptRow(f"rec-{number}", user, thread, NOW + timedelta(minutes=number), record)


def listed(store: Store, **more: str) -> list[str]:
    """Ids of the receipts, the latest first."""
    return [row.id for row in store.receipts.list(WORKSPACE, limit=10, **more)]


class ReceiptsContract:
    def test_a_receipt_is_found_by_its_id_in_its_own_workspace(self, store: Store) -> None:
        opened(store).create_workspace("other", owner="ana")
        first = receipt(1, thread="t", record='{"query": "naïve 木"}')
        store.receipts.put(WORKSPACE, [first], most=MOST)
        assert store.receipts.get(WORKSPACE, "rec-1") == first
        assert store.receipts.get("other", "rec-1") is None
        assert store.receipts.get(WORKSPACE, "rec-2") is None
        with pytest.raises(NotFound):
            store.receipts.get("nowhere", "rec-1")

    def test_the_latest_come_first_and_the_oldest_beyond_the_limit_are_removed(self, store: Store) -> None:
        opened(store)
        store.receipts.put(WORKSPACE, [receipt(2), receipt(1), receipt(3)], most=MOST)
        assert listed(store) == ["rec-3", "rec-2", "rec-1"]
        store.receipts.put(WORKSPACE, [receipt(4), receipt(5)], most=MOST)
        assert listed(store) == ["rec-5", "rec-4", "rec-3"]
        assert store.receipts.get(WORKSPACE, "rec-1") is None

    def test_a_receipt_of_the_same_id_is_replaced(self, store: Store) -> None:
        opened(store)
        store.receipts.put(WORKSPACE, [receipt(1)], most=MOST)
        store.receipts.put(WORKSPACE, [receipt(1, record='{"cited": 1}')], most=MOST)
        assert listed(store) == ["rec-1"]
        (row,) = store.receipts.list(WORKSPACE, limit=10)
        assert row.record == '{"cited": 1}'

    def test_receipts_are_listed_by_user_and_by_thread(self, store: Store) -> None:
        opened(store, "ben")
        rows = [receipt(1), receipt(2, user="ben"), receipt(3, user="ben", thread="t")]
        store.receipts.put(WORKSPACE, rows, most=MOST)
        assert listed(store, user="ben") == ["rec-3", "rec-2"]
        assert listed(store, thread="t") == ["rec-3"]
        assert listed(store, user="ana", thread="t") == []

    def test_receipts_are_removed_by_id_by_user_and_all_at_once(self, store: Store) -> None:
        opened(store, "ben")
        rows = [receipt(1), receipt(2), receipt(3, user="ben")]
        store.receipts.put(WORKSPACE, rows, most=MOST)
        assert store.receipts.remove(WORKSPACE, ids=["rec-1", "rec-9"]) == 1
        assert store.receipts.remove(WORKSPACE, ids=["rec-2"], user="ben") == 0
        assert store.receipts.remove(WORKSPACE, user="ben") == 1
        assert listed(store) == ["rec-2"]
        assert store.receipts.remove(WORKSPACE) == 1
        assert listed(store) == []

    def test_receipts_and_what_threads_were_given_raise_no_version(self, store: Store) -> None:
        put(opened(store), node("t", type="thread"))
        before = store.version(WORKSPACE)
        store.receipts.put(WORKSPACE, [receipt(1)], most=MOST)
        store.given.put(WORKSPACE, "t", user="ana", given="{}", at=NOW)
        assert store.version(WORKSPACE) == before

    def test_what_a_thread_was_given_is_stored_for_each_user_and_goes_with_the_thread(self, store: Store) -> None:
        put(opened(store, "ben"), node("t", type="thread"))
        store.given.put(WORKSPACE, "t", user="ana", given="first", at=NOW)
        store.given.put(WORKSPACE, "t", user="ana", given="second", at=NOW)
        store.given.put(WORKSPACE, "missing", user="ana", given="lost", at=NOW)
        assert store.given.get(WORKSPACE, "t", user="ana") == "second"
        assert store.given.get(WORKSPACE, "t", user="ben") is None
        assert store.given.get(WORKSPACE, "missing", user="ana") is None
        with store.atomic(WORKSPACE) as batch:
            batch.remove(["t"])
        put(store, node("t", type="thread"))
        assert store.given.get(WORKSPACE, "t", user="ana") is None
