"""What was asked for stands in every context that can hold a line for it, whatever the recipe."""

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from weftwork import Node, Weft
from weftwork.request import Topic

NOW = datetime(2026, 3, 16, 9, 0, tzinfo=UTC)
PARAGRAPHS = 300
MANY = 1_500
RECIPES = ("default", "graph", "workspace")
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "its title": ("Long walk", {}),
    "a link to its title": ("[[Long walk]]: what is in it?", {}),
    "its id": ("walk-1", {}),
    "the focus": ("What is in it?", {"focus": "walk-1"}),
    "an id that is included": ("What is in it?", {"include": ("walk-1",)}),
}


def said(number):
    return f"Paragraph {number} tells of the {number}th day."


def paragraphs(page, count):
    return [Node(id=f"{page}/{n}", type="paragraph", parent=page, position=n, text=said(n)) for n in range(count)]


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("asked") / "n.weft", clock=lambda: NOW) as weft:
        page = Node(id="walk-1", type="page", title="Long walk")
        weft.add(
            [
                page,
                *paragraphs(page.id, PARAGRAPHS),
                Node(id="copy", type="page", title="Copied", text=said(7)),
                Node(id="tree", type="page", title="Quince tree", text="Quinces are picked in October."),
            ]
        )
        yield weft


def test_fifteen_hundred_paragraphs_are_there_whole_if_asked_for_by_name(tmp_path):
    with Weft.open(tmp_path / "n.weft", clock=lambda: NOW, embedder=None) as weft:
        weft.add([Node(id="walk-1", type="page", title="Long walk"), *paragraphs("walk-1", MANY)])
        context = weft.context("Long walk", budget=200_000)
    places = [context.text.find(said(number)) for number in range(MANY)]
    assert -1 not in places
    assert places == sorted(places)
    assert context.ended != "budget"


@pytest.mark.parametrize(("way", "recipe"), list(product(WAYS, RECIPES)))
def test_a_long_page_is_there_whole_and_in_order_where_the_budget_holds_it(weft, way, recipe):
    query, more = WAYS[way]
    text = weft.context(query, budget=50_000, recipe=recipe, **more).text
    places = [text.find(said(number)) for number in range(PARAGRAPHS)]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize(("way", "recipe", "budget"), list(product(WAYS, RECIPES, (150, 1_000))))
def test_what_does_not_fit_whole_is_there_in_part_first_in_its_section(weft, way, recipe, budget):
    query, more = WAYS[way]
    context = weft.context(query, budget=budget, recipe=recipe, **more)
    (section,) = [part for part in context.sections if any(each.document.id == "walk-1" for each in part.excerpts)]
    assert section.excerpts[0].document.id == "walk-1"
    assert context.tokens == weft.tools.counter.count(context.text) <= budget


def test_what_does_not_even_fit_by_name_is_named_by_a_warning(weft):
    context = weft.context("[[Long walk]] [[Quince tree]]", budget=20)
    assert context.tokens <= 20
    (warning,) = context.warnings
    assert "was asked for and does not fit into 20 tokens, not even by name" in warning
    assert ("Long walk" in warning) != ("Long walk" in context.text)
    assert ("Quince tree" in warning) != ("Quince tree" in context.text)


def test_what_does_not_exist_is_named_by_a_warning(weft):
    context = weft.context("[[Nowhere]] and quinces", include=("nope",))
    assert any("'Nowhere'" in warning for warning in context.warnings)
    assert any("'nope'" in warning for warning in context.warnings)
    assert "picked in October" in context.text


def test_topics_that_name_a_node_bring_it(weft):
    context = weft.context("What is picked?", topics=(Topic("Quince tree"), Topic("Copied")), recipe="graph")
    assert {"tree", "copy"} <= {each.document.id for each in context.excerpts}


def test_no_citation_costs_more_than_four_tokens(weft):
    citations = weft.context("day", budget=50_000).citations
    assert len(citations) > 100
    assert max(weft.tools.counter.count(f"{citation.id}") for citation in citations) <= 4
