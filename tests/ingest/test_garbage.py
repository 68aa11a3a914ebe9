"""The garbage collector during imports."""

import gc

import pytest

from weftwork.ingest.garbage import MADE, collected_rarely


@pytest.fixture
def threshold():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_cycles_are_looked_for_as_before_when_the_last_import_ends_however_it_ends(threshold):
    first, second = collected_rarely(), collected_rarely()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold() == (MADE, 10, 10)
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (MADE, 10, 10)
    assert not second.__exit__(KeyError, KeyError("broken"), None)
    assert gc.get_threshold() == (700, 10, 10)


def test_a_process_that_looks_even_less_often_goes_on_so(threshold):
    gc.set_threshold(2 * MADE, 20, 50)
    with collected_rarely():
        assert gc.get_threshold() == (2 * MADE, 20, 50)
    assert gc.get_threshold() == (2 * MADE, 20, 50)
