import pytest

from weftwork.errors import InvalidInput, UnknownName
from weftwork.lens import BOOST, BUILTIN, Lens, Lenses, apply_lens
from weftwork.request import Request
from weftwork.types import Budget

CONTRACT = {
    "general": (("child", "parent", "reference", "field"), (), (), 3),
    "writing": (("child", "reference"), ("note", "draft", "writing", "article"), (), 2),
    "coding": (
        ("reference", "field"), ("spec", "architecture", "code", "decision"), ("status", "priority", "assignee"), 3,
    ),
    "planning": (("child", "field"), ("goal", "milestone", "task", "project"), ("due", "status", "blocked-by"), 4),
    "meeting-prep": (
        ("reference", "child"), ("person", "meeting", "action", "agenda"), ("attendees", "date", "status"), 2,
    ),
}  # fmt: skip


def request(**more):
    return Request(workspace="main", user="me", budget=Budget(total=100), **more)


def test_the_built_in_lenses_are_those_of_the_contract():
    told = {
        name: (lens.edge_types, lens.boost_tags, lens.include_fields, lens.max_depth) for name, lens in BUILTIN.items()
    }
    assert told == CONTRACT
    assert list(BUILTIN) == list(CONTRACT)
    assert all(lens.name == name and lens.description.endswith(".") for name, lens in BUILTIN.items())


def test_an_unknown_lens_is_refused_with_the_names_of_all():
    with pytest.raises(
        UnknownName, match="unknown lens 'fish-eye': use one of coding, general, meeting-prep, planning"
    ):
        Lenses().get("fish-eye")


def test_an_own_lens_stands_beside_the_built_in_ones_or_replaces_one():
    own = Lens(name="reading", boost_tags=("paper",))
    lenses = Lenses([own, Lens(name="coding", max_depth=1)])
    assert lenses.get("reading") is own
    assert lenses.get(own) is own
    assert lenses.get("coding").boost_tags == ()
    assert lenses.names() == (*CONTRACT, "reading")
    assert Lenses().get("coding").boost_tags == CONTRACT["coding"][1]


def test_a_table_of_the_settings_makes_a_lens():
    table = {
        "description": "Papers.",
        "priority_types": ["reference", "cites", "reference"],
        "boost_tags": ["paper"],
        "include_fields": ["year"],
        "max_depth": 1,
    }
    lens = Lens.from_mapping("reading", table)
    assert lens == Lens(
        name="reading",
        description="Papers.",
        edge_types=("reference", "cites"),
        boost_tags=("paper",),
        include_fields=("year",),
        max_depth=1,
    )
    assert Lens.from_mapping("reading", {k: v for k, v in lens.to_dict().items() if k != "name"}) == lens
    assert Lens.from_mapping("bare", {}) == Lens(name="bare", max_depth=5)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"boost": ["a"]}, "lens 'x' has an unknown setting 'boost': use description, priority_types, boost_tags"),
        ({"boost_tags": "a"}, "boost_tags of lens 'x' must be a list of names, such as .*, got 'a'"),
        ({"boost_tags": ["a", 1]}, "boost_tags of lens 'x' must be a list of names"),
        ({"include_fields": [" "]}, "include_fields of lens 'x' must be a list of names"),
        ({"priority_types": None}, "priority_types of lens 'x' must be a list of names"),
        ({"description": 5}, "description of lens 'x' must be text, got 5"),
        ({"max_depth": 0}, "lens 'x' has max_depth = 0: give a whole number from 1 to 5"),
        ({"max_depth": 6}, "max_depth = 6"),
        ({"max_depth": True}, "max_depth = True"),
        ({"max_depth": "2"}, "max_depth = '2'"),
        ({"max_depth": 2.0}, "max_depth = 2.0"),
    ],
)
def test_a_table_that_makes_no_lens_is_refused_with_the_fix(table, message):
    with pytest.raises(InvalidInput, match=message):
        Lens.from_mapping("x", table)


def test_a_lens_orders_edges_boosts_tags_shows_fields_and_caps_the_depth():
    seen = apply_lens(request(depth=5), BUILTIN["planning"])
    assert seen.edge_order == ("child", "field")
    assert seen.edge_types == ()
    assert seen.boosts == dict.fromkeys(("goal", "milestone", "task", "project"), BOOST)
    assert seen.key_fields == ("due", "status", "blocked-by")
    assert seen.depth == 4


def test_what_the_request_says_itself_comes_before_the_lens():
    asked = request(
        boosts={"task": 0.5}, key_fields=("status",), edge_order=("relation",), edge_types=("child",), depth=1
    )
    seen = apply_lens(asked, BUILTIN["planning"])
    assert (seen.boosts["task"], seen.boosts["goal"]) == (0.5, BOOST)
    assert seen.key_fields == ("status", "due", "blocked-by")
    assert seen.edge_order == ("relation", "child", "field")
    assert (seen.edge_types, seen.depth) == (("child",), 1)


def test_a_lens_of_one_step_holds_where_no_depth_is_asked_for():
    assert apply_lens(request(), Lens(name="near", max_depth=1)).depth == 1
    assert apply_lens(request(), BUILTIN["planning"]).depth == 2
