"""Contract of validity: when a node holds, in every search and selection."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from weftwork.errors import NotFound
from weftwork.store.contract.kit import DAY, NOW, WORKSPACE, found, names, node, opened, put
from weftwork.store.protocol import Store
from weftwork.types import Filters

INSTANT = timedelta(microseconds=1)
FAR = datetime(9999, 12, 30, tzinfo=NOW.tzinfo)


def at(moment: datetime) -> Filters:
    """Filters for nodes that held at a moment."""
    return Filters(as_of=moment)


class ValidityContract:
    def test_both_ends_come_back_as_they_were_given(self, store: Store) -> None:
        put(opened(store), node("n", valid_from=NOW, valid_until=FAR), node("always"))
        with store.view(WORKSPACE, "ana") as view:
            bounded, always = view.nodes(["n", "always"])
            assert (bounded.valid_from, bounded.valid_until) == (NOW, FAR)
            assert (always.valid_from, always.valid_until) == (None, None)

    @pytest.mark.parametrize("by", ["words", "fuzzy", "vector", "select"])
    @pytest.mark.parametrize(
        ("moment", "expected"),
        [
            (NOW - INSTANT, {"always", "old"}),
            (NOW, {"always", "new"}),
            (NOW + DAY - INSTANT, {"always", "new"}),
            (NOW + DAY, {"always"}),
            (FAR, {"always", "late"}),
        ],
    )
    def test_only_what_holds_is_found_and_an_end_is_excluded(
        self, store: Store, by: str, moment: datetime, expected: set[str]
    ) -> None:
        put(
            opened(store),
            node("always", "quince", title="quince"),
            node("old", "quince", title="quince", valid_until=NOW),
            node("new", "quince", title="quince", valid_from=NOW, valid_until=NOW + DAY),
            node("late", "quince", title="quince", valid_from=FAR),
        )
        assert set(self._found(store, by, at(moment))) == expected
        assert set(self._found(store, by, Filters())) == {"always", "old", "new", "late"}

    @pytest.mark.parametrize("by", ["words", "fuzzy", "vector", "select"])
    def test_what_is_over_takes_no_place_among_the_found(self, store: Store, by: str) -> None:
        over = [node(f"o{n}", "quince", title="quince", valid_until=NOW) for n in range(40)]
        put(opened(store), *over, node("here", "quince and more", title="quince"))
        assert self._found(store, by, at(NOW)) == ["here"]

    @pytest.mark.parametrize("by", ["words", "fuzzy", "vector", "select"])
    def test_an_end_can_be_set_later_and_taken_back(self, store: Store, by: str) -> None:
        put(opened(store), node("n", "quince", title="quince", access=frozenset({"ana"})))
        assert self._found(store, by, at(NOW)) == ["n"]
        for end, expected in ((NOW, []), (None, ["n"]), (NOW + INSTANT, ["n"])):
            with store.atomic(WORKSPACE) as batch:
                batch.set_validity("n", None, end)
            assert self._found(store, by, at(NOW)) == expected
        with store.view(WORKSPACE, "ana") as view:
            info = view.nodes(["n"])[0]
            assert (info.text, info.access, info.valid_until) == ("quince", frozenset({"ana"}), NOW + INSTANT)

    def test_the_end_of_an_unknown_node_cannot_be_set(self, store: Store) -> None:
        opened(store)
        with pytest.raises(NotFound), store.atomic(WORKSPACE) as batch:
            batch.set_validity("nobody", None, NOW)

    def test_another_end_is_a_change_and_the_same_one_is_none(self, store: Store) -> None:
        put(opened(store), node("n", "quince", valid_until=NOW))
        assert put(store, node("n", "quince", valid_until=NOW)) == 0
        assert put(store, node("n", "quince", valid_until=NOW + DAY)) == 1
        assert put(store, node("n", "quince")) == 1
        with store.view(WORKSPACE, "ana") as view:
            assert view.nodes(["n"])[0].valid_until is None

    def test_the_next_turn_is_the_first_begin_or_end_that_the_viewer_may_see(self, store: Store) -> None:
        put(
            opened(store, "ben"),
            node("hidden", valid_until=NOW + DAY, access=frozenset({"ana"})),
            node("later", valid_from=NOW + 3 * DAY, valid_until=NOW + 5 * DAY),
            node("past", valid_from=NOW - DAY),
        )
        with store.view(WORKSPACE, "ana") as ana, store.view(WORKSPACE, "ben") as ben:
            assert ana.next_turn(NOW) == NOW + DAY
            assert ana.next_turn(NOW + DAY) == ben.next_turn(NOW) == NOW + 3 * DAY
            assert ben.next_turn(NOW + 3 * DAY) == NOW + 5 * DAY
            assert ben.next_turn(NOW + 5 * DAY) is None

    @staticmethod
    def _found(store: Store, by: str, filters: Filters) -> list[str]:
        if by != "select":
            return found(store, "quince", by=by, filters=filters)
        with store.view(WORKSPACE, "ana") as view:
            return names(view.select(filters, limit=5))
