"""Dates in fields: which of them have passed, as one viewer may see them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from weftwork.store.contract.kit import NOW, WORKSPACE, names, node, opened, put
from weftwork.store.protocol import Closed, Store
from weftwork.types import Filters

DONE = Closed(("status", "done"), ("done", "closed", "true"))


def _past(store: Store, *, user: str = "ana", limit: int = 10, **more: Any) -> list[str]:
    with store.view(WORKSPACE, user) as view:
        return names(view.past(("due", "due date"), NOW, limit=limit, **more))


class DatesContract:
    def test_what_is_longest_past_comes_first(self, store: Store) -> None:
        put(
            opened(store),
            node("late", fields={"due": "2026-03-14"}),
            node("later", fields={"due": "2026-03-01T10:00:00Z"}),
            node("both", fields={"due": "2026-03-15", "due date": "2026-02-01"}),
            node("none", fields={"start": "2026-03-01"}),
        )
        assert _past(store) == ["both", "later", "late"]
        assert _past(store, limit=1) == ["both"]

    @pytest.mark.parametrize(
        ("value", "passed"),
        [
            ("2026-03-15", True),
            ("2026-03-16", False),  # today is not over
            ("2026-03-17", False),
            ("2026-03-16T08:59", True),
            ("2026-03-16 08:59:59", True),
            ("2026-03-16T09:00:00Z", False),
            ("2026-03-16T10:30:00+02:00", True),
            ("2026-03-16T08:30:00-02:00", False),
            ("2026-03-17T01:00:00+14:00", False),
            ("2026-02-31", False),
            ("0000-00-00", False),
            ("2026-3-1", False),
            ("2026-03-01 or so", False),
            ("10.3.2026", True),
            ("March 10, 2026", True),
            ("Mar 10, 2026 9:00 AM", True),
            ("@March 10, 2026", True),
            ("10. März 2026", True),
            ("March 1, 2026 → March 10, 2026", True),
            ("March 10, 2026 → March 20, 2026", False),
            ("2026/03/10", True),
            ("[[2026-03-10]]", True),
            ("3/14/2026", True),
            ("3/4/2026", False),  # of March or of April
            ("March 20, 2026", False),
            ("soon", False),
            ("", False),
            (20260301, False),
            (True, False),
        ],
    )
    def test_a_day_passes_when_it_is_over_and_nonsense_never(self, store: Store, value: Any, passed: bool) -> None:
        put(opened(store), node("n", fields={"due": value}))
        assert _past(store) == (["n"] if passed else [])

    @pytest.mark.parametrize("name", ["due", "Due", "DUE", "due date", "Due date", "Due Date", "DUE DATE"])
    def test_names_are_found_in_any_usual_case(self, store: Store, name: str) -> None:
        put(opened(store), node("n", fields={name: "2026-03-01"}))
        assert _past(store) == ["n"]

    @pytest.mark.parametrize(
        "fields",
        [{"status": "done"}, {"Status": " Done "}, {"done": True}, {"status": "CLOSED"}, {"status": "✅ Done"}],
    )
    def test_what_is_closed_is_left_out(self, store: Store, fields: dict[str, Any]) -> None:
        put(opened(store), node("n", fields={"due": "2026-03-01", **fields}))
        assert _past(store, closed=DONE) == []
        assert _past(store) == ["n"]

    def test_what_is_not_closed_stays(self, store: Store) -> None:
        fields = {"due": "2026-03-01", "status": "in progress", "done": False, "about": "done"}
        put(opened(store), node("n", fields=fields))
        assert _past(store, closed=DONE) == ["n"]

    def test_dates_before_a_day_can_be_left_out(self, store: Store) -> None:
        dates = ("2026-03-01", "March 10, 2026", "2026-03-12T08:00")
        put(opened(store), *(node(f"n{place}", fields={"due": date}) for place, date in enumerate(dates)))
        assert _past(store, since=NOW - timedelta(days=6)) == ["n1", "n2"]

    def test_closed_and_hidden_ones_take_no_place_of_others(self, store: Store) -> None:
        old = [node(f"old{n}", fields={"due": "2025-01-01", "status": "done"}) for n in range(20)]
        hidden = [node(f"hidden{n}", fields={"due": "2025-01-01"}, access=frozenset({"ana"})) for n in range(20)]
        wrong = [node(f"wrong{n}", fields={"due": "0000-00-00"}) for n in range(20)]
        put(opened(store, "ben"), *old, *hidden, *wrong, node("open", fields={"due": "2026-03-15"}))
        assert _past(store, user="ben", limit=2, closed=DONE) == ["open"]

    def test_filters_hold(self, store: Store) -> None:
        put(
            opened(store),
            node("task", type="todo", tags=("shop",), fields={"due": "2026-03-01"}, updated_at=NOW),
            node("row", type="row", fields={"due": "2026-03-02"}, updated_at=NOW - timedelta(days=9)),
        )
        assert _past(store, filters=Filters(types=frozenset({"row"}))) == ["row"]
        assert _past(store, filters=Filters(tags=frozenset({"shop"}))) == ["task"]
        assert _past(store, filters=Filters(before=NOW - timedelta(days=1))) == ["row"]
        assert _past(store, filters=Filters(exclude=frozenset({"row"}))) == ["task"]

    def test_a_field_that_is_gone_is_not_found(self, store: Store) -> None:
        put(opened(store), node("n", fields={"due": "2026-03-01"}))
        put(store, node("n", fields={"due": "2026-04-01"}))
        assert _past(store) == []
