import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftwork.store.index import scan


def matrix(seed, rows, dimensions):
    return scan.unit_rows(np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32))


@settings(deadline=None)
@given(
    seed=st.integers(0, 1000),
    rows=st.integers(1, 40),
    dimensions=st.sampled_from([1, 2, 3, 31, 64, 100, 256, 384]),
    start=st.integers(0, 7),
)
def test_a_cosine_has_the_same_bytes_whatever_else_is_in_the_batch(seed, rows, dimensions, start):
    unit = matrix(seed, rows + start, dimensions)
    asked = matrix(seed + 1, 1, dimensions)[0]
    alone = [scan.cosines(unit[i : i + 1].copy(), asked)[0] for i in range(len(unit))]
    assert scan.cosines(unit, asked).tolist() == alone
    assert scan.cosines(unit[start:], asked).tolist() == alone[start:]
    assert scan.cosines(np.asfortranarray(unit), asked).tolist() == alone
    assert scan.cosines(unit[::-1], asked).tolist() == alone[::-1]


@settings(deadline=None)
@given(seed=st.integers(0, 1000), dimensions=st.integers(1, 300))
def test_a_cosine_is_the_exact_sum_of_products_in_six_decimals(seed, dimensions):
    one, other = matrix(seed, 2, dimensions)
    exact = math.fsum(x * y for x, y in zip(one.tolist(), other.tolist(), strict=True))
    assert scan.cosines(one[np.newaxis], other)[0] == pytest.approx(exact, abs=0.51e-6)


def test_a_vector_and_itself_have_the_cosine_one_and_its_opposite_minus_one():
    unit = matrix(3, 50, 256)
    for each in unit:
        assert scan.cosines(np.array([each, -each]), each).tolist() == [1.0, -1.0]


def test_cosines_never_are_minus_zero():
    rows = np.array([[1, 0], [0, -1]], dtype=np.float32)
    found = scan.cosines(rows, np.array([-0.0, 1.0], dtype=np.float32))
    assert [str(score) for score in found.tolist()] == ["0.0", "-1.0"]


def test_rows_without_a_direction_become_zero_and_all_others_get_length_one():
    rows = np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 1], [1e-30, 0], [1e30, 1e30]], dtype=np.float32)
    unit = scan.unit_rows(rows)
    assert unit[0].tolist() == pytest.approx([0.6, 0.8])
    assert unit[1:4].tolist() == [[0, 0]] * 3
    assert unit[4].tolist() == [1, 0]
    assert unit[5].tolist() == pytest.approx([0.5**0.5] * 2)


@pytest.mark.parametrize("dimensions", [1, 63, 64, 65, 256])
@pytest.mark.parametrize("rows", [0, 1, 66_000])
def test_the_distance_is_the_number_of_signs_that_differ(dimensions, rows):
    values = np.random.default_rng(5).standard_normal((rows, dimensions), dtype=np.float32)
    asked = np.random.default_rng(6).standard_normal((1, dimensions), dtype=np.float32)
    found = scan.hamming(scan.sign_words(values), scan.sign_words(asked))
    assert found.tolist() == ((values > 0) != (asked > 0)).sum(axis=1).tolist()


def test_opposite_signs_in_more_dimensions_than_a_byte_counts_are_the_farthest():
    asked = np.ones((1, 256), dtype=np.float32)
    found = scan.hamming(scan.sign_words(np.concatenate([-asked, asked])), scan.sign_words(asked))
    assert found.tolist() == [256, 0]


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=3).filter(any),
    st.data(),
)
def test_the_radius_is_the_smallest_that_holds_enough_rows(parts, data):
    together = sorted(value for part in parts for value in part)
    wanted = data.draw(st.integers(1, len(together)))
    arrays = [np.array(part, dtype=np.uint16) for part in parts]
    assert scan.radius(arrays, wanted, 9) == together[wanted - 1]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 200), dimensions=st.sampled_from([2, 16, 256, 1024]))
def test_rough_products_are_wrong_by_less_than_half_the_margin(seed, dimensions):
    unit = matrix(seed, 600, dimensions)
    asked = matrix(seed + 1, 1, dimensions)[0]
    picked = np.arange(600)
    rough = scan.picked_products(unit, picked, asked)
    exact = scan.cosines(unit, asked)
    assert np.abs(rough - exact).max() <= scan.rounding_margin(dimensions) / 2


def test_picked_products_are_in_the_order_of_the_picked_rows():
    unit = matrix(1, 2_000, 32)
    picked = np.random.default_rng(2).permutation(2_000)[:1_100]
    rough = scan.picked_products(unit, picked, unit[0])
    assert rough.tolist() == pytest.approx((unit[picked] @ unit[0]).tolist(), abs=1e-5)
