import pytest

from weftwork.collect import SemanticCollector
from weftwork.store.contract.kit import EMBEDDER, node, put
from weftwork.types import Filters


def test_the_nearest_comes_first_with_its_cosine(store, desk):
    put(store, node("near", "violin concerto", title="a"), node("middle", "violin drum", title="b"))
    findings = desk.collect(SemanticCollector(threshold=0.0), "violin concerto")
    assert [name for name, _, _ in findings] == ["near", "middle"]
    # the vector of a passage is that of its title and text
    cosine = float(EMBEDDER.embed("a\nviolin concerto") @ EMBEDDER.embed("violin concerto"))
    assert findings[0][1] == pytest.approx(cosine, abs=1e-3)
    assert findings[0][2] == f"similarity {cosine:.2f}"


def test_what_is_less_alike_than_the_threshold_is_left_out(store, desk):
    put(store, node("near", "violin concerto"), node("far", "bread and butter"))
    assert list(desk.scores(SemanticCollector(threshold=0.6), "violin concerto")) == ["near"]
    assert desk.scores(SemanticCollector(threshold=1.01), "violin concerto") == {}


def test_only_so_many_are_taken(store, desk):
    put(store, *(node(f"n{n:02}", "violin", title="t") for n in range(30)))
    assert len(desk.collect(SemanticCollector(), "violin")) == 20
    assert len(desk.collect(SemanticCollector(top_k=4), "violin")) == 4


def test_filters_exclusions_and_access_hold(store, desk):
    put(
        store,
        node("a", "violin", title="t", type="todo"),
        node("b", "violin", title="t"),
        node("c", "violin", title="t", type="todo"),
        node("d", "violin", title="t", type="todo", access=frozenset({"ana"})),
    )
    todos = Filters(types=frozenset({"todo"}), exclude=frozenset({"a"}))
    assert set(desk.scores(SemanticCollector(), "violin", filters=todos)) == {"c", "d"}
    assert set(desk.scores(SemanticCollector(), "violin", filters=todos, user="ben")) == {"c"}


def test_without_an_embedder_or_a_query_nothing_is_found(store, desk):
    put(store, node("a", "violin"))
    assert desk.scores(SemanticCollector(threshold=0.0), "violin", embedder=None) == {}
    assert desk.scores(SemanticCollector(threshold=0.0), "   ") == {}
    assert desk.scores(SemanticCollector(threshold=0.0), "?!") == {}
