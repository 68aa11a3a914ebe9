import pytest

from weftwork.score.relevance import evidence, relevance, similarity

from .making import candidate, facts, found


def test_words_and_meaning_are_two_independent_reasons():
    # words 0.5, cosine 0.5: 1 - (1 - 0.5) × (1 - 0.6 × 0.5) = 1 - 0.5 × 0.7 = 0.65
    both = candidate(key=7, findings=[found("words", 0.5), found("vector", 0.5)])
    assert relevance(both, facts("q", similarities={7: 0.5})) == pytest.approx(0.65)


def test_words_alone_count_in_full_and_a_vector_alone_for_six_tenths():
    assert relevance(candidate(findings=[found("words", 0.8)]), facts("q")) == pytest.approx(0.8)
    alone = candidate(key=7, findings=[found("vector", 0.8)])
    assert relevance(alone, facts("q", similarities={7: 0.8})) == pytest.approx(0.48)  # 0.6 × 0.8


def test_a_hit_by_words_alone_can_beat_one_by_vector():
    words = relevance(candidate(key=1, findings=[found("words", 0.7)]), facts("q", similarities={1: 0.0, 2: 0.99}))
    meaning = relevance(candidate(key=2, findings=[found("vector", 0.99)]), facts("q", similarities={2: 0.99}))
    assert words == pytest.approx(0.7)
    assert meaning == pytest.approx(0.594)  # 0.6 × 0.99


def test_the_best_grade_of_a_collector_counts_where_it_is_higher():
    graded = candidate(key=7, findings=[found("words", 0.2), found("focus", 0.85), found("activity", 0.6)])
    assert relevance(graded, facts("q", similarities={7: 0.5})) == 0.85  # words and meaning: 1 - 0.8 × 0.7 = 0.44
    worded = candidate(findings=[found("activity", 0.6), found("words", 0.9)])
    assert relevance(worded, facts("q")) == pytest.approx(0.9)


def test_the_cosine_counts_even_where_the_semantic_collector_did_not_find_it():
    linked = candidate(key=7, findings=[found("relations", 0.1)])
    assert relevance(linked, facts("q", similarities={7: 0.5})) == pytest.approx(0.3)  # 0.6 × 0.5


def test_an_opposite_vector_takes_nothing_away():
    assert relevance(candidate(key=7, findings=[found("words", 0.4)]), facts("q", similarities={7: -1.0})) == (
        pytest.approx(0.4)
    )


def test_a_relevance_never_leaves_its_range():
    assert relevance(candidate(findings=[found("custom", 3.0)]), facts("q")) == 1.0
    assert relevance(candidate(), facts("q")) == 0.0


@pytest.mark.parametrize(("cosine", "expected"), [(0.25, 0.25), (-0.25, 0.0), (1.0000001, 1.0), (0.0, 0.0)])
def test_similarity_is_the_cosine_within_its_range(cosine, expected):
    assert similarity(candidate(key=7), facts("q", similarities={7: cosine})) == expected


def test_what_has_no_vector_is_not_similar_and_without_embeddings_nothing_is_said():
    assert similarity(candidate(key=7), facts("q", similarities={8: 0.9})) == 0.0
    assert similarity(candidate(key=7), facts("q")) is None


def test_evidence_is_what_words_and_meaning_say_or_a_higher_grade_of_another_collector():
    hit = candidate(key=7, findings=[found("words", 0.9)])
    assert evidence(hit, facts("q", evidence={7: 0.4})) == 0.4
    linked = candidate(key=7, findings=[found("words", 0.9), found("link_rank", 0.55)])
    assert evidence(linked, facts("q", evidence={7: 0.4})) == 0.55
    assert evidence(candidate(key=8), facts("q", evidence={7: 0.4})) == 0.0
