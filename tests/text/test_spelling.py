"""Words that a misspelt one may stand for."""

import pytest

from weftwork.text.spelling import corrections, distance, is_correctable


@pytest.mark.parametrize(
    ("a", "b", "most", "typos"),
    [("word", "word", 1, 0), ("word", "wrod", 1, 1), ("word", "sword", 1, 1), ("word", "wd", 1, None),
     ("collimaton", "collimation", 2, 1), ("collimaton", "colimation", 2, 2), ("", "ab", 2, 2)],
)  # fmt: skip
def test_typos_are_counted(a, b, most, typos):
    assert distance(a, b, most) == distance(b, a, most) == typos


def test_the_words_with_the_fewest_typos_are_meant_the_likest_first():
    assert corrections("telescpoe", ["telescope", "telescopes", "microscope"]) == ("telescope",)
    assert corrections("quinse", ["quince", "quinsy", "mince", "quinses"]) == ("quinses", "quinsy", "quince")
    assert corrections("quinse", ["apple"]) == ()


@pytest.mark.parametrize("word", ["e4021", "2022", "cat", "x-ray", ""])
def test_numbers_codes_and_short_words_are_never_corrected(word):
    assert not is_correctable(word)
