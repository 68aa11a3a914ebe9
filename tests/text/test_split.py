from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.errors import InvalidInput
from weftwork.text.split import LONGEST, prepare, spans
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Node

TEXTS = st.one_of(
    st.text(max_size=4000),
    st.lists(
        st.sampled_from(["word ", "A sentence. ", "\n\n", "# Heading\n", "x" * 500, "漢字。", " "]), max_size=300
    ).map("".join),
)


@given(TEXTS)
def test_passages_tile_the_text_and_none_is_too_long(text):
    found = spans(text)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(end - start <= LONGEST for start, end in found)
    assert [start for start, _ in found] == [0, *(end for _, end in found[:-1])]


def test_a_short_text_stays_whole_and_an_empty_one_has_a_passage():
    assert spans("short") == [(0, 5)]
    assert spans("") == [(0, 0)]


def test_long_text_is_cut_between_paragraphs():
    paragraph = "Some words of a paragraph that goes on for a while. " * 12
    text = f"{paragraph}\n\n{paragraph}\n\n{paragraph}\n\n{paragraph}"
    assert all(text[end - 2 : end] == "\n\n" for _, end in spans(text)[:-1])


def test_citations_are_the_same_for_the_same_text_and_differ_otherwise():
    text = "The same paragraph again. " * 100
    first = prepare(Node(id="n", text=text), CharacterCounter())
    again = prepare(Node(id="n", text=text, title="Other title"), CharacterCounter())
    other = prepare(Node(id="m", text=text), CharacterCounter())
    ids = [passage.citation for passage in first.passages]
    assert ids == [passage.citation for passage in again.passages]
    assert len({*ids, *(passage.citation for passage in other.passages)}) == 2 * len(ids)


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""}, {"id": " "}, {"id": None}, {"id": "a\0b"}, {"type": ""}, {"text": b"bytes"}, {"title": None},
        {"confidence": 1.5}, {"confidence": float("nan")}, {"tags": ("",)}, {"tags": (1,)}, {"fields": {"": 1}},
        {"fields": {"x": float("inf")}}, {"fields": {"x": {1}}}, {"position": 2**70}, {"position": "1"},
    ],
    ids=str,
)  # fmt: skip
def test_a_node_that_cannot_be_kept_is_refused_with_its_name(change):
    with pytest.raises(InvalidInput):
        prepare(replace(Node(id="n"), **change), CharacterCounter())


def test_lone_surrogates_are_replaced_in_every_text():
    entry = prepare(
        Node(id="n", title="a\ud800", text="b\udfff", tags=("c\ud800",), fields={"d\ud800": "e\ud800"}),
        CharacterCounter(),
    )
    assert (entry.node.title, entry.node.text, entry.node.tags, dict(entry.node.fields)) == (
        "a\ufffd",
        "b\ufffd",
        ("c\ufffd",),
        {"d\ufffd": "e\ufffd"},
    )
