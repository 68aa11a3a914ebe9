"""Tokenizing and stemming of texts and queries."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.text.analysis import MAX_TERMS, analyse, length, parse, query_terms, spaced
from weftwork.text.languages import FUNCTION_WORDS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Running Foxes", ["the", "run", "fox"]),
        ("Café naïve", ["cafe", "naiv"]),
        ("cafe\u0301", ["cafe"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("foo_bar-baz.qux", ["foo", "bar", "baz", "barbaz", "qux"]),
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


def test_words_are_optional_and_count_more_when_repeated():
    query = parse("wing flow wings heat")

    assert (list(query.terms), query.phrases, query.prefixes) == (["wing", "flow", "heat"], (), ())
    assert query.terms["flow"] == query.terms["heat"] == 1 < query.terms["wing"] < 2


def test_words_that_also_count_have_their_own_weight_unless_the_query_has_them():
    query = parse("wing flow", {"planes": 0.5, "wings": 0.5})

    assert query.terms == {"plane": 0.5, "wing": 1, "flow": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("parseHTMLPage", ["parsehtmlpag", "pars", "html", "page"]),
        ("FY2022", ["fy2022", "2022"]),
        ("UTF-8 and utf8", ["utf", "8", "utf8", "and", "utf8"]),
        ("e-mail", ["e", "mail", "email"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("iPhone k4f7a2 x1 unique3", ["iphon", "k4f7a2", "x1", "unique3"]),
        ("Grüße-aus getÜber", ["gruss", "aus", "grusseaus", "getub"]),
    ],
)
def test_compounds_are_found_by_their_parts_and_codes_only_whole(text, words):
    assert analyse(text) == words


def test_stop_words_do_not_count_unless_there_is_nothing_else():
    assert parse("what is the pressure of it").terms == {"pressur": 1}
    assert list(parse("to be or not to be").terms) == ["to", "be", "or", "not"]
    assert query_terms(["the", "wing"]) == ("wing",)


def test_a_phrase_is_required_and_its_words_count():
    query = parse('heat "the boundary layers" plate')

    assert query.phrases == ((("the", "boundari", "layer"),),)
    assert list(query.terms) == ["boundari", "layer", "heat", "plate"]


def test_typographic_quotes_are_quotes():
    assert parse("„boundary layer“").phrases == parse('"boundary layer"').phrases


def test_a_quote_that_is_never_closed_quotes_nothing():
    query = parse('wing "flow over')

    assert (list(query.terms), query.phrases) == (["wing", "flow", "over"], ())


def test_a_prefix_reaches_the_stems_of_its_words():
    assert parse("policy*").prefixes == ("polic",)
    assert all(analyse(word)[0].startswith("polic") for word in ("policy", "policies"))


def test_a_prefix_counts_as_a_term():
    assert list(parse("aero* wing").terms) == ["aero*", "wing"]


@pytest.mark.parametrize("text", ["*", "**", "a*b", "日本語*"])
def test_a_star_that_ends_no_single_word_makes_no_prefix(text):
    assert parse(text).prefixes == ()


@pytest.mark.parametrize("text", ["", "   ", '""', '"', '"" ""', "\x00", "()", "AND OR", "-+:^~\\/[]{}"])
def test_a_query_without_words_asks_for_nothing(text):
    query = parse(text)

    assert set(query.terms) <= {"and", "or"}
    assert (query.phrases, query.prefixes) == ((), ())


def test_of_a_very_long_query_the_first_words_count():
    words = [f"{a}{b}{c}" for a, b, c in product("bcdfg", "aou", "bcdfgklmpr")]
    query = parse(" ".join(words))

    assert list(query.terms) == words[:MAX_TERMS]


@given(st.text(max_size=200))
def test_any_text_can_be_parsed(text):
    query = parse(text)

    assert len(query.terms) == len(set(query.terms)) <= MAX_TERMS
    assert all(query.phrases) and all(query.prefixes)


@given(
    st.text(max_size=80) | st.sampled_from(["Die e-Mails des getUserName, FY2022", "東京都は 大きい", "Köln’s œuvre"])
)
def test_a_text_has_as_many_stems_in_every_language(text):
    assert {len(analyse(text, language)) for language in FUNCTION_WORDS} == {length(text)}
