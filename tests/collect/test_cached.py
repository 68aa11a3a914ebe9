import threading

import pytest

from weftwork.collect.cached import once


class Answer:
    def __init__(self, find):
        self.find = find

    @once
    def value(self):
        """What was found."""
        return self.find()


def test_it_is_computed_once_for_each_object_even_when_it_is_nothing():
    calls = []
    first, second = Answer(lambda: calls.append(1)), Answer(lambda: calls.append(2) or 7)
    assert (first.value, first.value, second.value, second.value) == (None, None, 7, 7)
    assert calls == [1, 2]


def test_a_failure_is_not_kept():
    outcomes = iter([ValueError("not yet"), 5])

    def find():
        result = next(outcomes)
        if isinstance(result, Exception):
            raise result
        return result

    answer = Answer(find)
    with pytest.raises(ValueError, match="not yet"):
        _ = answer.value
    assert answer.value == 5


def test_one_object_does_not_wait_for_another():
    reached, opened = threading.Event(), threading.Event()

    def wait():
        reached.set()
        return opened.wait(60)

    slow = Answer(wait)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert reached.wait(60)
    assert Answer(lambda: "fast").value == "fast"
    opened.set()
    thread.join(60)
    assert slow.value is True
