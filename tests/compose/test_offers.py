"""Grouping by document, and the parts that each document offers."""

import math
from dataclasses import replace

import pytest

from weftwork.compose.offers import AROUND, MOST_AROUND, group, offer
from weftwork.compose.reading import SHORT

from .making import candidate, reading

NOTE = (
    ("page", "page", 0, [20]),
    ("one", "heading", 1, [300, 300]),
    ("two", "heading", 1, [300]),
    ("three", "heading", 1, [300]),
)


def names(groups):
    return {key: [each.node.id for each in found] for key, found in groups.items()}


def test_candidates_of_one_document_stand_together_in_the_order_of_their_scores():
    found = [
        candidate("a1", key=1, document="a"),
        candidate("b1", key=2, document="b"),
        candidate("a2", key=3, document="a"),
    ]
    assert names(group(found, by_document=True)) == {("semantic", "a"): ["a1", "a2"], ("semantic", "b"): ["b1"]}
    assert len(group(found, by_document=False)) == 3


def test_a_document_stands_in_one_section_the_first_that_has_it():
    found = [
        candidate("a1", key=1, document="a", section="relations"),
        candidate("a2", key=2, document="a", section="focus"),
        candidate("a3", key=3, document="a", section="history"),
    ]
    assert names(group(found, by_document=True)) == {("focus", "a"): ["a1", "a2"], ("history", "a"): ["a3"]}


def parts(found, **more):
    return [(part.form, part.keys, part.pinned) for part in offer("semantic", reading(*NOTE), found, **more).parts]


def test_a_hit_is_offered_alone_then_with_its_window_then_with_its_section():
    long = reading(("page", "page", 0, [20]), ("one", "heading", 1, [300, 300, 300]))
    made = offer("semantic", long, [candidate("one", key=2, score=0.8)])
    assert [(part.form, part.keys) for part in made.parts] == [("hits", (2,)), ("window", (3,)), ("section", (4,))]
    assert made.parts[0].score == 0.8
    assert made.parts[1].score == AROUND["window"] * 0.8
    assert [part.after for part in made.parts] == [None, 0, 1]


def test_surroundings_too_large_for_their_share_of_the_budget_fill_what_is_left_up_to_twice_as_much():
    long = reading(("page", "page", 0, [20]), ("one", "heading", 1, [300, 300, 300]))
    hit = candidate("one", key=2, score=0.8)
    for most, windows in ((600, [1.0]), (400, [400 / 600]), (300, [300 / 600]), (299, [])):
        several = [hit, candidate("page", key=1, score=0.1)]  # beside another hit they are worth the same
        for hits in ([hit], several):
            made = offer("semantic", long, hits, budget=math.ceil(most / MOST_AROUND))
            shares = [part.score / (AROUND["window"] * 0.8) for part in made.parts if part.form == "window"]
            assert shares == [pytest.approx(share) for share in windows]


def test_a_part_has_only_what_no_better_part_has():
    found = [candidate("one", key=2, score=0.9), candidate("one", key=3, score=0.88)]
    assert parts(found) == [("hits", (2,), False), ("hits", (3,), False)]


def test_a_short_document_is_offered_whole():
    short = reading(("page", "page", 0, [20]), ("one", "heading", 1, [30]), ("two", "heading", 1, [40]))
    made = offer("semantic", short, [candidate("two", key=3)])
    assert [(part.form, part.keys) for part in made.parts] == [("hits", (3,)), ("whole", (1, 2))]
    assert [part[0] for part in parts([candidate("two", key=4)])] == ["hits"]


def test_a_document_is_short_up_to_the_last_token():
    for tokens, forms in ((SHORT - 320, {"whole"}), (SHORT - 319, set())):
        page = reading(("page", "page", 0, [20]), ("one", "heading", 1, [300]), ("two", "heading", 1, [tokens]))
        made = offer("semantic", page, [candidate("two", key=3)])
        assert {part.form for part in made.parts} & {"whole"} == forms


def test_what_only_stands_near_brings_nothing_with_it():
    short = reading(("page", "page", 0, [20]), ("one", "heading", 1, [30]))
    assert len(offer("activity", short, [candidate("page", key=1, kind="activity")]).parts) == 1


def test_what_was_asked_for_is_one_part_with_all_that_stands_in_it():
    asked = candidate("page", key=1, asked=True, kind="reference")
    assert parts([asked, candidate("two", key=4)]) == [("whole", (1, 2, 3, 4, 5), True)]
    section = candidate("one", key=2, asked=True, kind="reference")
    assert parts([section])[0] == ("section", (2, 3), True)


def test_what_was_asked_for_brings_as_many_levels_as_it_says():
    deep = reading(
        ("page", "page", 0, [20]), ("one", "todo", 1, [30]), ("two", "todo", 2, [30]), ("three", "todo", 1, [9])
    )
    asked = candidate("page", key=1, asked=True, kind="focus", levels=1)
    assert [part.keys for part in offer("focus", deep, [asked]).parts] == [(1, 2, 4)]
    block = candidate("one", key=2, asked=True, kind="focus", levels=1)
    assert [part.keys for part in offer("focus", deep, [block]).parts] == [(2, 3)]


def test_what_was_asked_for_is_there_even_without_words():
    bare = reading(("page", "page", 0, [0]), ("one", "heading", 1, [0]), ("two", "todo", 2, [0]))
    asked = candidate("page", "", key=1, asked=True, kind="focus")
    assert [(part.form, part.keys) for part in offer("focus", bare, [asked]).parts] == [("whole", (1, 3))]
    alone = reading(("page", "page", 0, [0]))
    assert [part.keys for part in offer("focus", alone, [asked]).parts] == [(1,)]


def test_what_was_asked_for_comes_before_everything_else():
    made = offer(
        "semantic", reading(*NOTE), [candidate("three", key=5, score=1.0), candidate("one", key=2, asked=True)]
    )
    assert made.parts[0].pinned


def test_nodes_by_themselves_are_offered_whole_in_one_part():
    memory = reading(("m", "memory", 0, [200, 200, 200]))
    found = [replace(candidate("m", key=2), score=0.7), replace(candidate("m", key=1), score=0.4)]
    assert [(part.form, part.keys) for part in offer("memories", memory, found, whole=True).parts] == [
        ("hits", (1, 2, 3))
    ]


def test_a_bare_title_is_not_told_by_text_that_another_section_shows():
    page = reading(("page", "page", 0, [0]), ("said", "message", 1, [9]))
    title = candidate("page", "", key=1)
    assert offer("semantic", page, [title]).parts[0].keys == (2,)
    assert [part.keys for part in offer("semantic", page, [title], elsewhere={2}).parts] == [(1,)]
