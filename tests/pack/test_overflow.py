from dataclasses import replace

import pytest

from weftwork.pack import Room
from weftwork.pack.overflow import Overflow

from .making import choice, cut, forms, outcome


def test_nothing_is_held_back_when_everything_fits():
    choices = [choice("a", 0.9, 600, line=10), choice("b", 0.8, 400, line=10)]
    packing = Overflow(heading_tokens=5).pack(choices, Room(1000), cut)
    assert forms(packing) == {"a": "included", "b": "included"}
    assert packing.used == 1000


def test_what_does_not_fit_becomes_a_line_and_the_next_is_tried():
    choices = [choice("a", 0.9, 600, line=10), choice("b", 0.8, 500, line=10), choice("c", 0.7, 300, line=10)]
    packing = Overflow(heading_tokens=5).pack(choices, Room(1000), cut)
    assert forms(packing) == {"a": "included", "b": "line", "c": "included"}
    assert packing.used == 600 + 300 + 5 + 10
    # 15 tokens are held for the heading and the line of b, so 385 were left when it was considered
    assert outcome(packing, "b").missing_tokens == 115


@pytest.mark.parametrize(("left", "taken"), [(40, "truncated"), (39, None)])
def test_the_best_that_did_not_fit_is_shortened_where_forty_tokens_are_left(left, taken):
    packing = Overflow(modest=True).pack([choice("a", 0.9, 100), choice("b", 0.8, 100)], Room(100 + left), cut)
    assert forms(packing) == {"a": "included"} | ({"b": taken} if taken else {})


def test_a_twentieth_of_the_budget_is_held_for_lines():
    choices = [choice("a", 0.9, 85, line=3), *(choice(f"b{n}", 0.5, 90, line=3) for n in range(9))]
    packing = Overflow(heading_tokens=1).pack([*choices, choice("c", 0.1, 14, line=3)], Room(100), cut)
    # 85 and 14 would fill the budget; 5 of 100 are held, so c is out, and 14 tokens buy four lines
    assert list(forms(packing).values()) == ["included", "line", "line", "line", "line"]
    assert packing.used == 85 + 1 + 4 * 3


def test_two_hundred_tokens_or_a_twentieth_of_a_large_budget_are_held_for_lines():
    choices = [choice("a", 0.9, 1800, line=20), *(choice(f"b{n:02}", 0.5, 1900, line=20) for n in range(40))]
    assert Overflow().pack(choices, Room(2_000), cut).used == 1800 + 10 * 20
    choices = [choice("a", 0.9, 9500, line=20), *(choice(f"b{n:02}", 0.5, 9600, line=20) for n in range(40))]
    assert Overflow().pack(choices, Room(10_000), cut).used == 9500 + 25 * 20


def test_nothing_is_held_when_a_twentieth_is_too_small_for_the_heading_and_a_line():
    choices = [choice("a", 0.9, 50, line=4), choice("b", 0.8, 60, line=4)]
    assert forms(Overflow(heading_tokens=2).pack(choices, Room(50), cut)) == {"a": "included"}


def test_a_tiny_budget_gives_lines_only():
    choices = [choice("a", 0.9, 400, line=10), choice("b", 0.8, 400, line=10)]
    assert forms(Overflow(heading_tokens=5).pack(choices, Room(30), cut)) == {"a": "line", "b": "line"}


def test_what_fits_neither_whole_nor_as_a_line_is_dropped_for_its_size():
    packing = Overflow().pack([choice("a", 0.9, 400, line=10)], Room(9), cut)
    assert outcome(packing, "a").reason == "larger than the whole budget"
    assert outcome(packing, "a").missing_tokens == 391


def test_what_the_lines_do_not_need_goes_to_those_that_have_none():
    choices = [
        choice("a", 0.9, 80),
        choice("b", 0.8, 90, line=12, section="relations"),
        choice("c", 0.7, 15),
        choice("d", 0.6, 90, line=3),
    ]
    packing = Overflow().pack(choices, Room(100, {"relations": 5}), cut)
    assert forms(packing) == {"a": "included", "c": "included", "d": "line"}


def test_the_reserve_is_the_most_that_lines_take():
    choices = [choice("a", 0.9, 9800, line=20), *(choice(f"b{n:02}", 0.5, 9000, line=20) for n in range(40))]
    assert Overflow(reserve=60).pack(choices, Room(10_000), cut).used == 9800 + 3 * 20
    assert Overflow(reserve=0).pack(choices, Room(10_000), cut).used == 9800


def test_where_fewer_tokens_are_left_than_the_least_even_what_would_fit_becomes_a_line():
    choices = [choice("a", 0.9, 940, line=4), choice("b", 0.8, 30, line=4), choice("c", 0.7, 20)]
    assert forms(Overflow().pack(choices, Room(1000), cut)) == {"a": "included", "b": "included", "c": "included"}
    packing = Overflow(least=61).pack(choices, Room(1000), cut)
    assert forms(packing) == {"a": "included", "b": "line"}
    assert outcome(packing, "c").fate == "dropped"
    assert outcome(packing, "c").missing_tokens is None


def of(document, *choices):
    return [replace(each, document=document, heading=0) for each in choices]


class TestModest:
    def test_lines_take_only_what_the_items_leave(self):
        larger = [choice(f"b{n}", 0.5, 90, line=3) for n in range(9)]
        choices = [choice("a", 0.9, 85, line=3), *larger, choice("c", 0.1, 12, line=3)]
        packing = Overflow(modest=True).pack(choices, Room(100), cut)
        assert forms(packing) == {"a": "included", "c": "included", "b0": "line"}

    def test_a_document_is_listed_once_and_not_where_an_item_shows_it(self):
        shown, again = choice("a", 0.9, 70, line=3), choice("b", 0.8, 90, line=3)
        twice = [choice("c", 0.7, 90, line=3), choice("d", 0.6, 90, line=3)]
        packing = Overflow(modest=True).pack([*of("plan", shown, again), *of("report", *twice)], Room(100), cut)
        assert forms(packing) == {"a": "included", "c": "line"}

    def test_the_best_hit_that_does_not_fit_is_shortened_where_that_is_worth_it(self):
        choices = [choice("a", 0.9, 50), choice("b", 0.8, 90), choice("c", 0.7, 80)]
        assert forms(Overflow(modest=True).pack(choices, Room(100), cut)) == {"a": "included", "b": "truncated"}
        assert forms(Overflow(modest=True).pack(choices, Room(89), cut)) == {"a": "included"}

    def test_what_stands_around_a_hit_is_never_shortened(self):
        choices = [choice("a", 0.9, 50), replace(choice("b", 0.8, 90), form="section", document="a")]
        assert forms(Overflow(modest=True).pack(choices, Room(100), cut)) == {"a": "included"}
