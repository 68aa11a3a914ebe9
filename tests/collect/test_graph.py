from itertools import pairwise

import pytest

from weftwork.collect import GraphCollector
from weftwork.store.contract.kit import node, put
from weftwork.types import Edge, Step


def chain(store, **of_node):
    """a → b → c → d by references, and e below a in the tree."""
    names = "abcd"
    put(
        store,
        *(node(name, f"text of {name}", title=f"Title {name}", **of_node.get(name, {})) for name in names),
        node("e", "text of e", title="Title e", parent="a"),
        edges=tuple(Edge(source=left, target=right) for left, right in pairwise(names)),
    )


def test_a_walk_from_the_focus_scores_by_distance(store, desk):
    chain(store)
    assert desk.scores(GraphCollector(), focus="a") == {
        "a": 1.0, "b": 0.5, "e": 0.5, "c": pytest.approx(1 / 3, abs=1e-6),
    }  # fmt: skip


def test_the_request_decides_how_far_the_walk_goes(store, desk):
    chain(store)
    assert set(desk.scores(GraphCollector(), focus="a", depth=1)) == {"a", "b", "e"}
    assert set(desk.scores(GraphCollector(), focus="a", depth=3)) == {"a", "b", "c", "d", "e"}


def test_each_finding_tells_the_way(store, desk):
    chain(store)
    why = {name: reason for name, _, reason in desk.collect(GraphCollector(), focus="b")}
    assert why == {
        "b": "start of the walk",
        "a": "← reference",
        "c": "→ reference",
        "d": "→ reference → reference",
        "e": "← reference → child",
    }
    (end,) = [candidate for candidate in desk.gather(GraphCollector(), focus="b") if candidate.node.id == "e"]
    assert end.distance == 2
    assert end.path == (Step("reference", "in", "a"), Step("child", "out", "e"))


def test_only_the_edge_types_asked_for_are_followed(store, desk):
    chain(store)
    assert set(desk.scores(GraphCollector(), focus="a", edge_types=("child",))) == {"a", "e"}


def test_without_a_focus_the_walk_starts_from_the_titles_named(store, desk):
    chain(store)
    assert set(desk.scores(GraphCollector(depth=1), "[[Title d]]")) == {"d", "c"}


def test_without_titles_the_walk_starts_from_the_best_hits_by_words(store, desk):
    chain(store)
    put(store, node("z", "zeppelin"), edges=(Edge(source="z", target="d"),))
    assert set(desk.scores(GraphCollector(depth=1), "zeppelin")) == {"z", "d"}
    put(store, *(node(f"s{n}", "airship") for n in range(5)))
    assert len(desk.scores(GraphCollector(depth=1), "airship")) == 3
    assert len(desk.scores(GraphCollector(depth=1, seeds=2), "airship")) == 2


def test_a_walk_from_hits_can_be_left_to_those_who_ask_for_one(store, desk):
    chain(store)
    collector = GraphCollector(unasked=False, seeds=1)
    assert desk.scores(collector, "text of a") == {}
    for asked in ({"depth": 1}, {"edge_types": ("reference", "child")}, {"edge_order": ("child",)}):
        assert {"a", "b", "e"} <= set(desk.scores(collector, "text of a", **asked))
    assert set(desk.scores(collector, "[[Title d]]")) >= {"d", "c"} and "a" in desk.scores(collector, focus="a")


def test_a_query_that_finds_nothing_starts_no_walk(store, desk):
    chain(store)
    assert desk.scores(GraphCollector(), "unheard") == {}
    assert desk.scores(GraphCollector()) == {}


def test_only_so_many_are_reached_beside_the_start(store, desk):
    spokes = [node(f"s{n}") for n in range(9)]
    put(store, node("hub"), *spokes, edges=tuple(Edge(source="hub", target=spoke.id) for spoke in spokes))
    assert len(desk.scores(GraphCollector(limit=4), focus="hub")) == 5


def test_a_hub_is_sampled_and_the_reason_says_so(store, desk):
    spokes = [node(f"s{n}", "violin" if n == 7 else "drum", title="t") for n in range(9)]
    put(store, node("hub"), *spokes, edges=tuple(Edge(source="hub", target=spoke.id) for spoke in spokes))
    findings = desk.collect(GraphCollector(hub_limit=1), "violin", focus="hub")
    assert [(name, why) for name, _, why in findings] == [
        ("hub", "start of the walk"),
        ("s7", "→ reference (a hub was sampled)"),
    ]


def test_excluded_nodes_are_left_out_but_may_be_walked_through(store, desk):
    chain(store)
    assert set(desk.scores(GraphCollector(), focus="a", exclude=["b"])) == {"a", "c", "e"}


def test_no_walk_leads_through_what_is_hidden(store, desk):
    chain(store, b={"access": frozenset({"ana"})})
    assert set(desk.scores(GraphCollector(depth=3), focus="a", user="ben")) == {"a", "e"}
