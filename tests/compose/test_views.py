"""Files that hold views of a program count less than what people write."""

from types import SimpleNamespace
from typing import Any

import pytest

from weftwork.compose.ordering import WithEvidence
from weftwork.compose.views import WEIGHT, is_view
from weftwork.query import read_query
from weftwork.store.contract.kit import NOW

from .making import candidate

TEMPLATE = candidate("t", "---\nrating:\ncreated: {{date}}\n---", type="page", title="Book Template")
VIEW = candidate("v", "views:\n  - type: table", key=1, type="file", title="Books.base")


@pytest.mark.parametrize(
    ("query", "given", "expected"),
    [
        ("which books do I own?", VIEW, True),
        ("how does Books.base sort?", VIEW, False),
        ("how does the books base sort?", VIEW, False),
        ("which notebooks base their order on it?", VIEW, True),
        ("which books do I own?", candidate("n", "a note", type="page", title="Books.base"), False),
        ("which books do I own?", candidate("n", "![[Books.base#Author]]\n\n![[Clips.base]]", type="heading"), True),
        ("which books do I own?", candidate("n", "All of them: ![[Books.base]]", type="page"), False),
        ("which books do I own?", candidate("n", "![[cover.png]]", type="page"), False),
        ("which books do I own?", TEMPLATE, True),
        ("what is in the book template?", TEMPLATE, False),
        ("which books do I own?", candidate("n", "---\nrating: 7\n---\nUse {{title}} in it.", type="page"), False),
        ("which books do I own?", candidate("n", "Use {{title}} in it.", type="page"), False),
        ("[[Books]]", candidate("n", "![[Books.base]]", type="page", asked=True), False),
    ],
)
def test_a_view_is_a_file_of_a_program_or_a_note_that_only_embeds_it_unless_it_is_named(query, given, expected):
    assert is_view(given, read_query(query, NOW)) is expected


def test_a_view_stands_behind_a_note_with_nearly_as_much_evidence():
    note = candidate("n", "a note", key=2, type="page", title="Books", score=0.4)
    inquiry: Any = SimpleNamespace(
        evidence={1: 0.5, 2: 0.4}, given_keys=frozenset(), question=read_query("which books do I own?", NOW)
    )
    kept, left_out = WithEvidence(0.6, noise=0.4)(inquiry, [VIEW, note])
    assert [(each.node.id, each.score) for each in kept] == [("n", 0.4), ("v", pytest.approx(WEIGHT * 0.5))]
    assert not left_out
