import copy
import random
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftwork.errors import UnknownName
from weftwork.pack import PACKERS, Room, get_packer
from weftwork.pack.greedy import Greedy
from weftwork.pack.ledger import by_score
from weftwork.pack.optimal import Optimal
from weftwork.pack.overflow import FOR_LINES, Overflow
from weftwork.pack.ranked import Ranked

from .making import choice, cut, forms, packings, refuse, usable, used_by_section

ALL = [*(get_packer(name) for name in PACKERS), Overflow(heading_tokens=7)]
every_packer = pytest.mark.parametrize("packer", ALL, ids=lambda packer: packer.name)


def test_every_packer_is_found_by_its_name():
    assert [get_packer(name).name for name in PACKERS] == list(PACKERS)


def test_an_unknown_packer_is_refused_with_the_names_that_exist():
    with pytest.raises(UnknownName, match=r"unknown packer 'best': use one of density, greedy, optimal"):
        get_packer("best")


def test_the_optimal_packer_and_its_tables_are_loaded_when_they_are_asked_for():
    script = (
        "import sys, weftwork.pack; weftwork.pack.get_packer('greedy');"
        "assert 'weftwork.pack.optimal' not in sys.modules;"
        "weftwork.pack.get_packer('optimal'); assert 'weftwork.pack.knapsack' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@every_packer
@settings(deadline=None)
@given(given_packing=packings())
def test_neither_the_total_nor_a_cap_is_exceeded(packer, given_packing):
    choices, room = given_packing
    packing = packer.pack(choices, room, cut)
    used = used_by_section(packing)
    assert sum(used.values()) <= packing.used <= room.total
    assert all(tokens <= room.cap(section) for section, tokens in used.items())


@every_packer
@settings(deadline=None)
@given(given_packing=packings())
def test_no_section_takes_what_is_kept_for_the_others(packer, given_packing):
    choices, room = given_packing
    packing = packer.pack(choices, room, cut)
    used = used_by_section(packing)
    kept = dict(room.reserved)
    if isinstance(packer, Overflow):
        held = min(FOR_LINES, room.total // 10)
        for choice, outcome in zip(choices, packing.outcomes, strict=True):
            if outcome.fate != "included" and room.cap(choice.section) == room.total:
                entitled = kept.get(choice.section, 0) - held
                assert choice.tokens > entitled - used[choice.section], "it was kept for this one"
        return
    if isinstance(packer, Greedy | Ranked):
        best = {choices[index].section: index for index in reversed(by_score(choices))}
        for section, index in best.items():
            fits = 0 < choices[index].tokens + choices[index].heading <= min(kept.get(section, 0), room.cap(section))
            assert packing.outcomes[index].fate == "included" or not fits, "it was kept for this one"
        return
    if isinstance(packer, Optimal):
        kept = {section: min(kept[section], usable(choices, section, room, cut)) for section in kept}
    assert sum(max(used[section], kept.get(section, 0)) for section in used) <= room.total


@every_packer
@settings(deadline=None)
@given(given_packing=packings())
def test_every_choice_has_one_outcome_in_its_place_with_a_reason(packer, given_packing):
    choices, room = given_packing
    packing = packer.pack(choices, room, cut)
    undecided = [
        replace(each, fate="dropped", reason="", spent=0, missing_tokens=None, excerpt=None)
        for each in packing.outcomes
    ]
    assert undecided == list(choices)
    assert all(outcome.reason for outcome in packing.outcomes)
    assert all(outcome.missing_tokens is None or outcome.missing_tokens > 0 for outcome in packing.outcomes)


@every_packer
@settings(deadline=None)
@given(given_packing=packings(), seed=st.integers(0, 1000))
def test_the_order_of_the_choices_does_not_matter(packer, given_packing, seed):
    choices, room = given_packing
    shuffled = random.Random(seed).sample(choices, len(choices))
    expected = {outcome.candidate.node.id: outcome for outcome in packer.pack(choices, room, cut).outcomes}
    for outcome in packer.pack(shuffled, room, cut).outcomes:
        assert outcome == expected[outcome.candidate.node.id]


@every_packer
@settings(deadline=None)
@given(given_packing=packings())
def test_what_was_given_is_not_changed(packer, given_packing):
    choices, room = given_packing
    before = copy.deepcopy(given_packing)
    packer.pack(choices, room, cut)
    assert (choices, room) == before


@pytest.mark.parametrize("name", ["ranked", "greedy", "overflow"])
@settings(deadline=None)
@given(given_packing=packings())
def test_the_best_that_fits_is_never_dropped_for_a_worse_one_of_its_section(name, given_packing):
    choices, room = given_packing
    packing = get_packer(name).pack(choices, room, cut)
    for left_out in packing.dropped:
        for taken in packing.chosen:
            if taken.section == left_out.section and taken.fate == "included":
                smaller = taken.spent < left_out.tokens
                assert smaller or taken.score >= left_out.score


@every_packer
def test_what_makes_no_sense_without_another_part_is_not_taken_without_it(packer):
    first, around = replace(choice("hit", 0.5, 900), document="d"), replace(choice("around", 0.4, 10), document="d")
    packing = packer.pack([first, replace(around, after=0)], Room(300, {}, {}), refuse)
    assert forms(packing) == {}
    packing = packer.pack([replace(first, tokens=90), replace(around, after=0)], Room(300, {}, {}), refuse)
    assert forms(packing) == {"hit": "included", "around": "included"}
