"""What was asked for is there before anything else is packed, whichever packer packs."""

from dataclasses import replace

import pytest

from weftwork.pack import PACKERS, Room, get_packer

from .making import choice, cut, forms, refuse

every_packer = pytest.mark.parametrize("name", PACKERS)


def pinned(name, tokens, score=0.1, **more):
    return replace(choice(name, score, tokens, **more), pinned=True)


@every_packer
def test_it_is_taken_before_what_scores_better(name):
    choices = [choice("better", 0.9, 80), pinned("asked", 60, line=5)]
    assert forms(get_packer(name).pack(choices, Room(100), refuse))["asked"] == "included"


@every_packer
def test_it_is_shortened_where_it_is_too_long(name):
    packing = get_packer(name).pack([choice("better", 0.9, 80), pinned("asked", 600, line=5)], Room(100), cut)
    assert forms(packing)["asked"] == "truncated"


@every_packer
def test_it_is_a_line_where_not_even_that_fits(name):
    packing = get_packer(name).pack([pinned("asked", 600, line=5), choice("other", 0.9, 80)], Room(100), refuse)
    assert forms(packing) == {"asked": "line", "other": "included"}


@every_packer
def test_several_share_what_there_is_and_each_has_at_least_a_line(name):
    choices = [pinned(f"asked{number}", 400, 0.5 - number / 100, line=6) for number in range(4)]
    taken = forms(get_packer(name).pack(choices, Room(120), cut))
    assert set(taken) == {"asked0", "asked1", "asked2", "asked3"}
    packing = get_packer(name).pack(choices, Room(120), cut)
    assert packing.used <= 120


@every_packer
def test_a_short_one_leaves_its_share_to_a_long_one(name):
    packing = get_packer(name).pack(
        [pinned("long", 400, 0.5, line=6), pinned("short", 10, 0.4, line=6)], Room(200), cut
    )
    assert forms(packing) == {"long": "truncated", "short": "included"}
    assert packing.used > 180


@every_packer
def test_what_does_not_fit_at_all_is_refused_with_what_it_lacks(name):
    packing = get_packer(name).pack([pinned("asked", 600, line=50)], Room(20), refuse)
    assert packing.outcomes[0].fate == "dropped"
    assert packing.outcomes[0].missing_tokens == 580
