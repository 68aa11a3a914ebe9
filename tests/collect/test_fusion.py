"""Words and meaning weighed for one query."""

import math

import pytest

from weftwork.collect.fusion import UNSEEN, Weighing
from weftwork.collect.lexical import LexicalCollector
from weftwork.embed.card import CAUTIOUS
from weftwork.store.contract.kit import node, put
from weftwork.types import Hit


def test_words_count_in_proportion_to_the_root_of_the_best_match():
    weighing = Weighing.of([Hit(1, 0.25), Hit(2, 0.16)], depth=9)
    assert weighing(0.25, 0.0) == pytest.approx(0.5)
    assert weighing(0.16, 0.0) == pytest.approx(0.32)
    assert weighing(0.16, 0.5) == pytest.approx(1 - 0.68 * (1 - CAUTIOUS.weight * 0.5))
    assert weighing(1.0, 0.0) == 1.0


def test_what_only_meaning_found_has_a_little_less_than_the_last_of_a_full_list():
    full = Weighing.of([Hit(1, 0.25), Hit(2, 0.16)], depth=2)
    assert full(None, 0.0) == pytest.approx(UNSEEN * 0.16 / math.sqrt(0.25))
    assert full(0.16, 0.3) > full(None, 0.3) > full(0.0, 0.3)
    assert Weighing.of([Hit(1, 0.25)], depth=2)(None, 0.0) == 0.0


def test_without_a_match_by_words_meaning_decides():
    for hits in ([], [Hit(1, 0.0)]):
        assert Weighing.of(hits, depth=1)(None, 0.5) == pytest.approx(CAUTIOUS.weight * 0.5)


def test_a_phrase_in_a_question_comes_first_and_shuts_out_nothing_else(store, desk):
    put(
        store,
        node("near", "The director of red heron was born in Lisbon."),
        node("far", "A director born in Lisbon, who liked a heron that was red."),
    )
    words = LexicalCollector(fuzzy_limit=0)
    assert list(desk.scores(words, 'Who was the director of "red heron"?', embedder=None)) == ["near", "far"]
    assert list(desk.scores(words, '"red heron"', embedder=None)) == ["near"]
