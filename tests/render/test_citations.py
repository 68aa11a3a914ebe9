import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.render import citation_id, citations_of, get_template
from weftwork.types import Citation, Item

from .hostile import PROPERTY
from .sample import candidate, renderer


def test_an_id_never_changes():
    assert citation_id("file", "notes/a.md", "Hello") == "fil-hfy1d7ya0y"


def test_an_id_is_the_same_in_another_process_with_another_hash_seed():
    code = "from weftwork.render import citation_id; print(citation_id('fact', 'é', 'text'))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert other.stdout.strip() == citation_id("fact", "é", "text")


@pytest.mark.parametrize(
    ("type", "prefix"), [("file", "fil"), ("Db_Row", "dbr"), ("h1", "hxx"), ("заметка", "xxx"), ("", "xxx")]
)
def test_the_prefix_is_three_letters_of_the_type(type: str, prefix: str):
    assert citation_id(type, "n", "t").startswith(f"{prefix}-")


@PROPERTY
@given(st.text(), st.text(), st.text(), st.integers(min_value=0, max_value=9))
def test_an_id_has_the_form_that_readers_know(type: str, node: str, text: str, occurrence: int):
    assert re.fullmatch(r"[a-z]{3}-[0-9a-z]{10}", citation_id(type, node, text, occurrence))


def test_node_text_and_occurrence_each_make_another_id():
    ids = {
        citation_id("file", "a", "x"),
        citation_id("file", "b", "x"),
        citation_id("file", "a", "y"),
        citation_id("file", "a", "x", 1),
        citation_id("file", "a\0", "x"),
    }
    assert len(ids) == 5


def test_citations_come_in_the_order_of_the_text_each_once():
    render = renderer(get_template("default"))
    first, second = candidate("One.", id="1", type="file", score=0.7), candidate("Two.", id="2")
    items = [Item(found, render.full(found)) for found in (first, second, first)]
    cited = citations_of(items)
    assert [citation.node for citation in cited] == ["1", "2"]
    assert cited[0] == Citation(first.passage.citation, "1", "file", "Launch plan", "notes/1.md", 0, 4, 0.7)
