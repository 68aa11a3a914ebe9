import pytest

from weftwork.collect import GraphCollector
from weftwork.collect.fusion import fuse
from weftwork.collect.start_nodes import closeness
from weftwork.errors import InvalidInput, NotFound
from weftwork.request import Topic
from weftwork.store.contract.kit import EMBEDDER, WORKSPACE, node, put
from weftwork.types import Edge, Reach

STARTS = GraphCollector(topics=True, depth=1, limit=0)
"""Shows only where walks begin."""


@pytest.fixture
def notes(store):
    put(
        store,
        node("oak-1", "A tree with acorns.", title="Oak"),
        node("oak-2", "Timber for barrels.", title="oak"),
        node("elm", "A tree without acorns.", title="Elm", source="trees/elm.md"),
        node("hut", "Nothing that grows.", title="Hut", access=frozenset({"ana"})),
        edges=(Edge(source="oak-1", target="elm"),),
    )
    return store


def starts(desk, query="", **request):
    return list(desk.scores(STARTS, query, **request))


def test_an_id_starts_at_its_node(notes, desk):
    assert starts(desk, "oak-2") == ["oak-2"]
    assert starts(desk, "  oak-2 ") == ["oak-2"]


def test_a_citation_starts_at_its_node(notes, desk):
    with notes.view(WORKSPACE, "ana") as view:
        (key,) = view.passages(["elm"])["elm"]
        citation = view.load([key])[0].passage.citation
    assert starts(desk, f"[{citation}]") == starts(desk, citation) == ["elm"]


def test_a_title_starts_at_all_nodes_of_that_title(notes, desk):
    assert sorted(starts(desk, "OAK")) == ["oak-1", "oak-2"]
    assert starts(desk, "trees/elm.md") == ["elm"]
    assert starts(desk, "what is in [[Elm]] now?") == ["elm"]


def test_another_topic_starts_at_the_hits_that_are_at_least_half_as_good_as_the_best(store, desk):
    put(
        store,
        node("best", "quince jam with ginger"),
        node("near", "quince jam"),
        node("far", "jam " + "on all the roads out of the city this morning again " * 3),
    )
    findings = desk.found(STARTS, "quince jam ginger", embedder=None)
    with store.view(WORKSPACE, "ana") as view:
        hits = {hit.key: hit.score for hit in view.search_words("quince jam ginger", limit=10)}
    best = max(hits.values())
    assert len(hits) == 3
    assert {finding.key for finding in findings} == {key for key, score in hits.items() if score >= best / 2}
    assert 0 < len(findings) < 3


def test_meaning_alone_can_find_a_start(store, desk):
    put(store, node("a", "violin"), node("b", "drum"))
    assert starts(desk, "violins violin") == ["a"]
    assert fuse(0.5, 0.5) == pytest.approx(1 - 0.5 * 0.7)
    assert fuse(0.5, -1.0) == pytest.approx(0.5)


def test_what_looks_like_an_id_and_names_nothing_is_an_error_that_does_not_tell_hidden_from_absent(notes, desk):
    put(notes, node("x-9", "secret", access=frozenset({"ana"})))
    for name in ("x-9", "x-8", "abc123def456"):
        with pytest.raises(NotFound) as caught:
            starts(desk, name, user="ben")
        assert str(caught.value) == (
            f"there is no node, citation or text {name!r} in this workspace: find it with  weftwork search"
        )
    assert starts(desk, "x-9") == ["x-9"]


def test_what_looks_like_an_id_and_stands_in_a_text_is_a_topic(store, desk):
    put(store, node("a", "We compared GPT-4 with others."))
    assert starts(desk, "gpt-4") == ["a"]


def test_a_topic_without_hits_is_a_warning(notes, desk):
    def answer(inquiry):
        return STARTS.collect(inquiry), inquiry.warnings

    found, warnings = desk._ask(answer, "unheard", "ana", None, {})
    assert (found, warnings) == ([], ["nothing was found for 'unheard'"])


def test_the_focus_is_a_start_beside_the_query(notes, desk):
    assert starts(desk, "Elm", focus="oak-2") == ["oak-2", "elm"]
    assert starts(desk, focus="oak-2") == ["oak-2"]
    with pytest.raises(
        NotFound, match="focus 'hut' does not exist in this workspace: check its id with  weftwork search"
    ):
        starts(desk, focus="hut", user="ben")


