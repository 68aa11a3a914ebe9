"""Figures against numbers worked out by hand."""

import math

import pytest

from weftwork.evaluate import metrics


def test_ndcg_is_the_discounted_gain_beside_the_best_possible_one():
    grades = {"a": 3, "b": 1, "c": 0, "d": -1}
    assert metrics.ndcg(["a", "b"], grades, 10) == 1.0
    swapped = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert metrics.ndcg(["b", "a"], grades, 10) == pytest.approx(swapped)
    assert metrics.ndcg(["d", "c", "x"], grades, 10) == 0.0
    assert metrics.ndcg(["x", "a"], grades, 1) == 0.0
    assert metrics.ndcg(["x", "a"], {"a": 1}, 2) == pytest.approx(1 / math.log2(3))


def test_an_id_that_comes_twice_counts_once():
    assert metrics.ndcg(["a", "a", "b"], {"a": 1, "b": 1}, 2) == 1.0
    assert metrics.recall(["a", "a", "b"], {"a", "b"}, 2) == 1.0
    assert metrics.precision(["a", "a", "x"], {"a"}) == 0.5


def test_recall_precision_and_all_gold_look_at_the_first_k():
    ranking = ["a", "x", "b", "y"]
    assert metrics.recall(ranking, {"a", "b"}, 2) == 0.5
    assert metrics.recall(ranking, {"a", "b"}) == 1.0
    assert metrics.precision(ranking, {"a", "b"}, 3) == pytest.approx(2 / 3)
    assert metrics.precision([], {"a"}) == 0.0
    assert metrics.all_gold(ranking, {"a", "b"}, 2) == 0.0
    assert metrics.all_gold(ranking, {"a", "b"}, 3) == 1.0


def test_overlap_of_spans_counts_what_is_retrieved_twice_twice():
    overlap = metrics.overlap([(0, 10), (5, 15)], [(10, 30)])
    assert overlap.recall == 5 / 20
    assert overlap.precision == 5 / 20
    assert overlap.iou == 5 / (20 + 20 - 5)
    assert metrics.overlap([], [(0, 4)]) == metrics.Overlap(0.0, 0.0, 0.0)


def test_overlap_can_count_tokens_instead_of_characters():
    begins = [0, 2, 8, 9, 20]
    overlap = metrics.overlap([(0, 9)], [(8, 21)], unit=begins)
    assert (overlap.recall, overlap.precision, overlap.iou) == (1 / 3, 1 / 3, 1 / 5)


def test_an_interval_holds_the_mean_and_is_the_same_each_time():
    values = [0.0, 1.0] * 50
    interval = metrics.bootstrap(values)
    assert interval == metrics.bootstrap(values)
    assert interval.mean == 0.5
    assert 0.35 < interval.low < 0.45
    assert 0.55 < interval.high < 0.65
    assert metrics.bootstrap([0.25] * 9) == metrics.Interval(0.25, 0.25, 0.25)


def test_a_paired_difference_is_sharper_than_two_intervals():
    left = [index / 100 for index in range(100)]
    better = metrics.paired([value + 0.1 for value in left], left)
    assert better.low == pytest.approx(0.1) and better.high == pytest.approx(0.1)


def test_nothing_wanted_is_refused():
    with pytest.raises(ValueError, match="nothing to measure"):
        metrics.recall(["a"], set())
    with pytest.raises(ValueError, match="nothing to measure"):
        metrics.ndcg(["a"], {"a": 0}, 10)
