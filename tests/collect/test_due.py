from datetime import timedelta

import pytest

from weftwork.collect import DueCollector
from weftwork.store.contract.kit import NOW, node, put
from weftwork.types import Filters

LATE = "which tasks are overdue?"
YESTERDAY = (NOW - timedelta(days=1)).date().isoformat()


def task(name, due=YESTERDAY, **fields):
    return node(name, type="todo", fields={"due": due, **fields})


def test_the_longest_overdue_come_first_and_are_wanted_most(store, desk):
    put(store, task("b", "2026-03-02"), task("a", "2026-03-09", status="open"), task("c", "2026-01-01T12:00:00Z"))
    why = "its due date has passed"
    assert desk.collect(DueCollector(), LATE) == [("c", 1.0, why), ("b", 0.975, why), ("a", 0.95, why)]
    assert list(desk.scores(DueCollector(limit=1), LATE)) == ["c"]


@pytest.mark.parametrize("query", ["", "which tasks are there?", "what is due?", "the train is late"])
def test_other_queries_ask_nothing_of_the_store(store, desk, query):
    put(store, task("a"))

    class Deaf:
        """Collectors get nothing from it: every question is an error."""

    inquiry = desk.found(_Kept(), query)[0]
    inquiry.view = Deaf()
    assert DueCollector().collect(inquiry) == []


class _Kept:
    def collect(self, inquiry):
        return [inquiry]


@pytest.mark.parametrize("query", [LATE, "what is past due?", "late tasks", "who missed their deadlines", "OVERDUE"])
def test_ways_to_ask(store, desk, query):
    put(store, task("a"))
    assert list(desk.scores(DueCollector(), query)) == ["a"]


@pytest.mark.parametrize(
    "field",
    ["due", "Due", "due_date", "due-date", "due date", "Due Date", "dueDate", "deadline", "Deadline", "DEADLINE"],
)
def test_fields_that_mean_a_due_date(store, desk, field):
    put(store, node("a", fields={field: YESTERDAY}))
    assert list(desk.scores(DueCollector(), LATE)) == ["a"]


@pytest.mark.parametrize("due", ["2026-03-16", "2026-03-17", "2026-03-16T09:00:00Z", "soon", "2026-02-30", "", None])
def test_what_is_due_today_or_later_or_no_date_is_not_overdue(store, desk, due):
    put(store, task("a", due))
    assert desk.scores(DueCollector(), LATE) == {}


@pytest.mark.parametrize(
    "done",
    [
        {"status": "done"}, {"status": "Completed"}, {"Status": "closed"}, {"state": "cancelled"},
        {"status": "canceled"}, {"status": "x"}, {"done": True}, {"done": "x"}, {"completed": True}, {"done": 1},
        {"status": ("done",)},
    ],
)  # fmt: skip
def test_what_is_done_is_not_overdue(store, desk, done):
    put(store, task("a", **done))
    assert desk.scores(DueCollector(), LATE) == {}


@pytest.mark.parametrize("open_", [{}, {"status": "open"}, {"status": "in progress"}, {"done": False}, {"done": ""}])
def test_what_is_not_done_is_overdue(store, desk, open_):
    put(store, task("a", **open_))
    assert list(desk.scores(DueCollector(), LATE)) == ["a"]


def test_hidden_and_excluded_tasks_are_as_if_they_were_not_there(store, desk):
    put(store, node("hidden", fields={"due": "2026-01-01"}, access=frozenset({"ana"})), task("a"), task("b"))
    assert list(desk.scores(DueCollector(limit=2), LATE, user="ben")) == ["a", "b"]
    assert list(desk.scores(DueCollector(), LATE, user="ben", exclude=["a"])) == ["b"]
    assert list(desk.scores(DueCollector(), LATE, filters=Filters(types=frozenset({"page"})))) == ["hidden"]
