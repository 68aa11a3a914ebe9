"""Documents of a real store, composed from what was found in them."""

import pytest

from weftwork.collect import Inquiry, LexicalCollector, gather
from weftwork.compose.compose import FEWEST_NODES, SURROUNDINGS, TOKENS_A_NODE, compose
from weftwork.query import read_query
from weftwork.request import Request
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.sqlite import SqliteStore
from weftwork.types import Budget

LINES = 30


@pytest.fixture
def inquiry(tmp_path):
    store = SqliteStore(tmp_path / "store.weft", clock=lambda: NOW)
    lines = [node(f"line{n}", f"line {n}", type="paragraph", parent="page", position=n) for n in range(LINES)]
    put(opened(store), node("page", "about quinces"), *lines)
    asked = Request(query="quinces", workspace=WORKSPACE, user="ana", budget=Budget(total=50))
    with store.view(WORKSPACE, "ana") as view:
        yield Inquiry(view, asked, read_query("quinces", NOW), NOW, EMBEDDER)
    store.close()


def test_what_was_found_stays_as_it_was_found_and_what_stands_around_it_is_read(inquiry):
    found = gather(inquiry, [LexicalCollector()])
    composition = compose(inquiry, found)
    (offered,) = composition.offers
    loaded = composition.load(offered.reading.keys)
    assert [each.node.id for each in loaded.values()] == ["page", *(f"line{n}" for n in range(LINES))]
    assert loaded[found[0].key] is found[0]
    assert {each.findings[0].collector for each in loaded.values() if each is not found[0]} == {SURROUNDINGS}
    assert composition.load([10**9]) == {}


def test_a_small_budget_sees_a_document_as_a_large_one_does(inquiry):
    assert inquiry.request.budget.total // TOKENS_A_NODE < LINES < FEWEST_NODES
    (offered,) = compose(inquiry, gather(inquiry, [LexicalCollector()])).offers
    assert len(offered.reading.nodes) == 1 + LINES
