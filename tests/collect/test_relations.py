from weftwork.collect import RelationsCollector
from weftwork.store.contract.kit import node, put
from weftwork.types import Edge, Step


def linked(store, **of_node):
    names = ("focus", "row", "link", "back", "far")
    put(
        store,
        *(node(name, **of_node.get(name, {})) for name in names),
        edges=(
            Edge(source="focus", target="row", type="relation", label="supplier"),
            Edge(source="focus", target="link"),
            Edge(source="back", target="focus"),
            Edge(source="link", target="far"),
            Edge(source="focus", target="focus"),
        ),
    )


def test_related_rows_links_and_backlinks_have_the_relevance_of_the_contract(store, desk):
    linked(store)
    assert desk.collect(RelationsCollector(), focus="focus") == [
        ("row", 0.75, "relation supplier of the focus"),
        ("link", 0.7, "reference of the focus"),
        ("back", 0.65, "reference to the focus"),
    ]


def test_a_node_that_is_linked_twice_counts_by_its_strongest_relation(store, desk):
    put(
        store,
        node("focus"),
        node("other"),
        edges=(
            Edge(source="other", target="focus"),
            Edge(source="focus", target="other"),
            Edge(source="other", target="focus", type="relation"),
        ),
    )
    assert desk.collect(RelationsCollector(), focus="focus") == [("other", 0.75, "relation to the focus")]


def test_the_strongest_relations_are_kept_when_there_are_many(store, desk):
    spokes = [node(f"n{n}") for n in range(6)]
    put(
        store,
        node("focus"),
        *spokes,
        edges=(
            *(Edge(source=f"n{n}", target="focus") for n in range(3)),
            Edge(source="focus", target="n3"),
            Edge(source="focus", target="n4", type="relation"),
            Edge(source="focus", target="n5"),
        ),
    )
    assert desk.scores(RelationsCollector(max_items=4), focus="focus") == {
        "n4": 0.75, "n3": 0.7, "n5": 0.7, "n0": 0.65,
    }  # fmt: skip


def test_each_finding_tells_its_distance_and_the_edge_that_led_to_it(store, desk):
    linked(store)
    candidates = {candidate.node.id: candidate for candidate in desk.gather(RelationsCollector(), focus="focus")}
    assert {value.distance for value in candidates.values()} == {1}
    assert candidates["row"].path == (Step("relation", "out", "row", "supplier"),)
    assert candidates["back"].path == (Step("reference", "in", "back"),)


def test_excluded_nodes_neither_appear_nor_take_a_place(store, desk):
    linked(store)
    scores = desk.scores(RelationsCollector(max_items=2), focus="focus", exclude=["row"])
    assert scores == {"link": 0.7, "back": 0.65}


def test_hidden_nodes_are_not_linked(store, desk):
    linked(store, row={"access": frozenset({"ana"})})
    assert desk.scores(RelationsCollector(), focus="focus", user="ben") == {"link": 0.7, "back": 0.65}


def test_without_a_focus_nothing_is_related(store, desk):
    linked(store)
    assert desk.scores(RelationsCollector(), "focus row link") == {}


def chain(store):
    put(
        store,
        *(node(name) for name in ("focus", "a", "b", "c", "d")),
        node("wall", access=frozenset({"ana"})),
        node("behind"),
        edges=(
            Edge(source="focus", target="a"),
            Edge(source="a", target="b", type="relation"),
            Edge(source="c", target="b"),
            Edge(source="d", target="focus"),
            Edge(source="a", target="d", type="relation"),
            Edge(source="focus", target="wall"),
            Edge(source="wall", target="behind"),
        ),
    )


def test_what_is_further_off_is_worth_the_product_of_the_links(store, desk):
    chain(store)
    assert desk.scores(RelationsCollector(max_depth=3), focus="focus", user="ben") == {
        "a": 0.7, "d": 0.65, "b": 0.525, "c": 0.34125,  # 0.7 · 0.75 and 0.7 · 0.75 · 0.65
    }  # fmt: skip
    assert set(desk.scores(RelationsCollector(max_depth=2), focus="focus", user="ben")) == {"a", "d", "b"}
    assert set(desk.scores(RelationsCollector(), focus="focus", user="ben")) == {"a", "d"}
    assert desk.scores(RelationsCollector(max_depth=2), focus="focus")["behind"] == 0.49


def test_the_way_there_is_told(store, desk):
    chain(store)
    (found,) = [
        candidate
        for candidate in desk.gather(RelationsCollector(max_depth=2), focus="focus")
        if candidate.node.id == "b"
    ]
    assert (found.distance, [(step.edge, step.node) for step in found.path]) == (
        2,
        [("reference", "a"), ("relation", "b")],
    )
    assert found.findings[0].why == "relation of a"


def test_near_ones_are_never_displaced_by_far_ones(store, desk):
    chain(store)
    assert list(desk.scores(RelationsCollector(max_items=2, max_depth=3), focus="focus", user="ben")) == ["a", "d"]
    assert list(desk.scores(RelationsCollector(max_items=3, max_depth=3), focus="focus", user="ben")) == ["a", "d", "b"]
