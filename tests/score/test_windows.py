import pytest

from weftwork.score.signals import SIGNALS
from weftwork.score.windows import other_turns, windows, with_text_around, with_turns

from .making import candidate, facts, found


def test_a_passage_gains_from_its_neighbours_by_their_place():
    hit = candidate("hit", key=1, findings=[found("words", 0.4)])
    reply = candidate("reply", key=2, findings=[found("beside", 0.0)])
    worth = windows([hit, reply], {}, {1: [(1, 2)], 2: [(-1, 1), (1, 3)]})
    # the best match by words counts as 1; the reply has the turn before it, which counts 0.6
    assert worth == {1: pytest.approx(1.0), 2: pytest.approx(0.6)}


def test_words_and_meaning_of_all_neighbours_are_independent_reasons():
    middle = candidate("middle", key=2, findings=[found("words", 0.2)])
    before = candidate("before", key=1, findings=[found("words", 0.4)])
    after = candidate("after", key=3)
    worth = windows([before, middle, after], {2: 0.5, 3: 1.0}, {2: [(-1, 1), (1, 3)]})
    own = 1 - (1 - 0.5) * (1 - 0.6 * 0.5)
    assert worth[2] == pytest.approx(1 - (1 - own) * (1 - 0.6 * 1.0) * (1 - 0.4 * 0.6))
    assert worth[3] == pytest.approx(0.6)


def test_the_signal_does_not_apply_where_nothing_is_known():
    assert SIGNALS["window"](candidate("n", key=5), facts()) is None
    assert SIGNALS["window"](candidate("n", key=5), facts(windows={5: 0.25})) == 0.25


def test_a_passage_is_raised_towards_a_better_one_right_beside_it_in_the_same_text_and_by_no_other():
    places = [("a", 4), ("a", 5), ("a", 7), ("b", 5)]
    made = [candidate(name, key=key, ordinal=ordinal) for key, (name, ordinal) in enumerate(places, start=1)]
    scores = with_text_around(made, {1: 0.8, 2: 0.4, 3: 0.4, 4: 0.4})
    assert scores == {1: 0.8, 2: pytest.approx(1 - 0.6 * (1 - 0.25 * 0.8)), 3: 0.4, 4: 0.4}
    near = with_text_around(made[:2], {1: 0.8, 2: 0.79})
    assert near == {1: 0.8, 2: 0.8}


def test_passages_of_one_long_message_do_not_lift_each_other():
    around = {1: [(1, 2)], 2: [(-1, 1), (1, 3)], 3: [(-1, 2)]}
    assert other_turns({1: "long", 2: "long", 3: "next"}, around) == {1: [], 2: [(1, 3)], 3: [(-1, 2)]}


def test_a_turn_gains_from_the_turns_around_it_but_the_best_is_worth_no_more_than_it_was():
    scores = {1: 0.8, 2: 0.0, 3: 0.5, 9: 0.9}
    combined = with_turns(scores, {1: [(1, 2)], 2: [(-1, 1), (1, 3)], 3: [(-1, 2), (-2, 1)]})
    assert max(combined.values()) == pytest.approx(0.8)
    assert combined[1] > combined[3] > combined[2] > 0.5
    assert 9 not in combined
    assert with_turns({}, {}) == {}
