"""Trigrams against the numbers in PostgreSQL's documentation of pg_trgm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.text.trigrams import share_of_words, similarity, trigrams


def test_a_word_has_two_spaces_before_it_and_one_after():
    assert trigrams("cat") == {"  c", " ca", "cat", "at "}


def test_words_are_separate_and_punctuation_parts_them():
    assert trigrams("foo|bar") == {"  f", " fo", "foo", "oo ", "  b", " ba", "bar", "ar "}


def test_case_does_not_matter():
    assert trigrams("CAT") == trigrams("cat")


def test_similarity_is_that_of_the_documentation():
    assert similarity("word", "two words") == pytest.approx(0.363636, abs=1e-6)


def test_a_word_is_compared_with_each_single_word():
    # word has 5 trigrams, words 6, and they share 4
    assert share_of_words(["word"], "two words") == pytest.approx(4 / 7)
    assert share_of_words(["words"], "two words") == 1.0


def test_nothing_resembles_nothing():
    assert similarity("", "") == 0
    assert similarity("--", "word") == 0
    assert share_of_words(["word"], "") == 0
    assert share_of_words([""], "word") == 0


def test_letters_outside_ascii_count():
    assert similarity("größe", "größe") == 1.0
    assert similarity("日本語", "日本") > 0


@given(st.text(max_size=60), st.text(max_size=60))
def test_similarity_is_symmetric_and_between_0_and_1(a, b):
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1
    assert 0 <= share_of_words([a], b) <= 1
