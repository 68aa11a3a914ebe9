import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from weftwork.embed.vectors import unit_rows, well_formed


def test_rows_are_divided_by_their_length_and_zero_rows_stay_zero() -> None:
    rows = unit_rows(np.array([[3, 4], [0, 0], [0, -2]], dtype=np.float32))
    assert rows.tolist() == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0, -1]]))
    assert rows.dtype == np.float32


def test_very_small_and_very_large_rows_reach_length_one() -> None:
    rows = unit_rows(np.array([[1e-30, 0], [1e30, 1e30]], dtype=np.float32))
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1])


@given(arrays(np.float32, (5, 33), elements=st.floats(-100, 100, width=32)))
def test_a_row_does_not_depend_on_the_other_rows(matrix: np.ndarray) -> None:
    alone = np.concatenate([unit_rows(row[None, :]) for row in matrix])
    assert unit_rows(matrix).tobytes() == alone.tobytes()


def test_only_lone_surrogates_are_replaced() -> None:
    assert well_formed("a\ud83d é 😀\udc00") == "a? é 😀?"
