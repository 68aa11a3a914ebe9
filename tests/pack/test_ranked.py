from weftwork.pack import Room
from weftwork.pack.ranked import Ranked

from .making import choice, cut, forms, outcome, refuse


def pack(choices, total, caps=None):
    return Ranked().pack(choices, Room(total, caps or {}), cut)


def test_it_takes_the_best_and_stops_at_the_first_that_does_not_fit():
    packing = pack([choice("a", 0.9, 400), choice("b", 0.8, 500), choice("c", 0.7, 50)], 800)
    assert forms(packing) == {"a": "included"}
    assert packing.used == 400


def test_outcomes_stand_in_the_order_of_the_choices_whatever_their_scores():
    packing = pack([choice("low", 0.1, 10), choice("high", 0.9, 10)], 10)
    assert [outcome.candidate.node.id for outcome in packing.outcomes] == ["low", "high"]
    assert [outcome.candidate.node.id for outcome in packing.chosen] == ["high"]
    assert [outcome.candidate.node.id for outcome in packing.dropped] == ["low"]


def test_a_choice_that_exactly_fills_the_budget_fits():
    assert forms(pack([choice("a", 0.9, 400), choice("b", 0.8, 400)], 800)) == {"a": "included", "b": "included"}


def test_the_first_that_does_not_fit_says_how_many_tokens_it_lacks():
    packing = pack([choice("a", 0.9, 400), choice("b", 0.8, 441)], 800)
    assert outcome(packing, "b").missing_tokens == 41
    assert outcome(packing, "b").reason == "the budget was used up"


def test_one_that_would_have_fitted_after_the_end_says_that_size_was_not_the_reason():
    packing = pack([choice("z", 1.0, 10), choice("a", 0.9, 900), choice("b", 0.8, 10)], 800)
    assert outcome(packing, "b").missing_tokens is None
    assert "better one did not fit" in outcome(packing, "b").reason


def test_a_full_section_ends_alone():
    packing = pack(
        [
            choice("r1", 0.9, 100, section="relations"),
            choice("r2", 0.8, 100, section="relations"),
            choice("s", 0.7, 300),
            choice("r3", 0.6, 10, section="relations"),
        ],
        800,
        {"relations": 150},
    )
    assert forms(packing) == {"r1": "included", "s": "included"}
    assert outcome(packing, "r2").reason == "section relations is full"
    assert outcome(packing, "r2").missing_tokens == 50


def test_a_closed_section_says_so():
    packing = pack([choice("r", 0.9, 10, section="relations")], 800, {"relations": 0})
    assert outcome(packing, "r").reason == "section relations is closed"


def test_equal_scores_are_taken_in_the_order_of_their_citations():
    assert forms(pack([choice("b", 0.5, 10), choice("a", 0.5, 10)], 10)) == {"a": "included"}


def test_two_greedy_sections_leave_the_third_what_is_kept_for_it():
    choices = [
        choice("f", 0.9, 60, section="focus"),
        choice("s", 0.8, 60),
        choice("r", 0.1, 20, section="relations"),
    ]
    room = Room(100, {"focus": 60, "semantic": 60, "relations": 40}, {"focus": 20, "relations": 20})
    packing = Ranked().pack(choices, room, cut)
    assert forms(packing) == {"f": "included", "r": "included"}
    assert outcome(packing, "s").missing_tokens == 40


def test_one_larger_than_its_section_may_be_says_so():
    packing = pack([choice("s", 1.0, 10), choice("r", 0.9, 200, section="relations")], 800, {"relations": 150})
    assert outcome(packing, "r").reason == "larger than section relations may be"
    assert outcome(packing, "r").missing_tokens == 50


def test_a_long_one_in_front_is_shortened_where_nothing_else_would_be_shown():
    packing = pack([choice("a", 0.9, 900), choice("b", 0.8, 10)], 800)
    assert forms(packing) == {"a": "truncated"}
    assert packing.used == 800
    assert outcome(packing, "a").missing_tokens == 100


def test_one_in_front_that_cannot_be_shortened_is_left_out():
    packing = Ranked().pack([choice("a", 0.9, 900), choice("b", 0.8, 10)], Room(800, {}), refuse)
    assert forms(packing) == {}
    assert outcome(packing, "a").reason == "larger than the whole budget"


def test_one_that_does_not_fit_may_be_shortened_to_its_share_and_the_next_still_come():
    choices = [choice("a", 0.9, 400), choice("b", 0.8, 9000), choice("c", 0.7, 300), choice("d", 0.6, 900)]
    packing = Ranked(shortens=True).pack(choices, Room(2000, {}), cut)
    assert forms(packing) == {"a": "included", "b": "truncated", "c": "included", "d": "truncated"}
    assert packing.used <= 2000
    assert outcome(packing, "b").spent == (2000 - 400) // 3


def test_what_cannot_be_shortened_to_its_share_ends_the_list():
    choices = [choice("a", 0.9, 400), choice("b", 0.8, 9000), choice("c", 0.7, 300)]
    packing = Ranked(shortens=True).pack(choices, Room(2000, {}), refuse)
    assert forms(packing) == {"a": "included"}
    assert "better one did not fit" in outcome(packing, "c").reason
