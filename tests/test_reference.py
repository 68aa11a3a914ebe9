"""The names that people have for a node, and what they resolve to."""

import pytest

from weftwork import Node, Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.graph import ContextAssembler


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("names") / "names.weft", embedder="hashing") as engine:
        engine.add(
            [
                Node(id="sky", type="folder", title="Sky"),
                Node(
                    id="file:sky/star-chart.md", parent="sky", type="page", title="star-chart", text="Stars.",
                    source="/notes/sky/star-chart.md", fields={"aliases": ("Map of Stars", "Atlas")},
                ),
                Node(
                    id="file:sky/star-chart.md#h", parent="file:sky/star-chart.md", type="heading", title="Star Chart",
                    text="How it is drawn.", source="/notes/sky/star-chart.md",
                ),
                Node(
                    id="file:sky/moons.md", parent="sky", type="page", title="The Moons of Jupiter", text="Io.",
                    source="/notes/sky/moons.md",
                ),
                Node(id="tana:top#yDxkEdM0O5gT", type="list_item", text="A bullet.", source="tana:yDxkEdM0O5gT"),
                Node(id="one", type="page", title="Tools", text="A hammer.", source="/notes/a/tools.md"),
                Node(id="two", type="page", title="Tools", text="A saw.", source="/notes/b/tools.md"),
                Node(id="tpl", type="page", title="Daily Note Template", text="Today.", source="/t/Daily.md"),
            ]
        )  # fmt: skip
        yield engine


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("star chart", "file:sky/star-chart.md"),
        ("STAR-CHART", "file:sky/star-chart.md"),
        ("star-chart.md", "file:sky/star-chart.md"),
        ("sky/star-chart", "file:sky/star-chart.md"),
        ("map of stars", "file:sky/star-chart.md"),
        ("Atlas", "file:sky/star-chart.md"),
        ("moons.md", "file:sky/moons.md"),
        ("moons", "file:sky/moons.md"),
        ("the moons of jupiter", "file:sky/moons.md"),
        ("yDxkEdM0O5gT", "tana:top#yDxkEdM0O5gT"),
    ],
)
def test_the_names_that_people_have_are_read_and_walked_from(weft, name, node):
    assert weft.read(name).node.id == node
    assert ContextAssembler(weft).assemble(name).nodes[0].id == node


def test_where_several_have_the_name_all_are_named(weft):
    with pytest.raises(InvalidInput, match=r"may mean any of 2: one \(Tools, page\); two \(Tools, page\)"):
        weft.read("tools")
    document = ContextAssembler(weft).assemble("tools")
    assert {node.id for node in document.nodes if node.distance == 0} == {"one", "two"}
    assert any("one" in warning and "two" in warning for warning in document.meta.warnings)


def test_a_near_miss_is_answered_by_the_titles_that_may_be_meant(weft):
    with pytest.raises(NotFound, match="did you mean 'Daily Note Template'"):
        weft.read("Daily Note")
