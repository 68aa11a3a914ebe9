from weftwork.pack import Room
from weftwork.pack.greedy import Greedy

from .making import choice, cut, forms, outcome, refuse

CHOICES = [choice("a", 0.9, 1500), choice("b", 0.8, 1200), choice("c", 0.7, 900), choice("d", 0.6, 90)]


def test_the_first_that_does_not_fit_is_cut_to_what_is_left_and_ends_the_packing():
    packing = Greedy().pack(CHOICES, Room(3000), cut)
    assert forms(packing) == {"a": "included", "b": "included", "c": "truncated"}
    assert outcome(packing, "c").spent == 300
    assert outcome(packing, "c").missing_tokens == 600
    assert packing.used == 3000


def test_nothing_is_cut_when_no_more_than_a_hundred_tokens_are_left():
    assert forms(Greedy().pack(CHOICES, Room(2800), cut)) == {"a": "included", "b": "included"}
    assert "c" in forms(Greedy().pack(CHOICES, Room(2801), cut))


def test_how_much_must_be_left_can_be_set():
    assert forms(Greedy(min_left=20).pack(CHOICES, Room(2750), cut))["c"] == "truncated"


def test_it_ends_even_if_the_one_that_did_not_fit_could_not_be_cut():
    packing = Greedy().pack(CHOICES, Room(3000), refuse)
    assert forms(packing) == {"a": "included", "b": "included"}
    assert "better one did not fit" in outcome(packing, "d").reason


def test_a_cut_that_is_longer_than_asked_for_is_not_used():
    too_long = choice("too long", 0.5, 301)
    assert Greedy().pack(CHOICES, Room(3000), lambda candidate, limit: too_long).used == 2700


def test_a_section_that_is_full_cuts_its_own_and_the_others_go_on():
    choices = [
        choice("r1", 0.9, 100, section="relations"),
        choice("r2", 0.8, 400, section="relations"),
        choice("r3", 0.7, 10, section="relations"),
        choice("s", 0.6, 500),
    ]
    packing = Greedy().pack(choices, Room(2000, {"relations": 250}), cut)
    assert forms(packing) == {"r1": "included", "r2": "truncated", "s": "included"}
    assert outcome(packing, "r2").spent == 150
    assert outcome(packing, "r3").reason == "section relations is full"
