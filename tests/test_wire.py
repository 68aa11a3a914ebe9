"""Values as JSON and back."""

import json
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork.errors import InvalidInput
from weftwork.receipts.values import Receipt
from weftwork.types import Context, Filters, Node, Passage, Reached, Step
from weftwork.wire import decode, encode

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.none() | st.booleans() | NUMBERS | NAMES | st.lists(NAMES, max_size=3).map(tuple)
NODES = st.builds(
    Node,
    id=NAMES,
    parent=st.none() | NAMES,
    tags=st.lists(NAMES, max_size=3).map(tuple),
    fields=st.dictionaries(NAMES, VALUES, max_size=4),
    confidence=st.none() | st.floats(0, 1),
    created_at=st.none() | MOMENTS,
    access=st.none() | st.frozensets(NAMES, max_size=3),
    text=NAMES,
)


JSON = st.recursive(
    VALUES | st.floats() | st.just(10**400) | st.just("2026-03-01T00:00:00Z"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def sent(value):
    return json.loads(json.dumps(encode(value), allow_nan=False))


@settings(max_examples=60, deadline=None)
@given(node=NODES)
def test_a_node_comes_back_as_it_was(node):
    back = decode(Node, sent(node))
    assert back == node
    assert {name: type(value) for name, value in back.fields.items()} == {
        name: type(value) for name, value in node.fields.items()
    }


def test_what_is_inside_comes_back_as_well():
    reached = Reached("b", 2, 1, (Step("child", "out", "b"), Step("about", "in", "c", "label")), "a", ("hub",))
    assert decode(Reached, sent(reached)) == reached
    filters = Filters(types=frozenset({"page"}), as_of=datetime(2026, 3, 1, tzinfo=UTC))
    assert decode(Filters, sent(filters)) == filters


def test_a_passage_does_not_tell_its_number():
    passage = Passage(0, 0, 4, "text", 1, "digest", "k482913", key=70_123)
    assert sent(passage)["key"] == 0
    assert "70123" not in json.dumps(sent(passage))


def test_half_a_character_and_numbers_without_an_end_are_replaced():
    assert sent({"\ud800": ["\udfff", float("inf"), float("nan")]}) == {"\ufffd": ["\ufffd", None, None]}


def test_what_a_newer_server_adds_is_passed_over():
    assert decode(Node, {"id": "a", "mood": "good"}) == Node(id="a")


@settings(max_examples=some(3000, part=50), deadline=None)
@given(kind=st.sampled_from([Node, Filters, Reached, Receipt, Context]), data=st.data())
@example(kind=Node, data={"id": "a", "confidence": 10**400})
def test_any_data_is_a_value_of_the_kind_or_is_refused(kind, data):
    if not isinstance(data, dict):
        data = data.draw(st.fixed_dictionaries({}, optional={field.name: JSON for field in fields(kind)}) | JSON)
    with suppress(InvalidInput):
        assert isinstance(decode(kind, data), kind)


@pytest.mark.parametrize(
    "data",
    [None, [], "a", {}, {"id": 5}, {"id": "a", "position": True}, {"id": "a", "tags": "ab"}, {"id": "a", "access": 5}],
)
def test_what_is_no_node_is_refused(data):
    with pytest.raises(InvalidInput, match="no Node"):
        decode(Node, data)
