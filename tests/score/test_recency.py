import math
from datetime import timedelta

import pytest

from weftwork.score.recency import hourly, inverse, linear, monthly, period

from .making import NOW, candidate, facts


def changed(ago):
    return candidate(updated_at=NOW - ago)


def created(ago):
    # The memory and thread contracts measure from creation: a later change must not count.
    return candidate(created_at=NOW - ago, updated_at=NOW)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, 1.0),
        (3, 0.9),  # 1 - 3/30
        (15, 0.5),  # 1 - 15/30
        (29.25, 0.025),  # 1 - 29.25/30
        (30, 0.0),
        (300, 0.0),  # 1 - 10 would be -9
    ],
)
def test_linear_recency_falls_to_nothing_in_thirty_days(days, expected):
    assert linear(changed(timedelta(days=days)), facts()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (1, 0.5), (3, 0.25), (0.25, 0.8), (99, 0.01)])
def test_inverse_recency_is_one_over_one_plus_the_days_since_creation(days, expected):
    # 1/(1+0)=1, 1/(1+1)=0.5, 1/(1+3)=0.25, 1/1.25=0.8, 1/100=0.01
    assert inverse(created(timedelta(days=days)), facts()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (0, 1.0),
        (1, 0.990049834),  # e^-0.01
        (24, 0.786627861),  # e^-0.24
        (100, 0.367879441),  # e^-1
        (240, 0.090717953),  # e^-2.4
    ],
)
def test_hourly_recency_decays_by_a_hundredth_an_hour_since_creation(hours, expected):
    assert hourly(created(timedelta(hours=hours)), facts()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, 1.0),
        (30, 0.367879441),  # e^-1
        (60, 0.135335283),  # e^-2
        (15, 0.606530660),  # e^-0.5
    ],
)
def test_monthly_recency_decays_by_e_in_thirty_days_since_the_last_change(days, expected):
    assert monthly(changed(timedelta(days=days)), facts()) == pytest.approx(expected, abs=1e-9)


def test_an_unknown_time_is_a_half_in_two_contracts_and_does_not_apply_in_the_others():
    nothing = candidate()
    assert linear(nothing, facts()) == 0.5
    assert hourly(nothing, facts()) == 0.5
    assert inverse(nothing, facts()) is None
    assert monthly(nothing, facts()) is None


@pytest.mark.parametrize("signal", [linear, inverse, hourly, monthly])
def test_a_time_in_the_future_counts_as_now(signal):
    ahead = NOW + timedelta(days=400)
    value = signal(candidate(created_at=ahead, updated_at=ahead), facts())
    assert value == 1.0
    assert math.isfinite(value)


@pytest.mark.parametrize(
    ("day", "expected"),
    [(8, 0.0), (9, 1.0), (15, 1.0), (16, 0.0)],  # NOW is Monday 16 March: last week is the 9th up to the 16th
)
def test_a_named_period_admits_its_start_and_excludes_its_end(day, expected):
    moment = NOW.replace(day=day, hour=0)
    assert period(candidate(updated_at=moment), facts("what was done last week")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("We met yesterday.", 1.0), ("Two days ago we met.", 0.0), ("We met.", 0.0), ("Last week was long.", 1.0)],
)
def test_what_a_text_says_of_yesterday_is_of_the_day_before_it_was_written(text, expected):
    written = candidate(text=text, updated_at=NOW.replace(day=16))
    assert period(written, facts("what happened on 2026-03-15")) == expected


def test_a_period_does_not_apply_where_none_is_named_or_no_time_is_known():
    assert period(candidate(updated_at=NOW), facts("what was done")) is None
    assert period(candidate(), facts("what was done last week")) is None
