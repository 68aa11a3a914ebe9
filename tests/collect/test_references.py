from weftwork.collect import ReferencesCollector
from weftwork.store.contract.kit import node, put
from weftwork.types import Edge

ANA_ALONE = frozenset({"ana"})


def test_a_title_in_double_brackets_is_found_whatever_its_case(store, desk):
    put(store, node("m", title="Mirror Cell"), node("b", title="Base"), node("x", title="Mirror"))
    assert desk.collect(ReferencesCollector(), "compare [[mirror cell]] with [[Base|the base]]") == [
        ("m", 1.0, "named in the query"),
        ("b", 1.0, "named in the query"),
    ]


def test_a_path_is_found_by_the_source_of_a_node(store, desk):
    put(store, node("f", title="app", source="src/app.py"), node("g", title="other", source="src/other.py"))
    assert list(desk.scores(ReferencesCollector(), "what does src/app.py do?")) == ["f"]
    assert list(desk.scores(ReferencesCollector(), "what does @src/app.py do?")) == ["f"]


def test_three_nodes_of_one_title_are_taken(store, desk):
    put(store, *(node(f"n{n}", title="Notes") for n in range(5)))
    assert list(desk.scores(ReferencesCollector(), "[[Notes]]")) == ["n0", "n1", "n2"]


def test_the_references_of_the_thread_are_found(store, desk):
    put(
        store,
        node("thread", type="thread"),
        *(node(name) for name in ("ref", "related", "from")),
        edges=(
            Edge(source="thread", target="ref", label="attached"),
            Edge(source="thread", target="related", type="relation"),
            Edge(source="from", target="thread"),
        ),
    )
    assert desk.collect(ReferencesCollector(), thread="thread") == [("ref", 1.0, "reference of the thread attached")]


def test_what_the_request_includes_comes_first_and_once(store, desk):
    put(store, node("a", title="Alpha"), node("b", title="Beta"))
    assert desk.collect(ReferencesCollector(), "[[Alpha]] [[Beta]]", include=("b",)) == [
        ("b", 1.0, "included by the request"),
        ("a", 1.0, "named in the query"),
    ]


def test_what_is_named_is_asked_for(store, desk):
    put(store, node("long", "A sentence of a long document. " * 400, title="Long"))
    for asked in ({"include": ("long",)}, {"query": "[[Long]]"}, {"query": "long"}, {"query": "LONG "}):
        (found,) = desk.gather(ReferencesCollector(), **asked)
        assert found.asked and found.passage.ordinal == 0


def test_what_is_named_and_does_not_exist_is_a_warning(store, desk):
    put(store, node("a", title="Alpha"), node("secret", access=ANA_ALONE))
    warnings = desk.warnings(ReferencesCollector(), "[[Alpha]] and [[Omega]]", include=("a", "nowhere"))
    assert warnings == [
        "nothing in this workspace is called 'Omega'",
        "'nowhere' is included by the request and does not exist in this workspace: check its id",
    ]
    hidden = desk.warnings(ReferencesCollector(), "x", include=("secret",), user="ben")
    assert hidden == ["'secret' is included by the request and does not exist in this workspace: check its id"]


def test_excluded_hidden_and_unknown_nodes_are_left_out(store, desk):
    put(store, node("a"), node("b"), node("secret", access=ANA_ALONE))
    asked = {"include": ("a", "b", "secret", "nowhere"), "exclude": ["a"]}
    assert list(desk.scores(ReferencesCollector(), "[[secret]]", user="ben", **asked)) == ["b"]
    assert list(desk.scores(ReferencesCollector(), **asked)) == ["b", "secret"]


def test_a_query_that_names_nothing_refers_to_nothing(store, desk):
    put(store, node("a", title="mirror"))
    assert desk.scores(ReferencesCollector(), "mirror [[]] and [[unknown]]") == {}
    assert desk.scores(ReferencesCollector(), "the mirror") == {}
