"""Orders that differ from the scores."""

from types import SimpleNamespace
from typing import Any

import pytest

from weftwork.compose.ordering import STEP, WithEvidence, with_descending_scores
from weftwork.query import read_query
from weftwork.store.contract.kit import NOW

from .making import candidate


def test_scores_fall_along_the_order_and_one_that_had_to_rise_keeps_its_own_as_a_signal():
    given = [candidate("a", key=1, score=0.2), candidate("b", key=2, score=0.5), candidate("c", key=3, score=0.3)]
    ordered = with_descending_scores(given)
    assert [each.node.id for each in ordered] == ["a", "b", "c"]
    assert [each.score for each in ordered] == [0.5 + STEP, 0.5, 0.3]
    assert [each.signals.get("rank") for each in ordered] == [0.2, None, None]
    assert with_descending_scores([]) == []


def _ordered(evidence, candidates, share=0.65):
    inquiry: Any = SimpleNamespace(evidence=evidence, given_keys=frozenset(), question=read_query("which foam?", NOW))
    return WithEvidence(share)(inquiry, candidates)


def _kept(evidence, *candidates, share=0.65):
    kept, left_out = _ordered(evidence, candidates, share)
    assert {each.node.id for each in kept} | {each.node for each in left_out} == {each.node.id for each in candidates}
    return [each.node.id for each in kept]


def test_hits_with_much_less_evidence_than_the_best_are_left_out():
    hits = [candidate(name, f"text {name}", key=key) for key, name in enumerate("abc", start=1)]
    evidence = {1: 0.8, 2: 0.53, 3: 0.5}
    assert _kept(evidence, *hits) == ["a", "b"]
    assert _kept(evidence, *hits, share=0) == ["a", "b", "c"]
    assert _kept({}, *hits) == ["a", "b", "c"]  # none has any
    _, (left_out,) = _ordered(evidence, hits)
    assert left_out.reason == "its document has evidence 0.50, below 0.52, a share 0.65 of the best"


def test_documents_between_both_bounds_fill_what_those_with_more_evidence_leave():
    hits = [candidate(name, f"text {name}", key=key, score=0.5) for key, name in enumerate("abc", start=1)]
    inquiry: Any = SimpleNamespace(
        evidence={1: 0.4, 2: 0.8, 3: 0.1}, given_keys=frozenset(), question=read_query("which foam?", NOW)
    )
    kept, (left_out,) = WithEvidence(0.75, noise=0.25)(inquiry, hits)
    assert [(each.node.id, each.score) for each in kept] == [("b", 0.5), ("a", pytest.approx(0.5 * 0.4 / 0.6))]
    assert kept[1].signals["rank"] == 0.5
    assert left_out.reason == "its document has evidence 0.10, below 0.20, a share 0.25 of the best"


def test_what_else_was_found_in_a_document_that_answers_stays():
    best = candidate("a", "the question", key=1, document="page")
    more = candidate("b", "the rest of the answer", key=2, document="page")
    other = candidate("c", "another page", key=3)
    assert _kept({1: 0.8, 2: 0.1, 3: 0.2}, best, more, other) == ["a", "b"]


def test_what_no_search_found_needs_no_evidence_and_what_only_resembles_the_query_has_its_likeness():
    best = candidate("a", "the question", key=1, kind="vector")
    alike = candidate("b", "the qestion", key=2, kind="fuzzy", score=0.6)
    linked = candidate("c", "a link", key=3, kind="link")
    assert _kept({1: 0.3}, best, alike, linked) == ["b", "c"]
