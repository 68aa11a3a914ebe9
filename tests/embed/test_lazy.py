from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from weftwork.embed.lazy import Lazy


def test_a_value_is_made_once_by_many_threads() -> None:
    made: list[object] = []
    start = Barrier(8)

    def make() -> object:
        made.append(object())
        return made[-1]

    lazy = Lazy(make)

    def use(_: int) -> object:
        start.wait()
        return lazy.get()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(use, range(8))) == set(made)
    assert len(made) == 1


def test_nothing_is_made_before_the_first_use() -> None:
    assert Lazy(lambda: pytest.fail("made too early")).take() is None


def test_a_failure_is_tried_again() -> None:
    divisors = iter([0, 2])
    lazy = Lazy(lambda: 1 / next(divisors))
    with pytest.raises(ZeroDivisionError):
        lazy.get()
    assert lazy.get() == 0.5


def test_a_taken_value_is_made_anew() -> None:
    numbers = iter([1, 2])
    lazy = Lazy(lambda: next(numbers))
    assert (lazy.get(), lazy.take(), lazy.get()) == (1, 1, 2)
