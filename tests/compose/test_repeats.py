"""Which passages are one, and which of them stays."""

from datetime import UTC, datetime, timedelta

import pytest

from weftwork.compose.repeats import without_repeats

from .making import candidate

OLD = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "You must press the red button before the dome opens."


def kept(*candidates):
    return [each.node.id for each in without_repeats(candidates)[0]]


def test_the_same_words_of_the_same_thing_stand_once():
    found = [candidate("a", TEXT, key=1, created_at=OLD), candidate("b", f"  {TEXT.upper()}\n", key=2)]
    left, out = without_repeats(found)
    assert [each.node.id for each in left] == ["a"]
    assert [(each.node, each.reason) for each in out] == [("b", f"a repeat of [{left[0].passage.citation}]")]


def test_the_oldest_stays_whoever_wrote_last_and_whatever_scores_best():
    old, new = OLD, OLD + timedelta(days=9)
    forged = candidate("b", TEXT, key=2, score=0.9, created_at=new, updated_at=new + timedelta(days=900))
    left, _ = without_repeats([forged, candidate("a", TEXT, key=1, score=0.4, created_at=old)])
    assert [(each.node.id, each.score) for each in left] == [("a", 0.9)]


def test_the_one_that_stays_says_where_else_it_stands():
    found = [
        candidate("a", TEXT, key=1, created_at=OLD, title="Opening", trail=("Handbook",)),
        candidate("b", TEXT, key=2, title="Opening", trail=("Old handbook",)),
    ]
    assert without_repeats(found)[0][0].note == "also in: Old handbook › Opening"


def test_where_it_stands_is_told_by_the_two_nearest_of_what_is_above_it():
    found = [
        candidate("a", TEXT, key=1, created_at=OLD, title="Opening", trail=("Handbook",)),
        candidate("b", TEXT, key=2, title="Opening", trail=("Chapter", "Book", "Shelf")),
    ]
    assert without_repeats(found)[0][0].note == "also in: Book › Chapter › Opening"


@pytest.mark.parametrize(
    "difference",
    [
        {"title": "Closing"},
        {"fields": {"status": "done"}},
        {"type": "todo"},
        {"valid_from": OLD},
        {"conversation": "other"},
        {"owner": "eve"},
        {"trail": ("Other page",), "depth": 1},
        {"text": TEXT.replace("must", "must never")},
        {"text": TEXT.replace("red", "green")},
        {"text": TEXT.replace("the dome", "dome 2")},
    ],
    ids=str,
)
def test_what_differs_in_anything_that_tells_them_apart_is_no_repeat(difference):
    text = difference.pop("text", TEXT)
    first = candidate("a", TEXT, key=1, trail=("Page",), depth=1)
    assert kept(first, candidate("b", text, key=2, **{"trail": ("Page",), "depth": 1, **difference})) == ["a", "b"]


@pytest.mark.parametrize("more", [{"asked": True}, {"kind": "due"}, {"kind": "focus"}, {"section": "history"}], ids=str)
def test_what_was_asked_for_is_due_or_was_said_is_never_a_repeat(more):
    assert kept(candidate("a", TEXT, key=1, created_at=OLD), candidate("b", TEXT, key=2, **more)) == ["a", "b"]


def test_a_few_words_may_be_meant_twice():
    assert kept(candidate("a", "Yes, please.", key=1), candidate("b", "Yes, please.", key=2)) == ["a", "b"]


def test_nodes_that_are_told_apart_stay():
    found = [candidate("a", TEXT, key=1), candidate("b", TEXT, key=2)]
    assert [each.node.id for each in without_repeats(found, apart={"b"})[0]] == ["a", "b"]
