"""The four forbidden patterns of the workspace contract (9); permissions have a property test of their own as well."""

import json

import pytest

from weftwork import sample
from weftwork.faces.workspace import Focus, TokenBudget
from weftwork.store.contract.kit import node

from .desk import blocks, shown

HUGE = TokenBudget(
    total=10**6, focus=10**6, semantic=10**6, relations=10**6, activity=10**6, history=10**6, system=0
)  # fmt: skip


def test_never_the_entire_workspace(empty):
    empty.weft.add([node(f"n{n:03}", f"quince number {n} in jar{n}") for n in range(400)])
    payload = empty.build("quince", focus=Focus(block_id="n000"), token_budget=HUGE)
    assert payload.metadata.blocks_considered <= 40
    assert 10 <= payload.metadata.blocks_included <= 40


def test_not_even_a_page_that_holds_everything(empty):
    empty.weft.add([node("page"), *(node(f"n{n:03}", f"jar{n}", parent="page", position=n) for n in range(400))])
    payload = empty.build("?", focus=Focus(page_id="page"), token_budget=HUGE)
    assert payload.metadata.blocks_considered == 6  # itself, and five of the pages in it


@pytest.mark.parametrize("count", [1000, 3000])
def test_a_page_is_shown_whole_only_as_far_as_its_section_goes(empty, count):
    inside = [node(f"n{n:04}", f"jar{n}", parent="page", position=n, type="paragraph", title="") for n in range(count)]
    empty.weft.add([node("page"), *inside])
    payload = empty.build("?", focus=Focus(page_id="page"), token_budget=TokenBudget())
    assert 1000 < payload.metadata.total_tokens <= 1600
    assert 100 < payload.metadata.blocks_included < 500
    names = [block for block in shown(payload, "focus") if block != "page"]
    assert names == [each.id for each in inside[: len(names)]]


@pytest.mark.parametrize("kind", ["assist", "chat", "search", "automate"])
def test_never_without_permission(studio, kind):
    query = "private loan bank salary terms withhold cash overdue tasks"
    anas = studio.build(query, type=kind, token_budget=HUGE)
    bens = studio.as_user("ben").build(query, type=kind, token_budget=HUGE)
    hidden = {"terms", "terms-limit", "private", "private-pay", "private-cash", "private-loan"}
    assert hidden & {name for each in anas.sections for name in blocks(anas, each.type)}
    shown = json.dumps(bens.to_dict()).replace(query, "").replace("private-ben", "")  # a page of his own
    titles = [studio.weft.node(name, user="ana", workspace=sample.WORKSPACE).title for name in hidden]
    assert not [word for word in (*hidden, *titles, "bridging", "492 euros") if word and word in shown]


@pytest.mark.parametrize("total", [1, 50, 120, 300, 1000, 4000])
def test_never_beyond_the_budget(studio, total):
    for focus in (None, Focus(page_id="finch"), Focus(block_id="t-mirrors"), Focus(database_id="suppliers")):
        payload = studio.build("mirrors", focus=focus, token_budget=TokenBudget(total=total, system=0))
        assert studio.builder.estimate_tokens(payload) <= total
        assert studio.builder.validate(payload).valid


def test_never_the_same_for_all_requests(studio):
    texts = {
        studio.build(query, focus=focus, type=kind).serialized.partition("User Query:")[0]
        for query, focus, kind in (
            ("mirrors", None, "assist"),
            ("mirrors", None, "search"),
            ("foam", None, "assist"),
            ("mirrors", Focus(block_id="t-card"), "assist"),
            ("mirrors", Focus(page_id="about"), "assist"),
        )
    }
    assert len(texts) == 5
    assert studio.build("mirrors").serialized != studio.as_user("ben").build("mirrors").serialized


def test_nor_the_same_after_something_was_written(empty):
    empty.weft.add([node("n", "quince jelly")])
    before = empty.build("quince")
    empty.weft.add([node("n", "quince jam")])
    assert before.serialized != empty.build("quince").serialized
