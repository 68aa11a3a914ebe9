"""What the signals need is read from the store, as the viewer sees it, and nothing else is."""

import pytest

from weftwork.collect import Inquiry, LexicalCollector, gather
from weftwork.query import read_query
from weftwork.request import Request
from weftwork.score import Facts, gather_facts
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.sqlite import SqliteStore
from weftwork.types import Budget, Usage

ALL = frozenset({"relevance", "similarity", "structural", "usage", "feedback", "text_similarity", "affinity"})


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


def gathered(store, signals, *, query="quince leaf", embedder=EMBEDDER, **request):
    asked = Request(query=query, workspace=WORKSPACE, user="ana", budget=Budget(total=9), **request)
    with store.view(WORKSPACE, "ana") as view:
        inquiry = Inquiry(view, asked, read_query(query, NOW), NOW, embedder)
        candidates = gather(inquiry, [LexicalCollector()])
        return candidates, gather_facts(inquiry, candidates, signals)


def test_each_signal_finds_its_facts(store):
    candidates, facts = gathered(store, ALL, focus="leaf")
    assert facts.hops == {"leaf": 0, "page": 1}
    assert facts.usage == {"page": Usage(used=1), "leaf": Usage(useful=1)}
    assert (facts.edited, facts.viewed) == ({"leaf"}, {"alone"})
    assert facts.idf["leaf"] > facts.idf["quince"] > 0
    assert facts.similarities.keys() == {each.key for each in candidates}
    assert len(facts.similarities) == 3
    assert facts.now == NOW


def test_nothing_is_read_for_signals_that_are_not_weighed(store):
    _, facts = gathered(store, frozenset({"confidence"}), focus="leaf")
    assert facts == Facts(facts.request, facts.question, NOW)


def test_without_an_embedder_or_a_query_there_are_no_similarities(store):
    assert gathered(store, ALL, embedder=None)[1].similarities == {}
    assert gathered(store, ALL, query="")[1].similarities == {}


def test_without_a_focus_there_are_no_distances(store):
    assert gathered(store, ALL)[1].hops == {}


@pytest.mark.parametrize("kind", ["message", "note"])
def test_a_turn_gains_from_the_turn_beside_it_and_other_nodes_do_not(tmp_path, kind):
    said = ("quince leaf", "quince", *["bread"] * 5, "quince")
    store = SqliteStore(tmp_path / "talk.weft", clock=lambda: NOW)
    turns = [node(f"m{n}", text, title="", type=kind, parent="talk", position=n) for n, text in enumerate(said)]
    put(opened(store), node("talk", "a talk", type="thread"), *turns)
    candidates, facts = gathered(store, frozenset({"evidence"}), embedder=None)
    evidence = {each.node.id: facts.evidence[each.key] for each in candidates}
    assert (evidence["m1"] > evidence["m7"]) == (kind == "message")
    assert evidence["m0"] > evidence["m1"] >= evidence["m7"]
    store.close()
