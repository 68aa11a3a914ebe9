from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftwork.errors import BudgetError
from weftwork.pack import Room, check_budget, room_for
from weftwork.pack.ledger import Ledger
from weftwork.types import Budget

from .making import SECTIONS, choice, choice_lists


def room(total, sections, choices, *, overhead=0, share=True):
    return room_for(Budget(total=total, sections=sections, share=share), overhead, choices)


DEMAND = [
    choice("f", 1, 400, section="focus"),
    choice("s1", 1, 600),
    choice("s2", 1, 600),
    choice("r", 1, 100, section="relations"),
]


def test_the_overhead_comes_off_the_total():
    assert room(1000, {}, DEMAND, overhead=80).total == 920
    assert room(50, {}, DEMAND, overhead=80).total == 0


def test_without_section_budgets_every_section_may_take_everything():
    assert room(1000, {}, DEMAND).cap("relations") == 1000


def test_a_section_may_take_all_but_what_the_others_are_entitled_to_and_would_use():
    shared = room(1000, {"focus": 300, "semantic": 500, "relations": 200}, DEMAND)
    # focus would use 300 of 300, semantic 500 of 500, relations 100 of 200
    assert shared.reserved == {"focus": 300, "semantic": 500, "relations": 100}
    ledger = Ledger(DEMAND, shared)
    assert [ledger.left(name) for name in ("focus", "semantic", "relations", "other")] == [400, 600, 200, 100]


def test_the_heading_of_a_document_is_wanted_once():
    first = replace(choice("hit", 1, 100), document="d", heading=20)
    around = replace(choice("around", 1, 50), document="d", heading=20, after=0)
    assert room(1000, {"semantic": 500}, [first, around]).reserved == {"semantic": 170}


def test_entitlements_above_the_total_shrink_in_proportion():
    kept = room(500, {"focus": 600, "semantic": 400}, DEMAND).reserved
    assert kept == {"focus": 300, "semantic": 200}


def test_hard_budgets_are_caps_and_give_nothing_to_the_others():
    caps = room(1000, {"focus": 300, "semantic": 500}, DEMAND, share=False).caps
    assert caps == {"focus": 300, "semantic": 500, "relations": 200}


def test_a_hard_budget_is_no_more_than_the_total():
    assert room(1000, {"focus": 3000}, DEMAND, share=False).caps["focus"] == 1000


@pytest.mark.parametrize("share", [True, False])
def test_a_budget_of_zero_closes_a_section(share):
    assert room(1000, {"semantic": 0}, DEMAND, share=share).caps["semantic"] == 0


def test_a_section_without_an_entry_may_take_what_is_left_over():
    ledger = Ledger(DEMAND, room(1000, {"focus": 300, "semantic": 500}, DEMAND))
    assert ledger.left("relations") == 200


@pytest.mark.parametrize("total", [0, -1, True, 4000.0, "4000", None])
def test_a_total_that_is_not_a_positive_whole_number_is_refused_with_its_value(total):
    with pytest.raises(BudgetError, match=f"{total!r}.*at least 1"):
        check_budget(Budget(total=total))


@pytest.mark.parametrize("tokens", [-1, False, 1.5, "10"])
def test_a_section_budget_that_is_not_a_whole_number_is_refused_by_name(tokens):
    with pytest.raises(BudgetError, match=f"'focus' is {tokens!r}.*0 to close"):
        check_budget(Budget(total=10, sections={"focus": tokens}))


def test_a_room_cannot_reserve_more_than_it_has():
    with pytest.raises(BudgetError, match="reserve 11 tokens of 10"):
        Room(10, {}, {"focus": 5, "semantic": 6})


@settings(deadline=None)
@given(choice_lists(), st.integers(1, 3000), st.dictionaries(st.sampled_from(SECTIONS), st.integers(0, 2000)))
def test_every_section_can_have_what_is_kept_for_it_at_the_same_time(choices, total, sections):
    made = room(total, sections, choices)
    assert sum(made.reserved.values()) <= total
    assert all(0 <= made.reserved[name] <= made.cap(name) <= total for name in made.reserved)
