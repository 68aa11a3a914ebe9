"""The formulas of the contracts as whole scores, each worked out by hand."""

from datetime import timedelta

import pytest

from weftwork.errors import InvalidInput, UnknownName
from weftwork.history import Usage
from weftwork.score import PROFILES, Profile, get_profile, score

from .making import NOW, candidate, facts, found


def total(profile, each, known):
    (scored,) = score([each], get_profile(profile), known)
    return scored.score


def test_the_workspace_score_is_that_of_the_context_builder():
    todo = candidate(
        "n", "x", type="todo", owner="ana", updated_at=NOW - timedelta(days=6), findings=[found("focus", 0.8)]
    )
    known = facts("which task is next", request={"focus": "f"}, hops={"n": 3})
    # semantic 0.8 × .35 = .28; structural (1 - .3) × .25 = .175; recency (1 - 6/30) × .15 = .12;
    # type 0.9 × .15 = .135; affinity 1 × .10 = .10; together .81
    assert total("workspace", todo, known) == pytest.approx(0.81)


def test_the_workspace_score_of_something_unknown_is_made_of_halves():
    plain = candidate("n", "x", findings=[found("words", 0.0)])
    # 0 × .35 + .5 × .25 + .5 × .15 + .5 × .15 + .5 × .10 = .325
    assert total("workspace", plain, facts("mirror")) == pytest.approx(0.325)


def test_the_memory_score_weighs_similarity_recency_and_confidence():
    memory = candidate("n", "x", key=7, confidence=0.9, created_at=NOW - timedelta(days=4))
    # 0.6 × 0.5 + 0.2 × 1/(1+4) + 0.2 × 0.9 = 0.3 + 0.04 + 0.18 = 0.52
    assert total("memory", memory, facts("q", evidence={7: 0.5})) == pytest.approx(0.52)


def test_the_memory_score_takes_the_callers_weights():
    memory = candidate("n", "x", key=7, confidence=0.9, created_at=NOW - timedelta(days=4))
    own = Profile("own", {"similarity": 0.2, "recency_inverse": 0.5, "confidence": 0.3})
    (scored,) = score([memory], own, facts("q", similarities={7: 0.5}))
    assert scored.score == pytest.approx(0.47)  # 0.2 × 0.5 + 0.5 × 0.2 + 0.3 × 0.9 = 0.1 + 0.1 + 0.27


def test_weights_that_do_not_sum_to_one_are_taken_in_proportion():
    memory = candidate("n", "x", key=7, confidence=0.9, created_at=NOW)
    own = Profile("own", {"similarity": 2.0, "confidence": 6.0})
    (scored,) = score([memory], own, facts("q", similarities={7: 0.5}))
    assert scored.score == pytest.approx(0.8)  # (2 × 0.5 + 6 × 0.9) / 8 = 6.4 / 8


def test_the_thread_score_is_that_of_context_assembly():
    file = candidate("n", "mirror report", type="file", created_at=NOW - timedelta(hours=100))
    known = facts("mirror report", usage={"n": Usage(used=4)})
    # text 1 × .35; keywords 1 × .25; recency e^-1 = .367879441 × .15 = .055181916; file .7 × .15 = .105;
    # usage .4 × .10 = .04; together .800181916
    assert total("thread", file, known) == pytest.approx(0.800181916, abs=1e-9)


def test_the_thread_score_puts_explicit_references_first():
    reference = candidate("a", "mirror", type="message", created_at=NOW, findings=[found("reference", 1.0)])
    file = candidate("b", "mirror", type="file", created_at=NOW)
    # they differ in the source alone: (1.0 - 0.7) × .15 = .045
    known = facts("mirror")
    assert total("thread", reference, known) - total("thread", file, known) == pytest.approx(0.045)


def test_the_graph_score_is_that_of_the_context_assembler():
    note = candidate("n", "x", key=7, distance=2, updated_at=NOW - timedelta(days=30))
    # 1/2 × .40 + .6 × .35 + e^-1 × .25 = .2 + .21 + .091969860 = .501969860
    assert total("graph", note, facts("q", similarities={7: 0.6})) == pytest.approx(0.501969860, abs=1e-9)


def test_the_source_of_a_walk_that_was_just_changed_and_is_alike_scores_one():
    source = candidate("n", "x", key=7, distance=0, updated_at=NOW)
    assert total("graph", source, facts("q", similarities={7: 1.0})) == pytest.approx(1.0)


def test_the_graph_score_without_embeddings_is_sixty_to_forty():
    note = candidate("n", "x", key=7, distance=2, updated_at=NOW - timedelta(days=30))
    # 1/2 × .60 + e^-1 × .40 = .3 + .147151776 = .447151776
    assert total("graph", note, facts("q")) == pytest.approx(0.447151776, abs=1e-9)


def test_a_single_node_without_a_vector_means_nothing_similar_in_the_graph_profile():
    bare = candidate("bare", "x", key=8, distance=2, updated_at=NOW)
    # there are embeddings, so the weights are .40, .35 and .25: .5 × .40 + 0 × .35 + 1 × .25
    assert total("graph", bare, facts("q", similarities={7: 0.6})) == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("workspace", [0.35, 0.25, 0.15, 0.15, 0.10]),
        ("thread", [0.35, 0.25, 0.15, 0.15, 0.10]),
        ("graph", [0.40, 0.35, 0.25]),
    ],
)
def test_the_contracts_weights_are_kept(name, weights):
    assert list(get_profile(name).weights.values()) == weights


def test_all_profiles_but_the_balanced_one_are_whole():
    for name in ("workspace", "memory", "thread", "graph"):
        assert sum(PROFILES[name].weights.values()) == pytest.approx(1.0)
    assert sum(PROFILES["graph"].without_embeddings.values()) == pytest.approx(1.0)


def test_an_unknown_profile_is_refused_with_the_names_that_exist():
    with pytest.raises(UnknownName, match=r"unknown profile 'nonsense': use one of balanced, conversation"):
        get_profile("nonsense")


def test_an_unknown_signal_is_refused_with_the_names_that_exist():
    with pytest.raises(UnknownName, match=r"unknown signal 'charm': use one of affinity, confidence"):
        Profile("own", {"charm": 1.0})
    with pytest.raises(UnknownName, match="unknown signal 'charm'"):
        Profile("own", {"similarity": 1.0}, without_embeddings={"charm": 1.0})


def test_feedback_stands_beside_the_five_weights_of_the_thread_contract():
    assert get_profile("thread").adjustments == {"feedback": 0.05}
    assert get_profile("thread").signals == {*get_profile("thread").weights, "feedback"}
    with pytest.raises(UnknownName, match="unknown signal 'charm'"):
        Profile("own", {"similarity": 1.0}, adjustments={"charm": 0.1})
    with pytest.raises(InvalidInput, match="weight of feedback"):
        Profile("own", {"similarity": 1.0}, adjustments={"feedback": -0.1})


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf")])
def test_a_weight_that_is_no_share_is_refused(weight):
    with pytest.raises(InvalidInput, match="weight of usage in profile 'own'"):
        Profile("own", {"usage": weight, "similarity": 1.0})


@pytest.mark.parametrize("weights", [{}, {"usage": 0.0}])
def test_a_profile_needs_a_weight(weights):
    with pytest.raises(InvalidInput, match="at least one weight above 0"):
        Profile("own", weights)
