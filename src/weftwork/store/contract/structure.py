"""The tree and the graph: ancestors, siblings, children, neighbours, walks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, names, node, opened, put
from weftwork.store.protocol import Store
from weftwork.types import Edge, Node, Step


def _family() -> list[Node]:
    children = [node(f"c{n}", parent="p", position=n) for n in range(6)]
    return [node("g"), node("p", parent="g"), *children, node("leaf", parent="c2")]


class StructureContract:
    def test_ancestors_come_from_the_nearest_upwards(self, store: Store) -> None:
        put(opened(store), *_family())
        with store.view(WORKSPACE, "ana") as view:
            assert names(view.ancestors("leaf", 2)) == ["c2", "p"]
            assert names(view.ancestors("leaf", 9)) == ["c2", "p", "g"]

    def test_siblings_come_before_and_after_nearest_first(self, store: Store) -> None:
        put(opened(store), *_family())
        with store.view(WORKSPACE, "ana") as view:
            assert names(view.siblings("c3", 2)) == ["c2", "c1", "c4", "c5"]
            assert names(view.siblings("c0", 2)) == ["c1", "c2"]

    def test_hidden_siblings_and_children_leave_no_gap(self, store: Store) -> None:
        put(opened(store, "ben"), *_family())
        with store.atomic(WORKSPACE) as batch:
            batch.set_access("c2", frozenset({"ana"}))
        with store.view(WORKSPACE, "ben") as view:
            assert names(view.siblings("c3", 2)) == ["c1", "c0", "c4", "c5"]
            assert names(view.children("p", 3)) == ["c0", "c1", "c3"]
            assert names(view.children("c2", 3)) == []

    def test_beside_a_passage_stand_those_of_its_text_or_its_nodes_siblings(self, store: Store) -> None:
        long = "\n\n".join(f"Paragraph {number}. " + "Some words that fill it. " * 60 for number in range(4))
        put(opened(store, "ben"), *_family(), node("long", long))
        with store.atomic(WORKSPACE) as batch:
            batch.set_access("c2", frozenset({"ana"}))
        with store.view(WORKSPACE, "ben") as view:
            first = {name: keys[0] for name, keys in view.passages(["c0", "c1", "c3", "c4", "c5"]).items()}
            around = view.adjacent([first["c3"], first["c0"]], 2)
            assert sorted(around[first["c3"]]) == [
                (-2, first["c0"]), (-1, first["c1"]), (1, first["c4"]), (2, first["c5"]),
            ]  # fmt: skip
            assert sorted(around[first["c0"]]) == [(1, first["c1"]), (2, first["c3"])]
            keys_of_long = view.passages(["long"], limit=9)["long"]
            assert len(keys_of_long) > 2
            assert view.adjacent([keys_of_long[1]], 1) == {
                keys_of_long[1]: [(-1, keys_of_long[0]), (1, keys_of_long[2])]
            }
        with store.view(WORKSPACE, "ana") as view:
            hidden = view.passages(["c2"])["c2"]
        with store.view(WORKSPACE, "ben") as view:
            assert view.adjacent(hidden, 2) == {}

    def test_what_was_said_around_is_of_the_same_conversation_visible_and_valid(self, store: Store) -> None:
        said, hour = NOW, timedelta(hours=1)
        turns = [
            node(f"m{n}", text=f"turn {n}", conversation="other" if n == 3 else "c", created_at=said + n * hour)
            for n in range(6)
        ]
        turns[1] = replace(turns[1], valid_until=said + 2 * hour)
        put(opened(store, "ben"), *turns)
        with store.atomic(WORKSPACE) as batch:
            batch.set_access("m4", frozenset({"ana"}))
        with store.view(WORKSPACE, "ben") as view:
            first = {name: keys[0] for name, keys in view.passages(["m0", "m1", "m2", "m3", "m5"]).items()}
            assert sorted(view.said_around([first["m2"]], 2)[first["m2"]]) == [
                (-2, first["m0"]), (-1, first["m1"]), (1, first["m5"]),
            ]  # fmt: skip
            later = view.said_around([first["m2"], first["m3"]], 1, as_of=said + 9 * hour)
            assert later == {first["m2"]: [(-1, first["m0"]), (1, first["m5"])]}

    def test_children_come_in_their_order_from_either_end(self, store: Store) -> None:
        put(opened(store), *_family())
        with store.view(WORKSPACE, "ana") as view:
            assert names(view.children("p", 2)) == ["c0", "c1"]
            assert names(view.children("p", 2, last=True)) == ["c4", "c5"]

    def test_a_moved_node_takes_its_new_place(self, store: Store) -> None:
        put(opened(store), *_family())
        with store.atomic(WORKSPACE) as batch:
            batch.move("c5", "p", -1)
        with store.view(WORKSPACE, "ana") as view:
            assert names(view.children("p", 2)) == ["c5", "c0"]

    def test_neighbours_follow_type_and_direction(self, store: Store) -> None:
        put(
            opened(store),
            *(node(name) for name in "abcd"),
            edges=(
                Edge(source="a", target="b", type="relation"),
                Edge(source="a", target="c", label="see"),
                Edge(source="d", target="a"),
            ),
        )
        with store.view(WORKSPACE, "ana") as view:
            assert [other.id for _, other in view.neighbours("a")] == ["b", "c", "d"]
            assert [other.id for _, other in view.neighbours("a", direction="in")] == ["d"]
            assert [other.id for _, other in view.neighbours("a", types=("relation",))] == ["b"]
            (edge, _), *_ = view.neighbours("a", types=("reference",), direction="out")
            assert edge == Edge(source="a", target="c", type="reference", label="see")

    def test_edges_of_many_nodes_come_at_once_and_none_of_them_ends_at_what_is_hidden_or_over(
        self, store: Store
    ) -> None:
        links = (
            Edge(source="a", target="b", type="mention", weight=0.5),
            Edge(source="a", target="b", label="see"),
            Edge(source="c", target="a"),
            Edge(source="c", target="d"),
            Edge(source="a", target="wall"),
            Edge(source="a", target="past"),
        )
        put(
            opened(store, "ben"),
            *(node(name) for name in "abcd"),
            node("wall", access=frozenset({"ana"})),
            node("past", valid_until=NOW),
            edges=links,
        )
        with store.view(WORKSPACE, "ben") as view:
            assert view.edges(["a"], as_of=NOW) == [links[0], links[1], links[2]]
            assert view.edges(["a", "c", "a"], as_of=NOW) == [links[0], links[1], links[2], links[3]]
            assert view.edges(["a"]) == [links[0], links[1], links[5], links[2]]
            assert view.edges(["past"], as_of=NOW) == view.edges(["wall"]) == view.edges([]) == []

    def test_edges_of_a_hub_are_the_heaviest_in_each_direction(self, store: Store) -> None:
        out = [Edge(source="hub", target=f"o{n}", weight=n % 3) for n in range(6)]
        back = [Edge(source=f"i{n}", target="hub") for n in range(3)]
        names_of = [*(edge.target for edge in out), *(edge.source for edge in back)]
        put(opened(store), node("hub"), *map(node, names_of), edges=(*out, *back))
        with store.view(WORKSPACE, "ana") as view:
            assert view.edges(["hub"], limit=3) == [out[1], out[2], out[5], *back]
            assert view.edges(["o4", "hub"], limit=1) == [out[2], out[4], back[0]]

    def test_tree_distance_counts_hops_through_the_common_ancestor(self, store: Store) -> None:
        put(opened(store), *_family(), node("alone"))
        with store.view(WORKSPACE, "ana") as view:
            assert view.tree_distance("leaf", ["leaf", "c2", "c3", "g", "alone"]) == {
                "leaf": 0, "c2": 1, "c3": 3, "g": 3,
            }  # fmt: skip

    def test_a_walk_finds_shortest_paths_both_ways_and_survives_circles(self, store: Store) -> None:
        put(
            opened(store),
            *(node(name) for name in "abc"),
            node("child", parent="c"),
            edges=(
                Edge(source="a", target="b"),
                Edge(source="b", target="c", type="field", label="owner"),
                Edge(source="c", target="a"),
            ),
        )
        with store.view(WORKSPACE, "ana") as view:
            reached = {step.node: step for step in view.walk(["a"], depth=3)}
            assert {name: step.distance for name, step in reached.items()} == {"a": 0, "b": 1, "c": 1, "child": 2}
            assert reached["child"].path == (Step("reference", "in", "c"), Step("child", "out", "child"))

    def test_a_walk_does_not_step_through_what_is_hidden(self, store: Store) -> None:
        put(
            opened(store, "ben"),
            node("a"),
            node("wall", access=frozenset({"ana"})),
            node("b"),
            edges=(Edge(source="a", target="wall"), Edge(source="wall", target="b")),
        )
        with store.view(WORKSPACE, "ben") as view:
            assert [step.node for step in view.walk(["a"], depth=5)] == ["a"]
            assert view.walk(["wall"], depth=5) == []

    def test_a_walk_keeps_depth_limit_and_edge_types(self, store: Store) -> None:
        chain = [node(str(n)) for n in range(6)]
        edges = tuple(Edge(source=str(n), target=str(n + 1)) for n in range(5))
        put(opened(store), *chain, node("kid", parent="0"), edges=edges)
        with store.view(WORKSPACE, "ana") as view:
            assert [step.node for step in view.walk(["0"], depth=2)] == ["0", "1", "kid", "2"]
            assert [step.node for step in view.walk(["0"], depth=5, limit=2)] == ["0", "1", "kid"]
            assert [step.node for step in view.walk(["0"], depth=1, types=("child",))] == ["0", "kid"]
            first = [step.node for step in view.walk(["0"], depth=1, types=("reference", "child"))]
            assert first == ["0", "1", "kid"]

    def test_types_that_come_first_order_a_walk_and_restrict_nothing(self, store: Store) -> None:
        old, new = NOW - timedelta(days=9), NOW
        put(
            opened(store),
            node("a"),
            node("kid", parent="a", updated_at=old),
            node("ref", updated_at=new),
            node("owner", updated_at=old),
            edges=(Edge(source="a", target="ref"), Edge(source="a", target="owner", type="field")),
        )
        with store.view(WORKSPACE, "ana") as view:
            for first, order in (
                ((), ["ref", "kid", "owner"]),
                (("child",), ["kid", "ref", "owner"]),
                (("field", "child"), ["owner", "kid", "ref"]),
            ):
                assert [step.node for step in view.walk(["a"], depth=1, first=first)] == ["a", *order]
                assert [step.node for step in view.walk(["a"], depth=1, first=first, limit=1)] == ["a", order[0]]

    def test_types_that_come_first_decide_between_two_shortest_paths(self, store: Store) -> None:
        put(
            opened(store),
            *(node(name) for name in ("a", "left", "right", "end")),
            edges=(
                Edge(source="a", target="left"),
                Edge(source="a", target="right"),
                Edge(source="left", target="end", type="field"),
                Edge(source="right", target="end", type="reference"),
            ),
        )
        with store.view(WORKSPACE, "ana") as view:
            for kind, through in (("field", "left"), ("reference", "right")):
                (end,) = [reached for reached in view.walk(["a"], depth=2, first=(kind,)) if reached.node == "end"]
                assert [step.node for step in end.path] == [through, "end"]

    def test_at_a_hub_each_type_of_the_order_has_half_of_the_places_left(self, store: Store) -> None:
        kinds = {"field": 9, "reference": 9, "relation": 9}
        spokes = [(f"{kind}{n}", kind) for kind, count in kinds.items() for n in range(count)]
        put(
            opened(store),
            node("hub"),
            *(node(name) for name, _ in spokes),
            edges=tuple(Edge(source="hub", target=name, type=kind) for name, kind in spokes),
        )
        with store.view(WORKSPACE, "ana") as view:
            for first, counts in (
                (("field", "reference"), {"field": 4, "reference": 2, "relation": 2}),
                (("relation",), {"relation": 4}),
                (("child", "reference"), {"reference": 4}),
            ):
                reached = view.walk(["hub"], depth=1, first=first, hub_limit=8)[1:]
                assert len(reached) == 8
                assert all(step.hubs == ("hub",) for step in reached)
                edge_types = [step.path[0].edge for step in reached]
                assert {kind: edge_types.count(kind) for kind in counts} == counts
            few = view.walk(["hub"], depth=1, first=("field",), hub_limit=20)[1:]
            assert [step.path[0].edge for step in few].count("field") == 9

    def test_a_type_that_comes_first_is_found_under_any_number_of_newer_edges(self, store: Store) -> None:
        crowd = [node(f"n{n:04}") for n in range(1_100)]
        put(
            opened(store),
            node("hub"),
            node("old", updated_at=NOW - timedelta(days=900)),
            *crowd,
            edges=(
                Edge(source="hub", target="old", type="field"),
                *(Edge(source="hub", target=spoke.id) for spoke in crowd),
            ),
        )
        with store.view(WORKSPACE, "ana") as view:
            assert "old" not in [step.node for step in view.walk(["hub"], depth=1)]
            assert view.walk(["hub"], depth=1, first=("field",))[1].node == "old"

    def test_a_hub_is_sampled_by_likeness_or_by_recency_and_says_so(self, store: Store) -> None:
        spokes = [
            node(f"s{n:02}", "violin" if n == 7 else "drum", updated_at=NOW - timedelta(days=n)) for n in range(30)
        ]
        put(opened(store), node("hub"), *spokes, edges=tuple(Edge(source="hub", target=spoke.id) for spoke in spokes))
        with store.view(WORKSPACE, "ana") as view:
            recent = view.walk(["hub"], depth=1, hub_limit=3)
            assert [step.node for step in recent] == ["hub", "s00", "s01", "s02"]
            assert all(step.hubs == ("hub",) for step in recent[1:])
            alike = view.walk(["hub"], depth=1, hub_limit=1, vector=EMBEDDER.embed("violin"), model=EMBEDDER.model)
            assert [step.node for step in alike] == ["hub", "s07"]
