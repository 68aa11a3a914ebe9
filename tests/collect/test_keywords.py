import pytest

from weftwork.collect import FuzzyCollector, KeywordCollector
from weftwork.store.contract.kit import node, put


def test_all_keywords_must_occur(store, desk):
    put(store, node("both", "the primary mirror"), node("one", "a mirror"), node("forms", "mirrors, primary ones"))
    findings = desk.collect(KeywordCollector(), "Which mirror is primary?")
    assert {name for name, _, _ in findings} == {"both", "forms"}
    assert all(why.startswith("all 2 keywords") for _, _, why in findings)


def test_short_and_common_words_are_no_keywords(store, desk):
    put(store, node("a", "the mirror"))
    assert list(desk.scores(KeywordCollector(), "is the big mirror")) == ["a"]
    assert desk.collect(KeywordCollector(), "is the big one") == []
    assert desk.collect(KeywordCollector(), "") == []


def test_more_keywords_than_can_be_required_still_rank(store, desk):
    words = "alpha bravo charlie delta echoes foxtrot golfer hotel".split()
    put(store, node("a", " ".join(words)), node("b", " ".join([*words, "indigo"])))
    assert list(desk.scores(KeywordCollector(), " ".join([*words, "indigo"]))) == ["b", "a"]


def test_a_word_with_a_dash_must_occur_as_it_is(store, desk):
    put(store, node("a", "a well-known mirror"), node("b", "known as well, a mirror"))
    assert list(desk.scores(KeywordCollector(), "well-known mirror")) == ["a"]


def test_ten_and_five_are_found(store, desk):
    put(store, *(node(f"mirror-{n}", "a mirror") for n in range(12)))
    assert len(desk.scores(KeywordCollector(), "mirror")) == 10
    assert len(desk.scores(FuzzyCollector(), "mirror")) == 5


def test_titles_and_words_that_look_alike_are_found(store, desk):
    put(store, node("a", title="Inspection"), node("b", "a telescope"), node("c", "nothing"))
    assert list(desk.scores(FuzzyCollector(), "what about the inspecton")) == ["a"]
    assert list(desk.scores(FuzzyCollector(), "telescoep")) == ["b"]
    assert desk.scores(FuzzyCollector(threshold=0.95), "inspecton") == {}


@pytest.mark.parametrize("kind", [KeywordCollector, FuzzyCollector])
def test_what_is_hidden_or_excluded_is_not_found(store, desk, kind):
    put(store, node("a", "mirror", title="mirror", access=frozenset({"ana"})), node("b", "mirror", title="mirror"))
    assert list(desk.scores(kind(), "mirror", user="ben")) == ["b"]
    assert list(desk.scores(kind(), "mirror", exclude=["b"])) == ["a"]
