"""Passages become the pages that they stand on."""

import pytest

from weftwork import Node, Weft
from weftwork.recipe import get_recipe

LONG = "\n\n".join(f"Quinces are praised in paragraph {number} of this page, at some length." for number in range(60))


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "a.weft") as weft:
        pages = {1: LONG, 2: "A quince.", 3: "Nothing of the kind."}
        nodes = [
            Node(id=f"d#page={n}", type="document_page", parent="d", position=n, text=text, title=f"d.pdf, page {n}",
                 fields={"page": n, "filename": "d.pdf"})
            for n, text in pages.items()
        ]  # fmt: skip
        weft.add([Node(id="d", type="document", title="d.pdf"), Node(id="note", text="quince quince"), *nodes])
        yield weft


def test_many_passages_of_a_page_are_one_candidate_with_all_of_its_text(weft):
    context = weft.context("quinces", recipe="research", budget=20_000)
    found = [(item.candidate.node.id, item.candidate.passage.text) for item in context.items]
    assert dict(found)["d#page=1"] == LONG
    assert len(found) == len(dict(found))
    assert "note" not in dict(found) and "d" not in dict(found)


def test_many_notes_do_not_crowd_the_pages_out(weft):
    """Neither those with the words of the question nor those that mean the same."""
    before = weft.context("quinces", recipe="research", budget=20_000)
    weft.add([Node(id=f"note-{n}", text=f"Quinces, and quinces again: note {n} on quinces.") for n in range(300)])
    after = weft.context("quinces", recipe="research", budget=20_000)
    assert [item.candidate.node.id for item in after.items] == [item.candidate.node.id for item in before.items]
    by_meaning = {found.collector for item in after.items for found in item.candidate.findings}
    assert by_meaning == {"lexical", "semantic", "visual"}


def test_the_citation_of_a_page_leads_back_to_it(weft):
    context = weft.context("quinces", recipe="research", budget=20_000)
    for citation in context.citations:
        assert weft.node(citation.id).id == citation.node
        assert (citation.start, citation.end) == (0, len(weft.node(citation.node).text))


def test_each_collector_keeps_its_name_in_the_trace(weft):
    names = [collector.name for collector in get_recipe("research").collectors]
    assert names == ["lexical", "semantic", "visual"]
    decision = next(
        decision for decision in weft.context("a quince", recipe="research").trace if decision.node == "d#page=2"
    )
    assert {finding.collector for finding in decision.findings} == set(names)


def test_filters_hold_for_pages(weft):
    from weftwork import Filters

    context = weft.context(
        "quinces", recipe="research", filters=Filters(exclude=frozenset({"d#page=2"})), budget=20_000
    )
    assert "d#page=2" not in {item.candidate.node.id for item in context.items}
