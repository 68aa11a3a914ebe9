from dataclasses import replace

import pytest

from weftwork.history import Usage
from weftwork.score.usage import affinity, feedback, usage

from .making import candidate, facts


def test_affinity_is_full_for_own_work_and_less_for_what_was_looked_at():
    known = facts(edited=frozenset({"edited"}), viewed=frozenset({"edited", "viewed"}))
    assert affinity(candidate("mine", owner="ana"), known) == 1.0
    assert affinity(candidate("edited"), known) == 1.0
    assert affinity(candidate("viewed"), known) == 0.8
    assert affinity(candidate("strange", owner="ben"), known) == 0.5


@pytest.mark.parametrize(("uses", "expected"), [(0, 0.0), (1, 0.1), (7, 0.7), (10, 1.0), (64, 1.0)])
def test_ten_uses_are_enough(uses, expected):
    # min(1, uses / 10)
    assert usage(candidate("n"), facts(usage={"n": Usage(used=uses)})) == pytest.approx(expected)


def test_what_was_never_used_counts_as_zero_uses():
    assert usage(candidate("n"), facts(usage={"other": Usage(used=9)})) == 0.0


@pytest.mark.parametrize(("verdict", "expected"), [(1.0, 1.0), (0.5, 0.75), (-1.0, 0.0)])
def test_feedback_is_the_users_verdict_on_the_node_as_a_share(verdict, expected):
    assert feedback(candidate("n"), facts(verdicts={"n": verdict})) == expected


def test_a_verdict_on_a_document_holds_for_what_stands_in_it_unless_that_has_one_of_its_own():
    part = replace(candidate("part"), document="page")
    assert feedback(part, facts(verdicts={"page": 1.0})) == 1.0
    assert feedback(part, facts(verdicts={"page": 1.0, "part": -1.0})) == 0.0


def test_feedback_does_not_apply_where_the_user_said_nothing():
    assert feedback(candidate("n"), facts(usage={"n": Usage(used=5)})) is None
    assert feedback(candidate("n"), facts(verdicts={"other": 1.0})) is None
