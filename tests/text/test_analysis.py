"""Tokenizing and stemming of texts and queries."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.text.analysis import MAX_TERMS, analyse, parse, query_terms, spaced


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Running Foxes", ["the", "run", "fox"]),
        ("Café naïve", ["cafe", "naiv"]),
        ("cafe\u0301", ["cafe"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("foo_bar-baz.qux", ["foo", "bar", "baz", "qux"]),
        ("x" * 50 + " short", ["short"]),
        ("🙂 smile 👩‍👩‍👧", ["smile"]),
        ("", []),
        ("\x00\x01", []),
        ("lone \ud800 surrogate", ["lone", "surrog"]),
    ],
)
def test_a_text_is_cut_into_plain_stems(text, words):
    assert analyse(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("日本語", ["日本", "本語"]),
        ("東", ["東"]),
        ("カタカナ・テスト", ["カタ", "タカ", "カナ", "テス", "スト"]),
        ("한국어", ["한국", "국어"]),
        ("mixed日本text", ["mix", "日本", "text"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_pairs(text, words):
    assert analyse(text) == words


def test_long_runs_without_spaces_are_not_lost():
    assert len(analyse("ประเทศไทยมีประชากรประมาณเจ็ดสิบล้านคน")) > 10


def test_plain_text_is_left_as_it_is():
    assert spaced("plain ascii, untouched") == "plain ascii, untouched"


def test_many_threads_may_cut_texts_at_once():
    text = "Running foxes jumped over 日本語 fences " * 50
    alone = analyse(text)

    with ThreadPoolExecutor(8) as pool:
        assert all(words == alone for words in pool.map(analyse, [text] * 64))


def test_words_are_optional_and_counted_once():
    query = parse("wing flow wings heat")

    assert (query.terms, query.phrases, query.prefixes) == (("wing", "flow", "heat"), (), ())


def test_stop_words_do_not_count_unless_there_is_nothing_else():
    assert parse("what is the pressure of it").terms == ("pressur",)
    assert parse("to be or not to be").terms == ("to", "be", "or", "not")
    assert query_terms(["the", "wing"]) == ("wing",)


def test_a_phrase_is_required_and_its_words_count():
    query = parse('heat "the boundary layers" plate')

    assert query.phrases == (("the", "boundari", "layer"),)
    assert query.terms == ("boundari", "layer", "heat", "plate")


def test_typographic_quotes_are_quotes():
    assert parse("„boundary layer“").phrases == parse('"boundary layer"').phrases


def test_a_quote_that_is_never_closed_quotes_nothing():
    query = parse('wing "flow over')

    assert (query.terms, query.phrases) == (("wing", "flow", "over"), ())


def test_a_prefix_reaches_the_stems_of_its_words():
    assert parse("policy*").prefixes == ("polic",)
    assert all(analyse(word)[0].startswith("polic") for word in ("policy", "policies"))


def test_a_prefix_counts_as_a_term():
    assert parse("aero* wing").terms == ("aero*", "wing")


@pytest.mark.parametrize("text", ["*", "**", "a*b", "日本語*"])
def test_a_star_that_ends_no_single_word_makes_no_prefix(text):
    assert parse(text).prefixes == ()


@pytest.mark.parametrize("text", ["", "   ", '""', '"', '"" ""', "\x00", "()", "AND OR", "-+:^~\\/[]{}"])
def test_a_query_without_words_asks_for_nothing(text):
    query = parse(text)

    assert set(query.terms) <= {"and", "or"}
    assert (query.phrases, query.prefixes) == ((), ())


def test_of_a_very_long_query_the_first_words_count():
    query = parse(" ".join(f"word{number}" for number in range(5000)))

    assert query.terms == tuple(f"word{number}" for number in range(MAX_TERMS))


@given(st.text(max_size=200))
def test_any_text_can_be_parsed(text):
    query = parse(text)

    assert len(query.terms) == len(set(query.terms)) <= MAX_TERMS
    assert all(query.phrases) and all(query.prefixes)