def test_each_node_is_credited_to_the_topics_that_reached_it(notes, desk):
    candidates = desk.gather(
        GraphCollector(topics=True), topics=(Topic("oak-1", 1), Topic("elm", 4), Topic("oak-1", 1)), embedder=None
    )
    reached = {candidate.node.id: candidate.reached for candidate in candidates}
    assert reached == {
        "oak-1": (Reach("oak-1", "oak-1", 0, 0.5), Reach("elm", "elm", 1, 1.0)),
        "elm": (Reach("elm", "elm", 0, 1.0), Reach("oak-1", "oak-1", 1, 0.5)),
    }


def test_closeness_is_one_by_distance_and_several_topics_are_independent_reasons():
    assert [closeness([Reach("t", "s", distance)]) for distance in range(5)] == [1, 1, 1 / 2, 1 / 3, 1 / 4]
    assert closeness([Reach("x", "a", 2, 0.5), Reach("y", "b", 2, 1.0)]) == pytest.approx(1 - 0.75 * 0.5)
    assert closeness([Reach("x", "a", 3, 0.5)]) == pytest.approx(0.5 / 3)
    assert closeness([Reach("x", "a", 1, 0.5), Reach("y", "b", 0, 1.0)]) == 1.0


def test_the_limit_holds_for_all_topics_together(store, desk):
    spokes = [node(f"{hub}{n}") for hub in "xy" for n in range(9)]
    edges = tuple(Edge(source=spoke.id[0], target=spoke.id) for spoke in spokes)
    put(store, node("x"), node("y"), *spokes, edges=edges)
    scores = desk.scores(GraphCollector(topics=True, limit=4), topics=(Topic("x"), Topic("y")))
    assert {name[0] for name in scores} == {"x", "y"}
    assert len(scores) == 2 + 4
    heavier = list(desk.scores(GraphCollector(topics=True, limit=4), topics=(Topic("x", 3), Topic("y"))))
    assert [name[0] for name in heavier[2:]] == ["x"] * 4


def test_the_vector_of_several_topics_is_their_weighted_sum_at_length_one(store, desk):
    put(store, node("id-1", "drum", title="drum"))

    def vector(**request):
        return desk._ask(lambda inquiry: inquiry.vector, "asked", "ana", EMBEDDER, request)

    violin, drum = EMBEDDER.embed("violin"), EMBEDDER.embed("drum")
    whole = 2 * violin + drum
    blended = vector(topics=(Topic("violin", 2), Topic("id-1")))
    assert blended == pytest.approx(whole / (whole @ whole) ** 0.5, abs=1e-6)
    assert vector(topics=(Topic("violin", 7),)) == pytest.approx(violin)
    assert vector() == pytest.approx(EMBEDDER.embed("asked"))


def test_a_long_start_offers_several_passages_and_what_is_reached_only_its_first(store, desk):
    text = "\n\n".join(f"Paragraph {number}. " + "Some words that fill it. " * 60 for number in range(6))
    put(store, node("long", text), node("other", text), edges=(Edge(source="long", target="other"),))
    candidates = desk.gather(GraphCollector(topics=True, passages=3), query="long")
    assert [(candidate.node.id, candidate.passage.ordinal, candidate.more) for candidate in candidates] == [
        ("long", 0, True), ("long", 1, True), ("long", 2, True), ("other", 0, True),
    ]  # fmt: skip
    whole = desk.gather(GraphCollector(topics=True, passages=50), query="long")
    assert [candidate.more for candidate in whole if candidate.node.id == "long"][-2:] == [True, False]


@pytest.mark.parametrize(
    ("text", "weight", "message"),
    [
        ("", 1, "a topic must be text, got ''"),
        (" ", 1, "a topic must be text"),
        (5, 1, "a topic must be text, got 5"),
        ("x", 0, "the weight of topic 'x' must be a number above 0, got 0"),
        ("x", -1, "above 0"),
        ("x", float("nan"), "above 0"),
        ("x", float("inf"), "above 0"),
        ("x", True, "above 0"),
        ("x", "2", "above 0"),
    ],
)
def test_a_topic_that_makes_no_sense_is_refused(text, weight, message):
    with pytest.raises(InvalidInput, match=message):
        Topic(text, weight)
