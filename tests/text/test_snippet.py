import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weftwork.text.analysis import UNSPACED
from weftwork.text.snippet import WINDOW, excerpt

LONG = "Filler words stand here for a while. " * 30
MARKED = re.compile("<<<(.*?)>>>", re.DOTALL)


def test_the_words_of_the_query_are_marked():
    assert excerpt("The mirror cell holds it.", "mirror cell") == "The <<<mirror>>> <<<cell>>> holds it."


def test_words_are_matched_by_their_stem_and_whatever_their_case():
    assert excerpt("Mirrors were POLISHED.", "polishing a mirror") == "<<<Mirrors>>> were <<<POLISHED>>>."


def test_parts_of_a_compound_are_marked_where_it_does_not_stand_itself():
    assert excerpt("user_name and getUserName", "getUserName") == "user_name and <<<getUserName>>>"
    assert excerpt("the user and FY2022", "userGroup") == "the <<<user>>> and FY2022"


def test_only_whole_words_are_marked():
    assert excerpt("cell cellar", "cell") == "<<<cell>>> cellar"


def test_a_short_text_without_a_match_is_shown_whole():
    assert excerpt("Nothing of that.", "mirror") == "Nothing of that."


def test_white_space_becomes_single_spaces():
    assert excerpt("one\n\n  two\tthree", "two") == "one <<<two>>> three"


def test_a_long_text_without_a_match_is_shown_from_its_start():
    shown = excerpt(LONG, "mirror")
    assert LONG.startswith(shown.removesuffix(" …"))
    assert shown.endswith(" …")
    assert len(shown) <= WINDOW + 2


def test_a_match_deep_inside_a_long_text_is_shown_with_marks_where_text_is_left_out():
    shown = excerpt(LONG + "Here the mirror is named. " + LONG, "mirror")
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert "Here the <<<mirror>>> is named." in shown


def test_a_match_at_the_end_of_a_long_text_is_shown():
    shown = excerpt(LONG + "At last the mirror", "mirror")
    assert shown.endswith("At last the <<<mirror>>>")
    assert shown.startswith("… ")


def test_the_stretch_with_most_of_the_words_is_shown():
    shown = excerpt("One mirror. " + LONG + "The mirror cell and the mirror base. " + LONG, "mirror cell base")
    assert "The <<<mirror>>> <<<cell>>> and the <<<mirror>>> <<<base>>>." in shown


@pytest.mark.parametrize("space", [" ", "\n"])
def test_a_stretch_begins_and_ends_with_whole_words(space):
    words = [f"word{n}" for n in range(200)]
    shown = excerpt(space.join(words), "word100")
    assert "<<<word100>>>" in shown
    assert set(shown.replace("<<<", "").replace(">>>", "").split()) <= {*words, "…"}


def test_the_length_and_the_marks_can_be_chosen():
    shown = excerpt(LONG + "the mirror " + LONG, "mirror", length=40, start="[", stop="]")
    assert "[mirror]" in shown
    assert len(shown) <= 40 + len("[]") + len("… ") + len(" …")


@pytest.mark.parametrize(("text", "query"), [("", "mirror"), ("mirror", ""), ("", ""), ("   ", "x")])
def test_nothing_gives_nothing_marked(text, query):
    assert "<<<" not in excerpt(text, query)


@pytest.mark.parametrize("text", ["\n" * 3 + "x" * 300, " mirror" + "y" * 300, "x" * 300 + " " * 300])
def test_a_text_with_few_spaces_is_shown_too(text):
    assert excerpt(text, "mirror").strip("… ")


WORDS = st.sampled_from(
    ["mirror", "Mirrors", "base", "漢字", "naïve", "x", "42", "…", "\n", "  ", "👩‍👩‍👧", "don't", "word" * 60]
)
LETTER = rf"(?![{UNSPACED}])\w"
"""A letter of a word; characters that are written without spaces are words of their own."""
TEXTS = st.one_of(
    st.text(max_size=500), st.lists(WORDS, max_size=200).map(" ".join), st.lists(WORDS, max_size=200).map("\n".join)
)


@given(TEXTS, TEXTS, st.integers(1, 300))
def test_any_text_and_query_give_balanced_marks_around_words_of_the_text(text, query, length):
    assume("<<<" not in text and ">>>" not in text)
    shown = excerpt(text, query, length=length)
    assert shown.count("<<<") == shown.count(">>>") == len(MARKED.findall(shown))
    for word in MARKED.findall(shown):
        assert re.search(rf"(?<!{LETTER}){re.escape(word)}(?!{LETTER})", text)
    assert " ".join(shown.replace("<<<", "").replace(">>>", "").split()).strip("… ") in " ".join(text.split())


@given(TEXTS, TEXTS, st.integers(1, 300))
def test_an_excerpt_is_never_much_longer_than_asked_for(text, query, length):
    assume("<<<" not in text and ">>>" not in text)
    shown = excerpt(text, query, length=length)
    assert len(shown.replace("<<<", "").replace(">>>", "")) <= length + len("… ") + len(" …")


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), min_size=1, max_size=300), st.integers(50, 300))
def test_a_word_of_the_query_that_is_in_the_text_is_shown_and_marked(words, length):
    text = " ".join([*words, "mirror", *words])
    assert "<<<mirror>>>" in excerpt(text, "mirror", length=length)


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("मुख्य दर्पण का निरीक्षण", "दर्पण", "मुख्य <<<दर्पण>>> का निरीक्षण"),
        ("主镜于四月检查，由伊达负责。", "主镜检查", "<<<主镜>>>于四月<<<检查>>>，由伊达负责。"),
        ("กระจกหลักถูกตรวจ", "หลัก", "กระจก<<<หลัก>>>ถูกตรวจ"),
    ],
)
def test_marks_never_stand_inside_of_a_letter_or_around_a_whole_sentence(text, query, marked):
    assert excerpt(text, query) == marked
