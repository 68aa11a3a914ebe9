"""Numbered sources from notes of all kinds."""

import pytest

from weftwork import Node, Weft
from weftwork.faces.research import research

NOTES = [
    Node(id="orphans", type="page", title="Orphans", source="tools/orphans.md"),
    Node(
        id="panel", type="section", title="The panel", parent="orphans", position=1, text="Lone notes are listed there."
    ),
    Node(id="shell", type="section", title="In the shell", parent="orphans", position=2, text="Type list."),
    Node(id="bare", type="page", title="Orphans of the year", source="bare.md"),
]


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder="hashing") as weft:
        weft.add(NOTES)
        yield weft


def test_a_title_without_a_text_gives_its_place_to_what_stands_below_it(weft):
    found = research(weft, "orphans", user="me", workspace="main", min_support=0)
    assert found.sources[0].node_id in {"panel", "bare"}
    shown = {source.node_id: source.markdown_content for source in found.sources}
    assert "Lone notes are listed there." in shown["panel"]
    assert "orphans" not in shown
    reasons = {decision.node: decision.reason for decision in found.context.trace}
    assert reasons["orphans"] == "a title alone: what stands below it is shown"


def test_the_section_below_a_title_that_answers_best_has_its_place(weft):
    found = research(weft, "orphans shell", user="me", workspace="main", min_support=0)
    assert [source.node_id for source in found.sources].count("shell") == 1
    assert found.sources[0].node_id == "shell"


def test_what_is_hidden_below_a_title_takes_no_place(weft):
    weft.add([Node(id="secret", type="page", title="Mirrors", source="mirrors.md")])
    weft.add(
        [Node(id="below", type="section", parent="secret", text="Mirrors of the king.", access=frozenset({"ben"}))]
    )
    weft.add_user("ben")
    found = research(weft, "mirrors", user="me", workspace="main", min_support=0)
    assert "king" not in found.formatted_text
    assert "below" not in {source.node_id for source in found.sources}
