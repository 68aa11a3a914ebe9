import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weftwork.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n ", []),
        ("No end", ["No end"]),
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ('He said "stop." Then (at last!) he left.', ['He said "stop."', "Then (at last!) he left."]),
        ("Pi is 3.14 or so. See weftwork.pack for more.", ["Pi is 3.14 or so.", "See weftwork.pack for more."]),
        ("Dr. Ada met J. Doe, e.g. Friday. It rained.", ["Dr. Ada met J. Doe, e.g. Friday.", "It rained."]),
        ("It was built in 1890. Later it fell.", ["It was built in 1890.", "Later it fell."]),
        ("今日は晴れ。明日は？「雨！」と言った。", ["今日は晴れ。", "明日は？", "「雨！」", "と言った。"]),
        ("A heading\nA line. Another", ["A heading", "A line.", "Another"]),
        ("a wrapped line\ngoes on here. Next", ["a wrapped line\ngoes on here.", "Next"]),
        (
            "To add or remove keys you need to execute\n`sops updatekeys -y` for each file. Then commit.",
            ["To add or remove keys you need to execute\n`sops updatekeys -y` for each file.", "Then commit."],
        ),
        (
            "## A heading that is as long as a line may be\n`code`.",
            ["## A heading that is as long as a line may be", "`code`."],
        ),
        (
            "The commands of this chapter are these:\n`a`\n`b`",
            ["The commands of this chapter are these:", "`a`", "`b`"],
        ),
        ("first paragraph\n\nsecond paragraph", ["first paragraph", "second paragraph"]),
        ("todo:\n- milk\n- bread\n1. eggs", ["todo:", "- milk", "- bread", "1. eggs"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert [sentence.text for sentence in split_sentences(text)] == expected


@settings(deadline=None)
@given(st.text(st.sampled_from("aB1 .!?。\n-\t\"')…é"), max_size=80) | st.text())
def test_sentences_keep_their_place_and_lose_nothing_but_white_space(text):
    sentences = split_sentences(text)
    assert all(text[sentence.start : sentence.end] == sentence.text for sentence in sentences)
    assert "".join("".join(sentence.text.split()) for sentence in sentences) == "".join(text.split())
    assert all(before.end <= after.start for before, after in itertools.pairwise(sentences))
