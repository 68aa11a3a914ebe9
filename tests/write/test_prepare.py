"""Nodes on their way in: what is refused, what is mended, and what their passages are called."""

from dataclasses import replace

import pytest

from weftwork.errors import InvalidInput
from weftwork.identity import text_hash
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Node
from weftwork.write.commit import Writer
from weftwork.write.embed import embedded_texts
from weftwork.write.prepare import prepare


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


def test_an_id_stands_once_in_a_call():
    writer = Writer(None, CharacterCounter(), None)
    assert [entry.node.id for entry in writer.prepare([Node(id="a"), Node(id="b")])] == ["a", "b"]
    with pytest.raises(InvalidInput, match="node 'a' stands twice in one call"):
        writer.prepare([Node(id="a"), Node(id="b"), Node(id="a", text="other")])


def test_what_is_embedded_is_what_the_digest_is_of():
    entry = prepare(Node(id="n", title="Coating", text="Aluminised.", fields={"_about": "Mirror"}), CharacterCounter())
    assert embedded_texts([entry]) == {text_hash("Mirror > Coating\nAluminised."): "Mirror > Coating\nAluminised."}
