import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork.pack import Room, room_for
from weftwork.pack.knapsack import combine, divide
from weftwork.pack.ledger import by_score
from weftwork.pack.optimal import Optimal
from weftwork.types import Budget

from .making import SECTIONS, choice, cut, forms, outcome, packings, refuse, usable, value


def pack(choices, total, caps=None, reserved=None, shorten=refuse):
    return Optimal().pack(choices, Room(total, caps or {}, reserved or {}), shorten)


def test_two_that_are_worth_more_together_beat_the_single_best():
    packing = pack([choice("a", 0.6, 100), choice("b", 0.5, 60), choice("c", 0.4, 40)], 100)
    assert forms(packing) == {"b": "included", "c": "included"}
    assert outcome(packing, "a").reason == "lower score per token than what was chosen"
    assert outcome(packing, "a").missing_tokens == 100


def test_a_shorter_form_makes_room_for_another():
    choices = [choice("a", 0.8, 200), choice("b", 0.5, 100)]
    # whole a: 0.8; half of a and b: 0.4 + 0.5
    assert forms(pack(choices, 200, shorten=cut)) == {"a": "truncated", "b": "included"}


def test_nothing_of_up_to_120_tokens_is_shortened_beside_others():
    other = choice("b", 0.7, 10)
    assert forms(pack([choice("a", 0.8, 120), other], 100, shorten=cut)) == {"b": "included"}
    assert forms(pack([choice("a", 0.8, 121), other], 100, shorten=cut)) == {"a": "truncated", "b": "included"}


@pytest.mark.parametrize("total", [0, 1, 3])
def test_what_counts_less_than_its_heading_was_taken_to_is_packed_all_the_same(total):
    choices = [replace(choice("a", 0.8, -2), heading=3), choice("b", 0.5, -1), choice("c", 0.9, 40)]
    packing = pack(choices, total)
    assert forms(packing) == ({"b": "included"} if total == 0 else {"a": "included", "b": "included"})
    assert packing.used <= total


def test_where_nothing_fits_the_best_with_a_score_is_cut_and_never_above_the_budget():
    choices = [choice("a", 0.5, 90), choice("b", 0.9, 120), choice("c", 0.0, 90)]
    packing = pack(choices, 20, shorten=cut)
    assert (forms(packing), packing.used) == ({"b": "truncated"}, 20)
    assert outcome(packing, "b").reason == "nothing fits whole: the best one, shortened to 20 tokens"
    assert outcome(packing, "b").missing_tokens == 100
    assert forms(pack(choices, 20, shorten=refuse)) == {}
    assert forms(pack(choices[2:], 20, shorten=cut)) == {}


def test_a_line_is_better_than_nothing():
    assert forms(pack([choice("a", 0.9, 90, line=5), choice("b", 0.8, 90, line=5)], 100)) == {
        "a": "included",
        "b": "line",
    }


def test_of_two_sets_of_equal_value_the_smaller_is_taken():
    choices = [choice("a", 0.9, 100), choice("b", 0.6, 49), choice("c", 0.3, 50)]
    assert forms(pack(choices, 100)) == {"b": "included", "c": "included"}


def test_of_two_equal_candidates_the_earlier_is_taken():
    assert forms(pack([choice("b", 0.5, 10), choice("a", 0.5, 10)], 10)) == {"a": "included"}


def test_a_candidate_without_a_score_is_left_out_even_if_it_fits():
    packing = pack([choice("a", 0.0, 10), choice("b", -0.1, 10)], 100)
    assert {outcome.reason for outcome in packing.dropped} == {"score 0"}
    assert {outcome.missing_tokens for outcome in packing.dropped} == {None}


def test_a_tiny_score_beside_a_large_one_still_counts():
    choices = [choice("a", 1.0, 90), choice("b", 1e-30, 10), choice("c", 0.5, 50)]
    assert forms(pack(choices, 100)) == {"a": "included", "b": "included"}


def test_nothing_is_shortened_when_everything_fits():
    def fail(candidate, limit):
        raise AssertionError("nothing had to be shortened")

    assert pack([choice("a", 0.5, 500), choice("b", 0.4, 500)], 1000, shorten=fail).used == 1000


def test_one_larger_than_the_budget_says_so():
    packing = pack([choice("a", 0.9, 150), choice("b", 0.1, 20)], 100)
    assert outcome(packing, "a").reason == "larger than the whole budget"
    assert outcome(packing, "a").missing_tokens == 70


def test_caps_hold_and_the_section_is_named():
    choices = [
        choice("a", 0.9, 60, section="focus"),
        choice("b", 0.8, 60, section="focus"),
        choice("c", 0.1, 60),
    ]
    packing = pack(choices, 130, {"focus": 100})
    assert forms(packing) == {"a": "included", "c": "included"}
    assert outcome(packing, "b").reason == "section focus is full"


def test_what_is_kept_for_a_section_stays_its_own_against_two_others_together():
    choices = [
        choice("f", 0.9, 40, section="focus"),
        choice("s", 0.8, 40),
        choice("r", 0.1, 40, section="relations"),
    ]
    room = room_for(Budget(total=100, sections={"focus": 20, "semantic": 20, "relations": 40}), 0, choices)
    assert forms(Optimal().pack(choices, room, refuse)) == {"f": "included", "r": "included"}


