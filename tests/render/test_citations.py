import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.identity import CITATION, LONGER, SHORT
from weftwork.render import citation_id, citations_of, get_template
from weftwork.text.tokens import get_counter
from weftwork.types import Citation

from .documents import Document, part
from .hostile import PROPERTY
from .sample import candidate, renderer


def test_an_id_never_changes():
    assert citation_id("notes/a.md", "Hello") == "c116126934976"
    assert citation_id("notes/a.md", "Hello", 1) != "c116126934976"


def test_an_id_is_the_same_in_another_process_with_another_hash_seed():
    code = "from weftwork.render import citation_id; print(citation_id('é', 'text'))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert other.stdout.strip() == citation_id("é", "text")


@PROPERTY
@given(st.text(), st.text(), st.integers(min_value=0, max_value=9))
def test_an_id_has_the_form_that_readers_know_short_longer_and_whole(node: str, text: str, occurrence: int):
    whole = citation_id(node, text, occurrence)
    assert len(whole) == 13
    for shown in (whole[:SHORT], whole[:LONGER], whole):
        assert CITATION.fullmatch(shown)
    assert whole[0] not in "ilo", "no letter looks like a digit"


@pytest.mark.parametrize(
    "text", ["k48291", "k4829130", "482913", "kk482913", "k482913 ", "K482913", "l482913", "é482913"]
)
def test_nothing_else_is_an_id(text: str):
    assert not CITATION.fullmatch(text)


@pytest.mark.parametrize("vocabulary", ["o200k_base", "cl100k_base"])
def test_a_citation_is_four_tokens_whichever_it_is(vocabulary: str):
    counter = get_counter(vocabulary)
    assert {counter.count(f"[{citation_id('n', str(number))[:SHORT]}]") for number in range(500)} == {4}


def test_node_text_and_occurrence_each_make_another_id():
    ids = {
        citation_id("a", "x"),
        citation_id("b", "x"),
        citation_id("a", "y"),
        citation_id("a", "x", 1),
        citation_id("a\0", "x"),
        citation_id("", "a\0x"),
    }
    assert len(ids) == 6


def test_citations_come_in_the_order_of_the_text_each_once():
    render = renderer(get_template("default"))
    first, second = candidate("One.", id="1", type="file", score=0.7), candidate("Two.", id="2")
    cited = citations_of([render.full(found) for found in (first, second, first)])
    assert [citation.node for citation in cited] == ["1", "2"]
    assert cited[0] == Citation(first.passage.citation, "1", "file", "Launch plan", "notes/1.md", 0, 4, 0.7)


def test_every_passage_of_an_excerpt_can_be_cited_whether_it_was_found_or_not():
    page = Document(part("paragraph", "One. ", "Two."), part("todo", title="Call Bo"), text="Lead.", hits=(3,))
    cited = citations_of([page.excerpt(1, 3, 4), page.renderer().line(page.offer)])
    assert [(each.id, each.node, each.type, each.title) for each in cited] == [
        ("k000001", "doc", "page", "Handbook"),
        ("k000003", "n1", "paragraph", ""),
        ("k000004", "n2", "todo", "Call Bo"),
    ]
