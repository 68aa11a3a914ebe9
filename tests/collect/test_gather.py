from dataclasses import dataclass

from weftwork.collect import (
    ActivityCollector,
    FocusCollector,
    Found,
    GraphCollector,
    HistoryCollector,
    LexicalCollector,
    ReferencesCollector,
    RelationsCollector,
    SemanticCollector,
)
from weftwork.recipe import EVERYTHING
from weftwork.request import Message
from weftwork.store.contract.kit import NOW, WORKSPACE, node, put
from weftwork.types import Edge, Finding, Step


@dataclass(frozen=True)
class Fixed:
    """A collector that finds what it is told to."""

    found: tuple
    name: str = "fixed"
    section: str = "semantic"

    def collect(self, inquiry):
        return list(self.found)


def key_of(store, name):
    with store.view(WORKSPACE, "ana") as view:
        return view.passages([name])[name][0]


def test_several_findings_of_a_passage_become_one_candidate(store, desk):
    put(store, node("focus"), node("b", "quince"), edges=(Edge(source="focus", target="b"),))
    gathered = desk.gather(RelationsCollector(), LexicalCollector(), GraphCollector(), query="quince", focus="focus")
    (b,) = [candidate for candidate in gathered if candidate.node.id == "b"]
    assert [(finding.collector, finding.rank) for finding in b.findings] == [
        ("relations", 1),
        ("lexical", 1),
        ("graph", 2),
    ]
    assert [finding.score for finding in b.findings if finding.collector != "lexical"] == [0.7, 0.5]


def test_a_candidate_belongs_to_the_section_of_the_first_that_found_it(store, desk):
    put(store, node("a", "quince"))
    lexical, references = LexicalCollector(), ReferencesCollector()
    first = desk.gather(lexical, references, query="quince", include=("a",))
    second = desk.gather(references, lexical, query="quince", include=("a",))
    assert [candidate.section for candidate in first] == ["semantic"]
    assert [candidate.section for candidate in second] == ["references"]


def test_ranks_count_from_one_in_the_order_of_each_collector(store, desk):
    put(store, *(node(name) for name in "abc"))
    one = Fixed(tuple(Found(key_of(store, name), 0.5) for name in "cab"), name="one")
    two = Fixed(tuple(Found(key_of(store, name), 0.5, "why not") for name in "bc"), name="two")
    findings = {candidate.node.id: candidate.findings for candidate in desk.gather(one, two)}
    assert findings == {
        "c": (Finding("one", 1, 0.5), Finding("two", 2, 0.5, "why not")),
        "a": (Finding("one", 2, 0.5),),
        "b": (Finding("one", 3, 0.5), Finding("two", 1, 0.5, "why not")),
    }


def test_the_shortest_distance_counts_with_its_path(store, desk):
    put(store, node("a"))
    key, way = key_of(store, "a"), (Step("reference", "out", "a"),)
    far = Fixed((Found(key, 0.5, distance=3),), name="far")
    near = Fixed((Found(key, 0.5, distance=1, path=way),), name="near")
    blind = Fixed((Found(key, 0.5),), name="blind")
    (found,) = desk.gather(blind, far, near)
    assert (found.distance, found.path) == (1, way)


def test_of_two_equally_short_ways_the_one_that_is_known_counts(store, desk):
    put(store, node("page"), node("focus", parent="page"))
    candidates = {
        candidate.node.id: candidate for candidate in desk.gather(FocusCollector(), GraphCollector(), focus="focus")
    }
    assert candidates["page"].distance == 1
    assert candidates["page"].path == (Step("parent", "in", "page"),)


def test_a_distance_of_zero_is_a_distance(store, desk):
    put(store, node("a"))
    key = key_of(store, "a")
    (found,) = desk.gather(Fixed((Found(key, 0.5, distance=2),)), Fixed((Found(key, 0.5, distance=0),), name="own"))
    assert found.distance == 0


def test_candidates_carry_the_titles_above_them(store, desk):
    put(store, node("top", title="Top"), node("mid", title="Mid", parent="top"), node("leaf", "quince", parent="mid"))
    (leaf,) = desk.gather(LexicalCollector(), query="quince")
    assert leaf.trail == ("Mid", "Top")


def test_what_the_viewer_may_not_see_is_no_candidate_even_if_a_collector_finds_it(store, desk):
    put(store, node("secret", access=frozenset({"ana"})))
    rogue = Fixed((Found(key_of(store, "secret"), 1.0), Found(10_000, 1.0)))
    assert desk.gather(rogue, user="ben") == []
    assert [candidate.node.id for candidate in desk.gather(rogue)] == ["secret"]


def test_messages_handed_in_are_candidates_beside_what_is_stored(store, desk):
    put(store, node("a", "quince"))
    gathered = desk.gather(LexicalCollector(), HistoryCollector(), query="quince", history=(Message("user", "Hello"),))
    assert [(candidate.node.id, candidate.section, candidate.passage.text) for candidate in gathered] == [
        ("a", "semantic", "quince"),
        ("history-1", "history", "Hello"),
    ]


def test_without_an_embedder_everything_but_the_semantic_signal_works(store, desk):
    put(
        store,
        node("page", "The page."),
        node("focus", "The focus.", parent="page"),
        node("linked", "Linked text."),
        node("worded", "quince"),
        node("named", title="Named"),
        node("thread", type="thread"),
        node("said", "Said before.", parent="thread", type="message"),
        node("edited", "Edited."),
        edges=(Edge(source="focus", target="linked"),),
    )
    with store.atomic(WORKSPACE) as batch:
        batch.record("ana", "edited", "edit", NOW)
    asked = {"query": "quince [[Named]]", "focus": "focus", "thread": "thread"}
    without = desk.gather(*EVERYTHING, embedder=None, **asked)
    assert {each.node.id for each in without} == {"page", "focus", "linked", "worded", "named", "said", "edited"}
    assert {finding.collector for each in without for finding in each.findings} == {
        "focus", "references", "lexical", "relations", "graph", "activity", "history",
    }  # fmt: skip
    assert any(
        finding.collector == "semantic"
        for candidate in desk.gather(SemanticCollector(threshold=0.0), **asked)
        for finding in candidate.findings
    )


def test_the_same_inquiry_gives_the_same_candidates(store, desk):
    put(store, *(node(f"n{n}", "quince", title="t", parent=None) for n in range(12)))
    with store.atomic(WORKSPACE) as batch:
        for n in range(12):
            batch.record("ana", f"n{n}", "edit", NOW)
    asked = {"query": "quince", "focus": "n3"}
    assert desk.gather(*EVERYTHING, **asked) == desk.gather(*EVERYTHING, **asked)
    assert [candidate.node.id for candidate in desk.gather(ActivityCollector())] == [f"n{n}" for n in range(10)]