def test_a_reserve_that_only_worthless_candidates_could_use_is_given_to_the_others():
    choices = [choice("f", 0.0, 50, section="focus"), choice("s", 0.8, 90)]
    assert forms(pack(choices, 100, reserved={"focus": 50})) == {"s": "included"}


def test_a_reserve_that_is_too_small_for_every_form_is_given_to_the_others():
    choices = [
        choice("f", 0.9, 100, section="focus"),
        choice("s", 0.5, 50),
        choice("r", 0.5, 50, section="relations"),
    ]
    room = room_for(Budget(total=100, sections={"focus": 50}), 0, choices)
    assert forms(Optimal().pack(choices, room, refuse)) == {"f": "included"}
    assert forms(Optimal().pack(choices, Room(100, {"focus": 90}, {"focus": 50}), refuse)) == {
        "s": "included",
        "r": "included",
    }


def test_sections_whose_caps_together_are_below_the_total_are_packed_as_if_alone():
    first, second = (
        [
            choice(f"{section}{n:03}", (n * 37 % 101) / 100, 20 + n * 53 % 97, section=section, line=6)
            for n in range(150)
        ]
        for section in ("focus", "semantic")
    )
    together = pack(first + second, 4000, {"focus": 1000, "semantic": 2000})
    assert value(together) == pytest.approx(value(pack(first, 1000)) + value(pack(second, 2000)))


def best_by_trying_all(choices, room):
    """The value of the best set, by trying every form of every document."""
    documents = {}
    for index in by_score(choices):
        if choices[index].score > 0:
            documents.setdefault(choices[index].group, []).append(choices[index])
    best = 0.0
    for shown in itertools.product(*map(all_forms, documents.values())):
        used = dict.fromkeys({each.section for each in choices} | set(room.reserved), 0)
        for parts, (tokens, _) in zip(documents.values(), shown, strict=True):
            used[parts[0].section] += tokens
        charged = sum(max(tokens, owed(each, choices, room)) for each, tokens in used.items())
        if charged <= room.total and all(tokens <= room.cap(each) for each, tokens in used.items()):
            best = max(best, sum(worth for _, worth in shown))
    return best


def all_forms(parts):
    """Nothing, a line, half of the best part, or the first parts by score, each as tokens and worth."""
    first = parts[0]
    forms = [(0, 0.0)]
    forms += [(first.line, 0.1 * first.score)] if first.line else []
    whole = first.tokens + first.heading
    if whole > 120:
        half = half_only(first, whole // 2)
        forms.append((half.tokens + half.heading, half.score))
    for count in range(1, len(parts) + 1):
        taken = parts[:count]
        forms.append((first.heading + sum(each.tokens for each in taken), sum(each.score for each in taken)))
    return forms


def half_only(choice, limit):
    whole = choice.tokens + choice.heading
    return cut(choice, limit) if whole > 120 and limit == whole // 2 else None


def owed(section, choices, room):
    """What is kept for a section: no more than its candidates with a score can use."""
    return min(room.reserved.get(section, 0), usable(choices, section, room, half_only))


@settings(max_examples=some(300), deadline=None)
@given(packings(most=6, tokens=200, total=600))
def test_its_value_is_that_of_the_best_of_all_combinations(given_packing):
    choices, room = given_packing
    packing = Optimal().pack(choices, room, half_only)
    assert value(packing) == pytest.approx(best_by_trying_all(choices, room), abs=1e-7)


@st.composite
def documents(draw):
    """Documents of up to four parts: hits and what stands around them, each worth no more than the one before."""
    choices = []
    for number in range(draw(st.integers(1, 4))):
        section, heading = draw(st.sampled_from(SECTIONS)), draw(st.integers(0, 30))
        line = draw(st.one_of(st.none(), st.integers(1, 15)))
        scores = sorted(draw(st.lists(st.floats(0.01, 1), min_size=1, max_size=4)), reverse=True)
        for place, score in enumerate(scores):
            made = choice(f"d{number}p{place}", score, draw(st.integers(1, 150)), section=section, line=line)
            after = len(choices) - 1 if place and draw(st.booleans()) else None
            choices.append(replace(made, document=f"d{number}", heading=heading, after=after))
    return choices


@settings(max_examples=some(300), deadline=None)
@given(documents(), st.integers(0, 600))
def test_the_forms_of_documents_are_chosen_as_well_as_they_can_be(choices, total):
    packing = Optimal().pack(choices, Room(total), half_only)
    assert packing.used <= total
    best = best_by_trying_all(choices, Room(total))
    if best or any(outcome.fate != "dropped" for outcome in packing.outcomes):
        assert value(packing) == pytest.approx(best, abs=1e-7)
    for each in packing.outcomes:
        if each.fate == "included" and each.after is not None:
            assert packing.outcomes[each.after].fate == "included"


@st.composite
def curves(draw):
    """Two curves of what so many tokens buy, equally long."""
    length = draw(st.integers(1, 12))
    steps = st.lists(st.integers(0, 9), min_size=length, max_size=length)
    return [np.cumsum(draw(steps)).astype(float) for _ in range(2)]


@given(both=curves())
def test_two_curves_together_buy_the_best_that_any_division_does(both):
    first, second = both
    best = combine(first, second)
    for tokens in range(len(first)):
        divided = [first[tokens - extra] + second[extra] for extra in range(tokens + 1)]
        assert best[tokens] == max(divided) == divided[divide(first, second, tokens)]
