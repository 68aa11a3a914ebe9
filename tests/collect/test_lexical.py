from weftwork.collect import LexicalCollector
from weftwork.store.contract.kit import WORKSPACE, node, put
from weftwork.types import Filters

ANA_ALONE = frozenset({"ana"})


def test_what_has_more_of_the_words_comes_first_with_its_score(store, desk):
    put(store, node("one", "quince"), node("two", "quince tart"), node("none", "bread"))
    findings = desk.collect(LexicalCollector(fuzzy_limit=0), "quince tart")
    assert [name for name, _, _ in findings] == ["two", "one"]
    with store.view(WORKSPACE, "ana") as view:
        hits = view.search_words("quince tart", limit=5)
    assert [(score, why) for _, score, why in findings] == [
        (round(hit.score, 6), f"words {hit.score:.2f}") for hit in hits
    ]


def test_the_limit_holds(store, desk):
    put(store, *(node(f"n{n:02}", "quince") for n in range(30)))
    assert len(desk.collect(LexicalCollector(fuzzy_limit=0), "quince")) == 20
    assert len(desk.collect(LexicalCollector(limit=3, fuzzy_limit=0), "quince")) == 3


def test_a_typo_is_looked_for_where_words_find_nothing(store, desk):
    put(store, node("t", "nothing", title="Telescope mirror"), node("b", "something", title="Bread"))
    ((name, score, why),) = desk.collect(LexicalCollector(), "telescpoe mirorr")
    assert name == "t"
    assert why == f"resembles the query {score:.2f}"
    assert score > 0.3
    assert desk.collect(LexicalCollector(fuzzy_limit=0), "telescpoe mirorr") == []


def test_a_typo_is_not_looked_for_where_all_words_are_known(store, desk):
    put(store, node("hit", "telescope"), node("like", "x", title="telescpoe"))
    assert list(desk.scores(LexicalCollector(), "telescope")) == ["hit"]
    assert list(desk.scores(LexicalCollector(), "telescope telescopee")) == ["hit", "like"]


def test_a_word_that_only_hidden_nodes_have_is_unknown(store, desk):
    put(store, node("secret", "telescpoe", access=ANA_ALONE), node("open", "x", title="telescope"))
    assert list(desk.scores(LexicalCollector(), "telescpoe", user="ben")) == ["open"]


def test_nothing_is_found_twice(store, desk):
    put(store, node("t", "telescope", title="telescope"))
    findings = desk.collect(LexicalCollector(), "telescope telescopee")
    assert [name for name, _, _ in findings] == ["t"]


def test_filters_and_exclusions_hold_by_words_and_by_resemblance(store, desk):
    put(store, node("a", "quince", type="todo"), node("b", "quince"), node("c", "quinze", type="todo"))
    todos = Filters(types=frozenset({"todo"}), exclude=frozenset({"a"}))
    assert list(desk.scores(LexicalCollector(), "quince quinzee", filters=todos)) == ["c"]


def test_hidden_nodes_are_not_found(store, desk):
    put(store, node("a", "quince", access=ANA_ALONE), node("b", "x", title="quinze", access=ANA_ALONE))
    assert desk.scores(LexicalCollector(), "quince quincee", user="ben") == {}
    assert set(desk.scores(LexicalCollector(), "quince quincee")) == {"a", "b"}


def test_an_empty_query_finds_nothing(store, desk):
    put(store, node("a", "quince"))
    assert desk.scores(LexicalCollector(), "  ") == {}
    assert desk.scores(LexicalCollector(), "the") == {}
