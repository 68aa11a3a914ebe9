from dataclasses import replace

import pytest

from weftwork.score.distance import distance, structural
from weftwork.types import Reach

from .making import candidate, facts

FOCUSED = {"focus": "f"}


@pytest.mark.parametrize(
    ("hops", "expected"),
    [(0, 1.0), (1, 0.9), (2, 0.8), (7, 0.3), (10, 0.0), (25, 0.0)],  # 1 - 0.1 × hops, never below 0
)
def test_each_hop_in_the_tree_costs_a_tenth(hops, expected):
    assert structural(candidate("n"), facts(request=FOCUSED, hops={"n": hops})) == pytest.approx(expected, abs=1e-12)


def test_what_is_not_in_the_tree_of_the_focus_has_no_structural_worth():
    assert structural(candidate("n"), facts(request=FOCUSED, hops={"other": 1})) == 0.0


def test_without_a_focus_all_are_a_half():
    assert structural(candidate("n"), facts(hops={"n": 1})) == 0.5


@pytest.mark.parametrize(("steps", "expected"), [(0, 1.0), (1, 1.0), (2, 0.5), (4, 0.25), (5, 0.2)])
def test_distance_is_one_over_the_steps_of_the_walk(steps, expected):
    assert distance(candidate(distance=steps), facts()) == expected


def test_distance_does_not_apply_to_what_no_walk_reached():
    assert distance(candidate(distance=None), facts()) is None


def test_distance_takes_all_topics_that_reached_it_as_independent_reasons():
    near, far = Reach("x", "a", 2, 0.5), Reach("y", "b", 3, 1.0)
    both = replace(candidate(distance=2), reached=(near, far))
    assert distance(both, facts()) == pytest.approx(1 - (1 - 0.5 / 2) * (1 - 1 / 3))
    assert distance(replace(both, reached=(near,)), facts()) == 0.25
    assert distance(replace(both, reached=(Reach("y", "b", 3),), distance=3), facts()) == 1 / 3
