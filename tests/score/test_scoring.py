from datetime import timedelta
from itertools import permutations

import pytest

from weftwork.score import Profile, get_profile, score
from weftwork.score.scoring import shares, weigh

from .making import NOW, candidate, facts, found


def test_the_weights_of_signals_that_do_not_apply_are_shared_out():
    # .6 × 1 + .3 × .5 = .75 of weights .9; the missing .1 is shared: .75 / .9
    assert weigh({"a": 1.0, "b": 0.5, "c": None}, {"a": 0.6, "b": 0.3, "c": 0.1}) == pytest.approx(0.75 / 0.9)


def test_a_signal_of_zero_applies_and_pulls_down():
    assert weigh({"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 0.5}) == 0.5


def test_where_no_signal_applies_the_score_is_zero():
    assert weigh({"a": None}, {"a": 1.0}) == 0.0
    assert weigh({}, {"a": 1.0}) == 0.0


def test_a_memory_without_confidence_is_not_taken_for_a_doubtful_one():
    known = facts("q", evidence={1: 0.5, 2: 0.5})
    silent = candidate("silent", "x", key=1, created_at=NOW)
    doubtful = candidate("doubtful", "x", key=2, created_at=NOW, confidence=0.0)
    first, second = score([doubtful, silent], get_profile("memory"), known)
    assert (first.node.id, first.score) == ("silent", pytest.approx(0.5 / 0.8))  # (.6 × .5 + .2 × 1) / .8
    assert (second.node.id, second.score) == ("doubtful", pytest.approx(0.5))  # .6 × .5 + .2 × 1 + .2 × 0


def test_a_candidate_carries_the_value_of_each_signal():
    memory = candidate("n", "x", key=7, created_at=NOW - timedelta(days=1))
    (scored,) = score([memory], get_profile("memory"), facts("q", evidence={7: 0.25}))
    assert scored.signals == {"fused": 0.25, "recency_inverse": 0.5, "confidence": None}


def test_candidates_that_were_given_are_not_changed():
    given = candidate("n", "x", findings=[found("words", 0.5)])
    (scored,) = score([given], get_profile("workspace"), facts("q"))
    assert (given.score, given.signals) == (0.0, {})
    assert scored.score > 0


ONLY_WORDS = Profile("words", {"relevance": 1.0})


def boosted(tags, boosts):
    each = candidate("n", "x", tags=tags, findings=[found("words", 0.5)])
    (scored,) = score([each], ONLY_WORDS, facts("q", request={"boosts": boosts}))
    return scored


def test_a_boosted_tag_raises_the_score_and_shows_among_the_signals():
    raised = boosted(("spec", "old"), {"spec": 0.2, "code": 0.3})
    assert raised.score == pytest.approx(0.7)
    assert raised.signals["boost"] == pytest.approx(0.2)


def test_several_boosted_tags_add_up_to_one_at_most():
    assert boosted(("a", "b"), {"a": 0.1, "b": 0.2}).score == pytest.approx(0.8)
    assert boosted(("a", "b"), {"a": 0.4, "b": 0.2}).score == 1.0


def test_a_node_without_the_tag_is_not_boosted():
    plain = boosted(("other",), {"spec": 0.2})
    assert plain.score == 0.5
    assert "boost" not in plain.signals


def test_neither_case_nor_a_leading_mark_matters_and_a_type_counts_like_a_tag():
    assert boosted(("#SPEC",), {"spec": 0.2}).score == pytest.approx(0.7)
    assert boosted(("spec",), {"#Spec": 0.2}).score == pytest.approx(0.7)
    assert boosted((), {"Note": 0.2}).score == pytest.approx(0.7)  # the type of these candidates
    assert boosted(("note",), {"note": 0.2}).score == pytest.approx(0.7)  # once, not twice


def test_a_lowered_tag_never_leads_below_zero():
    assert boosted(("spam",), {"spam": -0.2}).score == pytest.approx(0.3)
    assert boosted(("spam",), {"spam": -0.9}).score == 0.0


def test_the_best_comes_first():
    low, high = (candidate(n, "x", findings=[found("words", s)]) for n, s in (("low", 0.2), ("high", 0.9)))
    assert [scored.node.id for scored in score([low, high], ONLY_WORDS, facts("q"))] == ["high", "low"]


def test_equal_scores_have_one_order_whatever_the_order_of_the_candidates():
    alike = [candidate(name, "x", key=key) for name, key in (("b", 1), ("a", 3), ("a", 2), ("c", 4))]
    orders = {tuple(scored.key for scored in score(list(some), ONLY_WORDS, facts("q"))) for some in permutations(alike)}
    assert orders == {(2, 3, 1, 4)}  # by citation, then by key


def test_scores_that_differ_only_by_rounding_are_equal():
    # 0.1 + 0.2 is 0.30000000000000004: as a score it must tie with 0.3, so that the citation decides
    pair = [
        candidate("b", "x", findings=[found("words", 0.1 + 0.2)]),
        candidate("a", "x", findings=[found("words", 0.3)]),
    ]
    assert [scored.node.id for scored in score(pair, ONLY_WORDS, facts("q"))] == ["a", "b"]


def adjusted(value, bound=0.05, words=0.5):
    people = Profile("people", {"relevance": 1.0}, adjustments={"feedback": bound})
    verdicts = {} if value is None else {"n": value}
    (scored,) = score([candidate("n", "x", findings=[found("words", words)])], people, facts("q", verdicts=verdicts))
    return scored


def test_an_adjustment_adds_or_takes_away_up_to_its_bound():
    assert adjusted(1 / 3).score == pytest.approx(0.5 + 0.05 / 3)
    assert adjusted(-1 / 3).score == pytest.approx(0.5 - 0.05 / 3)
    assert adjusted(0.0).score == 0.5
    assert adjusted(1.0).score == pytest.approx(0.55)
    assert adjusted(-1 / 3).signals["feedback"] == pytest.approx(1 / 3)


def test_an_adjustment_that_does_not_apply_changes_nothing():
    assert adjusted(None).score == 0.5
    assert adjusted(None).signals["feedback"] is None


def test_an_adjusted_score_stays_a_share():
    assert adjusted(1.0, words=1.0).score == 1.0
    assert adjusted(-1.0, words=0.0).score == 0.0


def test_what_was_found_overdue_gains_and_shows_it_among_the_signals():
    late, other = (
        candidate(name, key=key, findings=[found("words", 0.4), *more])
        for name, key, more in (("late", 1, [found("due", 0.5)]), ("other", 2, []))
    )
    weak = Profile("weak", {"recency_inverse": 1.0, "type_match": 1.0})  # the first does not apply: 0.5 is left
    first, second = score([other, late], weak, facts("overdue"))
    assert (first.node.id, first.score, first.signals["overdue"]) == ("late", pytest.approx(0.95), 0.45)
    assert (second.score, "overdue" in second.signals) == (0.5, False)
    (full,) = score([late], ONLY_WORDS, facts("overdue"))
    assert full.score == pytest.approx(0.95)  # the date decides, and not the words


def test_the_shares_of_the_signals_make_up_the_score():
    profile = Profile("p", {"relevance": 0.6, "confidence": 0.2}, adjustments={"feedback": 0.05})
    liked = candidate("n", "x", tags=("spec",), confidence=0.5, findings=[found("words", 0.5)])
    known = facts("q", verdicts={"n": 1.0}, request={"boosts": {"spec": 0.1}})
    (scored,) = score([liked], profile, known)
    parts = shares(scored.signals, profile, scored.score)
    assert sum(parts.values()) == pytest.approx(scored.score)
    assert parts["confidence"] == pytest.approx(0.2 * 0.5 / 0.8)
    assert parts["boost"] == 0.1
    assert parts["feedback"] > 0
    assert "other" not in parts


def test_shares_tell_which_weights_were_in_use_and_what_no_signal_explains():
    weights = {"similarity": 0.6, "recency_inverse": 0.2, "confidence": 0.2}
    words = {"relevance": 0.6, "recency_inverse": 0.2, "confidence": 0.2}
    profile = Profile("two", weights, without_embeddings=words)
    signals = {"relevance": 0.5, "recency_inverse": 1.0, "confidence": None}
    assert shares(signals, profile, 0.625) == pytest.approx({"relevance": 0.375, "recency_inverse": 0.25})
    assert shares(signals, profile, 0.725)["other"] == pytest.approx(0.1)
