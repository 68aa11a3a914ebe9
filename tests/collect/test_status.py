from datetime import timedelta

import pytest

from weftwork.collect import StatusCollector
from weftwork.store.contract.kit import NOW, node, put


def task(name, text="", **more):
    fields = {"status": more.pop("status")} if "status" in more else {}
    return node(name, text or name, type="todo", fields={**fields, **more.pop("fields", {})}, **more)


@pytest.fixture
def tasks(store):
    put(
        store,
        task("bare", updated_at=NOW - timedelta(days=9)),
        task("open", "Order the foam", status="open", updated_at=NOW - timedelta(days=2)),
        task("doing", "Cut the foam", status="In progress", updated_at=NOW - timedelta(days=1)),
        task("done", "Pay for the foam", status="✅ Done", updated_at=NOW - timedelta(days=3)),
        task("ticked", fields={"checked": True}, updated_at=NOW - timedelta(days=4)),
        task("dropped", fields={"Status": ("cancelled",)}, updated_at=NOW - timedelta(days=5)),
        task("hidden", "A secret", status="open", access=frozenset({"ana"})),
        node("page", "Tasks that are open are listed here."),
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What tasks are open?", ["doing", "open", "bare"]),
        ("Which todos are not done?", ["doing", "open", "bare"]),
        ("What is still to do?", ["doing", "open", "bare"]),
        ("How many tasks are left?", ["doing", "open", "bare"]),
        ("What tasks are in progress?", ["doing"]),
        ("List the finished tasks", ["done", "ticked", "dropped"]),
        ("Which tasks about foam are open?", ["doing", "open"]),
        ("Which tasks about foam are done?", ["done"]),
    ],
)
def test_tasks_in_the_state_that_is_asked_for(tasks, desk, query, found):
    scores = desk.scores(StatusCollector(), query, user="ben")
    assert set(scores) == set(found)
    if "foam" not in query:
        assert list(scores) == found  # what was changed last first
    assert list(scores.values()) == sorted(scores.values(), reverse=True)


def test_a_limit_counts_tasks_in_that_state(tasks, desk):
    assert list(desk.scores(StatusCollector(limit=1), "Which tasks are done?", user="ben")) == ["done"]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Which tasks are there?",
        "How do I open a task?",
        "Mark the task as done",
        "Which shops are open?",
        "What tasks are on the to-do list?",
        "Which open tasks are overdue?",
    ],
)
def test_other_queries_find_nothing(tasks, desk, query):
    assert desk.collect(StatusCollector(), query) == []
