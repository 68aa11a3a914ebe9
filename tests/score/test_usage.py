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


@pytest.mark.parametrize(
    ("useful", "useless", "expected"),
    [
        (1, 0, 2 / 3),  # (1+1)/(1+0+2)
        (0, 1, 1 / 3),  # (0+1)/(0+1+2)
        (3, 3, 0.5),  # (3+1)/(3+3+2)
        (8, 0, 0.9),  # (8+1)/(8+0+2)
    ],
)
def test_feedback_is_the_share_of_content_readers_drawn_towards_a_half(useful, useless, expected):
    known = facts(usage={"n": Usage(used=5, useful=useful, useless=useless)})
    assert feedback(candidate("n"), known) == pytest.approx(expected)


def test_feedback_does_not_apply_where_nobody_said_anything():
    assert feedback(candidate("n"), facts(usage={"n": Usage(used=5)})) is None
    assert feedback(candidate("n"), facts()) is None
