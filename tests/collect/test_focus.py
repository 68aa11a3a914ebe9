import pytest

from weftwork.collect import FocusCollector
from weftwork.errors import NotFound
from weftwork.store.contract.kit import node, put

ANA_ALONE = frozenset({"ana"})


def family(**of_node):
    """Great-great-grandparent to child, with the focus in the middle of seven siblings."""
    made = [
        node("root"),
        node("top", parent="root"),
        node("chapter", parent="top"),
        node("page", parent="chapter"),
        *(node(f"s{n}", parent="page", position=n) for n in range(7) if n != 3),
        node("focus", "The focus itself.", parent="page", position=3),
        *(node(f"c{n}", parent="focus", position=n) for n in range(7)),
        node("grandchild", parent="c0"),
        node("elsewhere"),
    ]
    return [
        node(name.id, name.text, parent=name.parent, position=name.position, **of_node.get(name.id, {}))
        for name in made
    ]


def test_what_stands_around_the_focus_has_the_relevance_of_the_contract(store, desk):
    put(store, *family())
    assert desk.scores(FocusCollector(), focus="focus") == {
        "focus": 1.0,
        "page": 0.9, "chapter": 0.8, "top": 0.7,
        "s2": 0.8, "s1": 0.75, "s4": 0.7, "s5": 0.65,
        "c0": 0.85, "c1": 0.8, "c2": 0.75, "c3": 0.7, "c4": 0.65,
    }  # fmt: skip


def test_the_focus_comes_first_and_the_others_by_relevance(store, desk):
    put(store, *family())
    scores = list(desk.scores(FocusCollector(), focus="focus").values())
    assert scores == sorted(scores, reverse=True)
    assert desk.collect(FocusCollector(), focus="focus")[:3] == [
        ("focus", 1.0, "the focus"),
        ("page", 0.9, "ancestor 1 of the focus"),
        ("c0", 0.85, "child 1 of the focus"),
    ]


def test_how_far_it_looks_can_be_set(store, desk):
    put(store, *family())
    near = FocusCollector(ancestor_depth=1, sibling_count=1, children_limit=2)
    assert set(desk.scores(near, focus="focus")) == {"focus", "page", "s2", "s4", "c0", "c1"}
    alone = FocusCollector(ancestor_depth=0, sibling_count=0, children_limit=0)
    assert set(desk.scores(alone, focus="focus")) == {"focus"}


def test_relevance_never_falls_below_zero(store, desk):
    put(store, node("focus"), *(node(f"c{n:02}", parent="focus", position=n) for n in range(25)))
    scores = desk.scores(FocusCollector(children_limit=25), focus="focus")
    assert scores["c16"] == 0.05  # 0.85 - 16 × 0.05
    assert scores["c24"] == 0.0


def test_the_focus_is_asked_for_and_what_stands_around_it_is_not(store, desk):
    put(store, *family())
    assert [candidate.node.id for candidate in desk.gather(FocusCollector(), focus="focus") if candidate.asked] == [
        "focus"
    ]
    inside = desk.gather(FocusCollector(around=False), focus="focus")
    assert [(each.node.id, each.asked) for each in inside[:2]] == [("focus", True), ("c0", False)]
    assert [each.node.id for each in inside[2:]] == ["c1", "c2", "c3", "c4"]


def test_how_many_levels_below_the_focus_are_shown_is_told_of_it_and_of_what_stands_in_it(store, desk):
    put(store, *family())
    levels = {candidate.node.id: candidate.levels for candidate in desk.gather(FocusCollector(levels=2), focus="focus")}
    assert levels.pop("focus") == 2
    assert levels["c0"] == 1
    unlimited = {candidate.node.id: candidate.levels for candidate in desk.gather(FocusCollector(), focus="focus")}
    assert set(unlimited.values()) == {None}


def test_the_distance_in_the_tree_is_told(store, desk):
    put(store, *family())
    gathered = desk.gather(FocusCollector(), focus="focus")
    distances = {candidate.node.id: candidate.distance for candidate in gathered}
    assert {name: distances[name] for name in ("focus", "page", "chapter", "top", "s2", "c0")} == {
        "focus": 0, "page": 1, "chapter": 2, "top": 3, "s2": 2, "c0": 1,
    }  # fmt: skip


def test_excluded_nodes_are_left_out(store, desk):
    put(store, *family())
    scores = desk.scores(FocusCollector(), focus="focus", exclude=["page", "s2", "c0"])
    assert not {"page", "s2", "c0"} & set(scores)
    assert {"focus", "chapter", "s1", "c1"} <= set(scores)


def test_hidden_nodes_are_as_if_they_were_not_there(store, desk):
    hidden = {"access": ANA_ALONE}
    # chapter is hidden from ben, but not what is below it, and s2 and c0 are hidden too
    put(store, *family(chapter=hidden, page={"access": frozenset({"*"})}, s2=hidden, c0=hidden))
    assert desk.scores(FocusCollector(), focus="focus", user="ben") == {
        "focus": 1.0, "page": 0.9,
        "s1": 0.8, "s0": 0.75, "s4": 0.7, "s5": 0.65,
        "c1": 0.85, "c2": 0.8, "c3": 0.75, "c4": 0.7, "c5": 0.65,
    }  # fmt: skip


def test_without_a_focus_there_is_nothing_around_it(store, desk):
    put(store, *family())
    assert desk.scores(FocusCollector()) == {}


def test_an_unknown_focus_and_a_hidden_one_are_refused_alike(store, desk):
    put(store, node("secret", access=ANA_ALONE))
    with pytest.raises(NotFound, match="focus 'nowhere' does not exist"):
        desk.scores(FocusCollector(), focus="nowhere", user="ben")
    with pytest.raises(NotFound, match="focus 'secret' does not exist"):
        desk.scores(FocusCollector(), focus="secret", user="ben")
    assert desk.scores(FocusCollector(), focus="secret") == {"secret": 1.0}
