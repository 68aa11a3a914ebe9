from datetime import timedelta

from weftwork.collect import ActivityCollector
from weftwork.store.contract.kit import NOW, WORKSPACE, node, put


def happened(store, *events, user="ana"):
    """Events as (kind, node, hours ago)."""
    with store.atomic(WORKSPACE) as batch:
        for kind, name, hours in events:
            batch.record(user, name, kind, NOW - timedelta(hours=hours))


def nodes(store, count):
    put(store, *(node(f"n{n:02}") for n in range(count)))


def test_edits_start_at_six_tenths_and_views_at_a_half_each_newest_first(store, desk):
    nodes(store, 5)
    happened(store, ("edit", "n00", 3), ("edit", "n01", 1), ("edit", "n02", 2), ("view", "n03", 5), ("view", "n04", 4))
    assert desk.scores(ActivityCollector()) == {
        "n01": 0.6, "n02": 0.58, "n00": 0.56,
        "n04": 0.5, "n03": 0.48,
    }  # fmt: skip


def test_ten_edits_and_five_views_are_looked_at(store, desk):
    nodes(store, 24)
    happened(store, *(("edit", f"n{n:02}", n) for n in range(12)), *(("view", f"n{n:02}", n) for n in range(12, 24)))
    scores = desk.scores(ActivityCollector())
    assert list(scores) == [f"n{n:02}" for n in range(10)] + [f"n{n:02}" for n in range(12, 17)]
    assert (scores["n09"], scores["n16"]) == (0.42, 0.42)  # 0.6 - 9 × 0.02 and 0.5 - 4 × 0.02
    assert list(desk.scores(ActivityCollector(edit_count=1, view_count=1))) == ["n00", "n12"]


def test_what_was_both_edited_and_viewed_counts_as_edited(store, desk):
    nodes(store, 2)
    happened(store, ("view", "n00", 1), ("edit", "n00", 9), ("view", "n01", 2))
    assert desk.collect(ActivityCollector()) == [
        ("n00", 0.6, "your edit of 2026-03-16 00:00"),
        ("n01", 0.48, "your view of 2026-03-16 07:00"),
    ]


def test_three_days_ago_is_recent_and_an_hour_more_is_not(store, desk):
    nodes(store, 3)
    happened(store, ("edit", "n00", 72), ("edit", "n01", 73), ("view", "n02", 73))
    assert list(desk.scores(ActivityCollector())) == ["n00"]
    assert list(desk.scores(ActivityCollector(max_age_hours=100))) == ["n00", "n01", "n02"]


def test_only_the_users_own_activity_counts(store, desk):
    nodes(store, 2)
    happened(store, ("edit", "n00", 1), user="ben")
    happened(store, ("edit", "n01", 2))
    assert list(desk.scores(ActivityCollector())) == ["n01"]
    assert list(desk.scores(ActivityCollector(), user="ben")) == ["n00"]


def test_excluded_and_hidden_nodes_are_left_out(store, desk):
    nodes(store, 3)
    happened(store, *(("edit", f"n{n:02}", n) for n in range(3)), user="ben")
    with store.atomic(WORKSPACE) as batch:
        batch.set_access("n00", frozenset({"ana"}))
    assert list(desk.scores(ActivityCollector(), user="ben", exclude=["n01"])) == ["n02"]
    assert desk.scores(ActivityCollector(), user="ben") == {"n01": 0.6, "n02": 0.58}


def test_without_activity_there_is_none(store, desk):
    nodes(store, 1)
    assert desk.scores(ActivityCollector()) == {}


def test_other_types_do_not_take_the_place_of_those_wanted(store, desk):
    put(store, *(node(f"t{n}", type="thread") for n in range(6)), node("f", type="file"))
    happened(store, *(("view", f"t{n}", n) for n in range(6)), ("view", "f", 9))
    assert list(desk.scores(ActivityCollector(types=frozenset({"file"})))) == ["f"]


def test_what_happened_within_this_minute_counts(store, desk):
    nodes(store, 1)
    happened(store, ("view", "n00", -30 / 3600))
    assert desk.scores(ActivityCollector()) == {"n00": 0.5}
