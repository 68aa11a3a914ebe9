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


def test_a_misspelt_word_is_read_as_the_nearest_known_one(store, desk):
    put(store, node("t", "nothing", title="Telescope mirror"), node("b", "something", title="Bread"))
    ((name, score, why),) = desk.collect(LexicalCollector(), "telescpoe mirorr")
    assert name == "t"
    assert why == f"words {score:.2f}, also by telescope, mirror"
    assert desk.collect(LexicalCollector(fuzzy_limit=0), "telescpoe mirorr") == []


def test_a_look_alike_never_comes_before_the_word_itself(store, desk):
    put(store, node("near", "telescope quartz"), node("hit", "mirror quartz"), node("none", "quartz"))
    assert list(desk.scores(LexicalCollector(), "telescpoe mirror quartz")) == ["hit", "near", "none"]


def test_known_words_are_not_corrected(store, desk):
    put(store, node("hit", "telescope"), node("like", "x", title="telescpoe"))
    assert list(desk.scores(LexicalCollector(), "telescope")) == ["hit"]


def test_numbers_and_codes_are_not_corrected(store, desk):
    put(store, node("other", "error E4020 in 2021"))
    assert "also by" not in str(desk.collect(LexicalCollector(), "error E4021 in 2031"))


def test_where_words_find_nothing_titles_that_resemble_the_query_are_found(store, desk):
    put(store, node("t", "nothing", title="Teleskop-Spiegel"), node("b", "something", title="Bread"))
    ((name, score, why),) = desk.collect(LexicalCollector(), "teleskobbspigel")
    assert (name, why) == ("t", f"resembles the query {score:.2f}")
    assert desk.collect(LexicalCollector(fuzzy_limit=0), "teleskobbspigel") == []


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
    assert desk.scores(LexicalCollector(), "quince quinzee", user="ben") == {}
    assert set(desk.scores(LexicalCollector(), "quince quinzee")) == {"a", "b"}


def test_an_empty_query_finds_nothing(store, desk):
    put(store, node("a", "quince"))
    assert desk.scores(LexicalCollector(), "  ") == {}
    assert desk.scores(LexicalCollector(), "the") == {}
