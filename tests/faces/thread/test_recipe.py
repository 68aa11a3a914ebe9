"""The contract's scorer and optimiser by themselves, with the contract's own tests among these."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.faces.thread import ContextItem, ItemMetadata, RelevanceScorer, TokenOptimizer

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
scorer = RelevanceScorer(clock=lambda: NOW)
optimizer = TokenOptimizer()


def item(name, type="file", content="test", *, relevance=0.0, tokens=1, age=0):
    known = ItemMetadata(node=name, node_type=type, created_at=NOW - timedelta(hours=age))
    return ContextItem(name, type, content, "", name, relevance, tokens, known)


def test_explicit_references_score_highest():
    first, second = scorer.score_items([item("a", "reference"), item("b", "file")], "test")
    assert first.relevance > second.relevance


def test_the_token_budget_is_respected():
    result = optimizer.optimize([item(f"i{n}", relevance=0.5, tokens=100) for n in range(20)], 500)
    assert result.total_tokens <= 500
    assert (len(result.selected), len(result.excluded)) == (5, 15)


def test_scores_are_those_worked_out_by_hand():
    kinds = ("reference", "file", "chunk", "message")
    items = [item(kind, kind, "mirror report", age=100) for kind in kinds]
    known = RelevanceScorer(idf={"mirror": 2.0, "frame": 3.0}, usage={"file": 4, "message": 25}, clock=lambda: NOW)
    scored = known.score_items(items, "mirror frame")
    # text: (2/2 · 2/2) / (√(1² + (1/2)²) · √(1² + 1.5²)) = 1 / (1.118034 · 1.802776) = .496139
    # .35 × .496139 + .25 × 1/2 + .15 × e^-1 = .173649 + .125 + .055182 = .353831
    expected = [0.15 * 1.0, 0.15 * 0.7 + 0.1 * 0.4, 0.15 * 0.6, 0.15 * 0.5 + 0.1 * 1.0]
    assert [each.relevance for each in scored] == pytest.approx([0.353831 + more for more in expected], abs=1e-6)
    assert [each.id for each in scored] == list(kinds)


def test_a_time_without_a_zone_is_taken_as_utc():
    first, second = item("a"), item("b")
    first = replace(first, metadata=replace(first.metadata, created_at=NOW.replace(tzinfo=None)))
    first, second = scorer.score_items([first, second], "test")
    assert first.relevance == second.relevance


def test_by_value_per_token_and_by_the_best_set():
    items = [item("dense", relevance=0.6, tokens=300), item("big", relevance=0.9, tokens=900)]
    assert [each.id for each in optimizer.optimize(items, 900).selected] == ["dense"]
    assert [each.id for each in optimizer.optimize_dp(items, 900).selected] == ["big"]


@pytest.mark.parametrize("optimize", [optimizer.optimize, optimizer.optimize_dp])
@pytest.mark.parametrize("most", [100, 30])
def test_what_is_too_large_alone_is_cut(optimize, most):
    whole = item("a", content="word " * 400, relevance=0.5, tokens=500)
    result = optimize([whole], most)
    assert 0 < result.total_tokens <= most
    assert result.selected[0].tokens == -(-len(result.selected[0].content) // 4)
    assert whole.content.startswith(result.selected[0].content.rstrip(" …"))


@given(
    st.lists(
        st.tuples(st.sampled_from(["file", "chunk", "message", "reference"]), st.integers(1, 300), st.floats(0, 1))
    ),
    st.integers(0, 2000),
)
def test_nothing_is_lost_and_the_budget_holds(drawn, budget):
    items = [
        item(f"i{n}", kind, "x" * 4 * size, relevance=worth, tokens=size) for n, (kind, size, worth) in enumerate(drawn)
    ]
    for result in (optimizer.optimize(items, budget), optimizer.optimize_dp(items, budget)):
        assert sum(each.tokens for each in result.selected) == result.total_tokens <= budget
        names = [each.id for each in (*result.selected, *result.excluded)]
        assert sorted(names) == sorted(each.id for each in items)
