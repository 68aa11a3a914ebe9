"""Facts are read from the store as the viewer sees it, and only those that signals need."""

from contextlib import contextmanager

import pytest

from weftwork.collect import Inquiry, LexicalCollector, gather
from weftwork.history import Usage
from weftwork.query import read_query
from weftwork.request import Request
from weftwork.score import FactsOnDemand, Profile, score
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.sqlite import SqliteStore
from weftwork.types import (
    Budget,
)


@pytest.fixture
def store(tmp_path):
    made = SqliteStore(tmp_path / "store.weft", clock=lambda: NOW)
    put(
        opened(made, "ben"),
        node("page", "quince page"),
        node("leaf", "quince leaf", parent="page"),
        node("alone", "quince alone"),
    )
    with made.atomic(WORKSPACE) as batch:
        batch.record("ana", "leaf", "edit", NOW)
        batch.record("ana", "alone", "view", NOW)
        batch.record("ben", "page", "edit", NOW)
        batch.count_use("ben", ["page"])
        batch.give_feedback("ana", "leaf", True, NOW)
    yield made
    made.close()


@contextmanager
def gathered(store, *, query="quince leaf", embedder=EMBEDDER, **request):
    asked = Request(query=query, workspace=WORKSPACE, user="ana", budget=Budget(total=9), **request)
    with store.view(WORKSPACE, "ana") as view:
        inquiry = Inquiry(view, asked, read_query(query, NOW), NOW, embedder)
        candidates = gather(inquiry, [LexicalCollector()])
        yield candidates, FactsOnDemand(inquiry, candidates)


def test_each_fact_is_read_for_whoever_asks(store):
    with gathered(store, focus="leaf") as (candidates, facts):
        assert facts.hops == {"leaf": 0, "page": 1}
        assert facts.usage == {"page": Usage(used=1)}
        assert (facts.edited, facts.viewed) == ({"leaf"}, {"alone"})
        assert facts.idf["leaf"] > facts.idf["quince"] > 0
        assert facts.similarities.keys() == {candidate.key for candidate in candidates}
        assert len(facts.similarities) == 3
        assert facts.now == NOW
        with pytest.raises(AttributeError, match="there is no fact 'charm': use one of similarities, evidence"):
            _ = facts.charm


def test_a_fact_is_read_once_and_only_if_a_signal_asks_for_it(store):
    with gathered(store, focus="leaf") as (candidates, facts):
        before = set(vars(facts))
        score(candidates, Profile("plain", {"confidence": 1.0}), facts)
        assert set(vars(facts)) == before
        score(candidates, Profile("near", {"structural": 1.0}), facts)
        assert set(vars(facts)) - before == {"hops"}
        assert facts.hops is facts.hops


def test_a_signal_handed_in_is_given_facts_as_ours_are(store):
    def praised(candidate, facts):
        return 1.0 if facts.verdicts.get(candidate.node.id, 0.0) > 0 else 0.0

    with gathered(store) as (candidates, facts):
        best, *others = score(candidates, Profile("praise", {"praised": 1.0}, own={"praised": praised}), facts)
    assert (best.node.id, best.score) == ("leaf", 1.0)
    assert {candidate.score for candidate in others} == {0.0}


def test_without_an_embedder_or_a_query_there_are_no_similarities(store):
    for options in ({"embedder": None}, {"query": ""}):
        with gathered(store, **options) as (_, facts):
            assert facts.similarities == {}


def test_without_a_focus_there_are_no_distances(store):
    with gathered(store) as (_, facts):
        assert facts.hops == {}


@pytest.mark.parametrize("kind", ["message", "note"])
def test_a_turn_gains_from_the_turn_beside_it_and_other_nodes_do_not(tmp_path, kind):
    said = ("quince leaf", "quince", *["bread"] * 5, "quince")
    store = SqliteStore(tmp_path / "talk.weft", clock=lambda: NOW)
    turns = [node(f"m{n}", text, title="", type=kind, parent="talk", position=n) for n, text in enumerate(said)]
    put(opened(store), node("talk", "a talk", type="thread"), *turns)
    with gathered(store, embedder=None) as (candidates, facts):
        evidence = {each.node.id: facts.evidence[each.key] for each in candidates}
    assert (evidence["m1"] > evidence["m7"]) == (kind == "message")
    assert evidence["m0"] > evidence["m1"] >= evidence["m7"]
    store.close()
