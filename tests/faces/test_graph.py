"""The graph face against the numbers and shapes of its contract."""

import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest

from weftwork import Edge, Filters, Node, Weft
from weftwork.errors import BudgetError, InvalidInput, NotFound, UnknownName
from weftwork.faces.graph import ContextAssembler, TokenBudget
from weftwork.faces.graph_json import as_text, fitted
from weftwork.faces.graph_nodes import components
from weftwork.lens import BUILTIN, Lens
from weftwork.request import Topic
from weftwork.score import get_profile
from weftwork.text.tokens import get_counter

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
MONTH = math.exp(-1)
"""Recency of what changed thirty days ago."""


def page(name, text="", *, days=30, **more):
    more.setdefault("title", name.capitalize())
    return Node(id=name, text=text, updated_at=NOW - timedelta(days=days), **more)


def opened(path, embedder="hashing"):
    return Weft.open(path, embedder=embedder, clock=lambda: NOW)


@pytest.fixture
def weft(tmp_path):
    with opened(tmp_path / "graph.weft") as engine:
        yield engine


@pytest.fixture
def blind(tmp_path):
    """An engine without embeddings."""
    with opened(tmp_path / "blind.weft", None) as engine:
        yield engine


def nodes(document):
    return {node.id: node for node in document.nodes}


def chain(weft, *names):
    weft.add(
        [page(name, f"{name} text") for name in names],
        [Edge(source=left, target=right) for left, right in pairwise(names)],
    )


class TestScore:
    def test_without_embeddings_distance_counts_sixty_and_recency_forty_and_meta_says_so(self, blind):
        chain(blind, "a", "b", "c", "d")
        document = ContextAssembler(blind).assemble("a", depth=3)
        found = nodes(document)
        assert document.meta.embeddings is False
        # The formula has no value at distance 0: what was asked for has 1.0, as in the contract's example.
        assert (found["a"].score, found["a"].distance) == (1.0, 0)
        assert sum(found["a"].components.values()) == pytest.approx(1.0)
        for name, closeness in (("b", 1), ("c", 1 / 2), ("d", 1 / 3)):
            assert found[name].components == pytest.approx(
                {"graphDistance": 0.6 * closeness, "recency": 0.4 * MONTH}, abs=1e-12
            )
            assert found[name].score == pytest.approx(0.6 * closeness + 0.4 * MONTH, abs=1e-9)

    def test_with_embeddings_distance_similarity_and_recency_count_forty_thirty_five_and_twenty_five(self, weft):
        weft.add(
            [page("a", "violin", title="", days=0), page("b", "drum", title=""), page("c", "violin bow", title="")],
            [Edge(source="a", target="b"), Edge(source="b", target="c")],
        )
        document = ContextAssembler(weft).assemble("violin", focus="a", filters=Filters(tags=frozenset({"none"})))
        found = nodes(document)
        assert document.meta.embeddings is True
        cosine = float(weft.tools.embedder.embed("violin") @ weft.tools.embedder.embed("violin bow"))
        assert 0.5 < cosine < 0.9
        for name, parts in (
            ("a", (0.40, 0.35, 0.25)),
            ("b", (0.40, 0.0, 0.25 * MONTH)),
            ("c", (0.20, 0.35 * cosine, 0.25 * MONTH)),
        ):
            told = {part: value for part, value in found[name].components.items() if part != "asked"}
            assert list(told) == ["graphDistance", "semanticSim", "recency"]
            assert tuple(told.values()) == pytest.approx(parts, abs=1e-6)
            assert found[name].score == pytest.approx(sum(parts), abs=1e-6)

    def test_the_weight_of_a_signal_that_does_not_apply_is_shared_out(self):
        profile = get_profile("graph")
        told = components({"distance": 0.5, "likeness": None, "recency_monthly": 0.2}, profile)
        assert told == pytest.approx({"graphDistance": 0.4 * 0.5 / 0.65, "recency": 0.25 * 0.2 / 0.65})
        assert components({"distance": 1.0, "recency_monthly": None}, profile) == {"graphDistance": 1.0, "recency": 0.0}

    def test_the_score_is_the_sum_of_its_components_and_at_most_one(self, weft):
        chain(weft, "a", "b")
        weft.add([page("c", "c text", days=0, tags=("Draft", "#NOTE"), parent="a")])
        for node in ContextAssembler(weft).assemble("a", lens="writing").nodes:
            assert node.score == pytest.approx(min(1.0, sum(node.components.values())), abs=1e-8)
        best = nodes(ContextAssembler(weft).assemble("c", lens="writing"))["c"]
        assert best.components["boost"] == pytest.approx(0.2)
        assert (best.score, best.distance, best.path) == (1.0, 0, ())

    def test_several_topics_are_blended_by_weight(self, blind):
        chain(blind, "x", "mid", "end", "near", "y")
        document = ContextAssembler(blind).assemble([Topic("x", 1), Topic("y", 2)], depth=4)
        found = nodes(document)
        # The general lens walks three steps: x and y, four apart, do not reach each other.
        expected = {
            "x": 0.5,
            "mid": 1 - (1 - 0.5) * (1 - 1 / 3),
            "end": 1 - (1 - 0.25) * (1 - 0.5),
            "near": 1.0,
            "y": 1.0,
        }
        for name, closeness in expected.items():
            assert found[name].components["graphDistance"] == pytest.approx(0.6 * closeness, abs=1e-9), name
        assert [(reach.topic, reach.distance) for reach in found["end"].topics] == [("x", 2), ("y", 2)]
        assert [(reach.topic, reach.distance) for reach in found["near"].topics] == [("y", 1), ("x", 3)]
        assert [(reach.topic, reach.distance) for reach in found["y"].topics] == [("y", 0)]
        assert document.meta.query == "x; y"
        assert document.to_dict()["meta"]["topics"] == [{"text": "x", "weight": 1}, {"text": "y", "weight": 2}]

    def test_one_topic_in_a_list_is_the_same_as_the_topic_itself(self, weft):
        chain(weft, "a", "b", "c")
        assembler = ContextAssembler(weft)
        assert assembler.assemble(["a"]).to_dict() == assembler.assemble("a").to_dict()


class TestWalk:
    def test_parents_children_references_and_fields_are_walked_both_ways_and_the_path_is_told(self, weft):
        weft.add(
            [
                page("top"), page("mid", parent="top"), page("kid", parent="mid"), page("out"), page("back"),
                page("who", type="person"),
            ],
            [
                Edge(source="mid", target="out"),
                Edge(source="back", target="mid"),
                Edge(source="mid", target="who", type="field", label="owner"),
            ],
        )  # fmt: skip
        found = nodes(ContextAssembler(weft).assemble("mid", depth=1))
        steps = {name: node.path for name, node in found.items()}
        told = {name: [(step.type, step.direction, step.label) for step in path] for name, path in steps.items()}
        assert told == {
            "mid": [],
            "top": [("parent", "in", "")],
            "kid": [("child", "out", "")],
            "out": [("reference", "out", "")],
            "back": [("reference", "in", "")],
            "who": [("field", "out", "owner")],
        }
        assert {(step.source, step.target) for path in steps.values() for step in path} == {
            ("mid", name) for name in ("top", "kid", "out", "back", "who")
        }

    def test_a_path_of_two_steps_leads_from_the_start_to_the_node(self, weft):
        chain(weft, "a", "b", "c")
        (first, second) = nodes(ContextAssembler(weft).assemble("a"))["c"].path
        assert (first.source, first.target, second.source, second.target) == ("a", "b", "b", "c")

    def test_circles_end(self, weft):
        chain(weft, "a", "b", "c")
        weft.add([], [Edge(source="c", target="a"), Edge(source="a", target="a"), Edge(source="b", target="a")])
        document = ContextAssembler(weft).assemble("a", depth=5, lens=Lens(name="far"))
        assert {name: node.distance for name, node in nodes(document).items()} == {"a": 0, "b": 1, "c": 1}

    def test_at_most_a_hundred_nodes_are_reached_beside_the_starts(self, weft):
        weft.add([page("top"), *(page(f"p{n}", parent="top") for n in range(40))])
        weft.add([page(f"q{n}", parent=f"p{n % 40}", title=f"Leaf {n}") for n in range(200)])
        document = ContextAssembler(weft).assemble("top", max_tokens=7_999)
        assert len(document.nodes) == 101

    def test_a_hub_is_sampled_by_relevance_and_that_is_noted(self, weft):
        crowd = [page(f"k{n:03}", f"drum number {n}", parent="hub", days=n % 7) for n in range(80)]
        weft.add([page("hub"), *crowd, page("wanted", "a violin", parent="hub", days=900)])
        document = ContextAssembler(weft).assemble("violin", focus="hub", depth=1, max_tokens=7_999)
        found = nodes(document)
        assert len(found) == 51
        assert "wanted" in found
        assert document.meta.sampled_hubs == ("hub",)
        assert {node.sampled_hubs for name, node in found.items() if node.distance} == {("hub",)}
        assert document.to_dict()["meta"]["sampledHubs"] == ["hub"]
        assert ContextAssembler(weft).assemble("k001", depth=1).meta.sampled_hubs == ()

    @pytest.mark.parametrize("depth", [0, 6, -1, 2.5, 2.0, "2", True, None])
    def test_a_depth_outside_one_to_five_is_refused(self, weft, depth):
        chain(weft, "a", "b")
        with pytest.raises(InvalidInput, match="depth must be from 1 to 5, got"):
            ContextAssembler(weft).assemble("a", depth=depth)

    def test_the_lens_caps_the_depth_and_meta_says_so(self, weft):
        chain(weft, *"abcdefg")
        document = ContextAssembler(weft).assemble("a", depth=5, lens="writing")
        assert max(node.distance for node in document.nodes) == document.meta.depth == 2
        assert document.meta.warnings == ("depth 5 was lowered to 2, the most of lens 'writing'",)
        assert ContextAssembler(weft).assemble("a", depth=2, lens="writing").meta.warnings == ()


class TestResolve:
    def test_a_topic_is_searched_for(self, weft):
        chain(weft, "a", "b")
        weft.add([page("c", "the violin is old", title="Instruments")])
        document = ContextAssembler(weft).assemble("old violin")
        assert [node.id for node in document.nodes] == ["c"]
        assert document.nodes[0].topics[0].topic == "old violin"

    def test_a_topic_that_nobody_wrote_about_is_an_empty_document_with_a_warning(self, weft):
        chain(weft, "a", "b")
        document = ContextAssembler(weft).assemble("xylophone zither")
        assert (document.nodes, document.overflow) == ((), ())
        assert document.meta.warnings == ("nothing was found for 'xylophone zither'",)
        assert document.meta.tokens.used == get_counter().count(document.markdown) <= 4000

    def test_one_topic_of_two_that_leads_nowhere_leaves_the_other(self, weft):
        chain(weft, "a", "b")
        document = ContextAssembler(weft).assemble(["a", "zither"])
        assert {node.id for node in document.nodes} == {"a", "b"}
        assert document.meta.warnings == ("nothing was found for 'zither'",)

    def test_hidden_and_absent_ids_fail_alike(self, weft):
        weft.add([page("note-1", "secret", access=frozenset({"me"}))])
        weft.add_user("ben")
        for name in ("note-1", "note-2"):
            with pytest.raises(NotFound, match=f"there is no node, citation or text '{name}'"):
                ContextAssembler(weft).assemble(name, user="ben")

    @pytest.mark.parametrize("value", ["x", -5, 1.5, True, None])
    @pytest.mark.parametrize("name", ["header_reserve", "min_per_node"])
    def test_a_reserve_that_is_no_number_of_tokens_is_refused(self, name, value):
        with pytest.raises(InvalidInput, match=f"{name} must be a whole number of tokens from 0 on, got"):
            TokenBudget(**{name: value})

    def test_nothing_to_start_from_is_refused(self, weft):
        for query in ("", "  ", []):
            with pytest.raises(InvalidInput, match="give a topic, a node's id or a focus"):
                ContextAssembler(weft).assemble(query)

    def test_what_is_no_query_is_refused(self, weft):
        for query in (5, None, {"a"}):
            with pytest.raises(InvalidInput, match="the query must be text or a list of topics, got"):
                ContextAssembler(weft).assemble(query)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="a topic must be text, got 5"):
            ContextAssembler(weft).assemble([5])  # type: ignore[list-item]

    def test_what_no_text_can_hold_and_what_no_message_can_hold_is_asked_for_all_the_same(self, weft):
        assert ContextAssembler(weft).assemble("\ud800 x").meta.warnings == ("nothing was found for '? x'",)
        (warning,) = ContextAssembler(weft).assemble("long " * 50_000).meta.warnings
        assert len(warning) < 200

    def test_an_unknown_lens_is_refused_with_the_names(self, weft):
        with pytest.raises(UnknownName, match="unknown lens 'x': use one of coding, general, meeting-prep"):
            ContextAssembler(weft).assemble("a", lens="x")


class TestFields:
    def test_fields_are_shown_unless_they_are_not_wanted(self, weft):
        fields = {"status": "open", "Priority": 2, "done": False, "tags": ("x", "y"), "none": None, "owner": "Ana"}
        weft.add([page("a", "text", fields=fields)])
        assembler = ContextAssembler(weft)
        node = assembler.assemble("a").nodes[0]
        assert node.fields == {
            "Priority": "2", "done": "false", "owner": "Ana", "status": "open", "tags": ("x", "y"),
        }  # fmt: skip
        assert "owner: Ana" in assembler.assemble("a").markdown
        without = assembler.assemble("a", include_fields=False)
        assert "owner" not in without.markdown
        assert "fields" not in without.to_dict()["nodes"][0]

    def test_the_fields_of_a_lens_come_first_and_are_there_even_without_fields(self, weft):
        fields = {"status": "open", "Priority": 2, "assignee": "Bo", "age": 7}
        weft.add([page("a", "text", fields=fields)])
        assembler = ContextAssembler(weft)
        with_all = assembler.assemble("a", lens="coding")
        assert list(with_all.nodes[0].fields) == ["status", "Priority", "assignee", "age"]
        assert "status: open; Priority: 2; assignee: Bo; age: 7" in with_all.markdown
        few = assembler.assemble("a", lens="coding", include_fields=False)
        assert few.nodes[0].fields == {"status": "open", "Priority": "2", "assignee": "Bo"}
        assert "status: open; Priority: 2; assignee: Bo\n" in few.markdown


class TestBudget:
    def crowd(self, weft, count=30, words=20):
        told = "some words " * words
        weft.add(
            [page("hub", "The hub."), *(page(f"n{n:02}", f"Note {n}. {told}") for n in range(count))],
            [Edge(source="hub", target=f"n{n:02}") for n in range(count)],
        )

    @pytest.mark.parametrize("budget", [500, 501, 700, 1500, 4000])
    def test_the_document_keeps_its_budget_and_says_exactly_what_it_used(self, weft, budget):
        self.crowd(weft, words=60)
        document = ContextAssembler(weft).assemble("hub", max_tokens=budget)
        tokens = document.meta.tokens
        assert tokens.used == get_counter().count(document.markdown) <= budget == tokens.budget
        assert tokens.utilization == round(tokens.used / budget, 2) > 0.5
        assert tokens.nodes_included == len(document.nodes) > 0
        # The list of what did not fit is complete.
        assert tokens.nodes_summarized == len(document.overflow)
        assert (tokens.nodes_included + tokens.nodes_summarized, tokens.nodes_omitted) == (31, 0)

    @pytest.mark.parametrize("budget", [150, 400, 500, 1000, 4000])
    @pytest.mark.parametrize("details", [False, True])
    def test_json_keeps_the_budget_and_says_exactly_what_it_used(self, weft, budget, details):
        self.crowd(weft, words=60)
        document = ContextAssembler(weft).assemble("hub", max_tokens=budget)
        values = fitted(document, get_counter(), max(budget, 250 if details else 0), details=details)
        tokens = values["meta"]["tokens"]
        assert tokens["used"] == get_counter().count(as_text(values)) <= max(budget, 250)
        assert (tokens["nodesIncluded"], tokens["nodesSummarized"]) == (len(values["nodes"]), len(values["overflow"]))
        assert budget < 500 or values["nodes"][0]["id"] == "hub"

    def test_a_budget_that_holds_no_json_is_an_error_with_the_fix(self, weft):
        self.crowd(weft)
        document = ContextAssembler(weft).assemble("hub", max_tokens=50)
        with pytest.raises(
            InvalidInput, match=r"JSON needs at least .* tokens, the budget has 50: ask with format markdown"
        ):
            fitted(document, get_counter(), 50)

    def test_what_does_not_fit_is_named_in_the_document(self, weft):
        self.crowd(weft)
        document = ContextAssembler(weft).assemble("hub", max_tokens=800)
        assert document.overflow
        assert min(node.score for node in document.nodes) >= max(node.score for node in document.overflow)
        listed = document.markdown.partition("## More, by title only\n\n")[2].strip().split("\n")
        named = {line.partition(" (note) [")[0].removeprefix("- ") for line in listed}
        assert named <= {node.name for node in document.overflow} and len(named) == len(listed) > 2
        assert {node.id for node in document.overflow}.isdisjoint(node.id for node in document.nodes)

    @pytest.mark.parametrize("budget", [20, 60, 200, 499])
    def test_a_budget_under_five_hundred_gives_names_and_types_only(self, weft, budget):
        self.crowd(weft)
        document = ContextAssembler(weft).assemble("hub", max_tokens=budget)
        assert document.nodes == ()
        assert document.meta.warnings[0] == ("a budget under 500 tokens holds names and types only: give 500 or more")
        lines = [line for line in document.markdown.strip().split("\n") if line.startswith("- ")]
        citations = {cited.node: cited.id for cited in document.context.citations}
        # What is only named can be opened by its citation.
        shown = [node for node in document.overflow if node.id in citations]
        assert sorted(lines) == sorted(f"- {node.name} (note) [{citations[node.id]}]" for node in shown)
        assert document.meta.tokens.used == get_counter().count(document.markdown) <= budget
        # The document itself names all that was reached, the hub and thirty others.
        assert document.meta.tokens.nodes_summarized == len(document.overflow) == 31 >= len(lines) > 0
        assert document.meta.tokens.nodes_omitted == 0

    @pytest.mark.parametrize("budget", [1, 2])
    def test_a_budget_without_room_for_a_line_gives_nothing_and_says_so(self, weft, budget):
        self.crowd(weft)
        document = ContextAssembler(weft).assemble("hub", max_tokens=budget)
        assert (document.markdown, document.nodes) == ("", ())
        assert any("does not fit into" in warning for warning in document.meta.warnings)

    @pytest.mark.parametrize("budget", [0, -1, 2.5, "4000", True])
    def test_a_budget_that_is_no_whole_number_is_refused(self, weft, budget):
        with pytest.raises(BudgetError, match="give a whole number of at least 1"):
            ContextAssembler(weft).assemble("hub", max_tokens=budget)

    def test_the_rules_of_the_budget_hold(self, weft):
        self.crowd(weft)
        assert TokenBudget() == TokenBudget(max_tokens=4000, header_reserve=200, min_per_node=50)
        default = ContextAssembler(weft).assemble("hub", max_tokens=1500)
        none = ContextAssembler(weft, TokenBudget(1500, header_reserve=0)).assemble("hub")
        assert "## More, by title only" in default.markdown and "## More" not in none.markdown
        assert len(none.nodes) > len(default.nodes)
        # With 1,000 tokens for each node, only what was asked for is written out, however small the others are.
        strict = ContextAssembler(weft, TokenBudget(900, min_per_node=1000)).assemble("hub")
        assert [node.id for node in strict.nodes] == ["hub"]

    def test_the_passages_of_a_node_are_put_together_in_reading_order(self, weft):
        text = "\n\n".join(f"Paragraph {n}. " + f"Some words {n} that fill it {n}. " * 60 for n in range(4))
        weft.add([page("long", text), page("other", text.replace("fill", "make")), page("tiny", "Small.")],
                 [Edge(source="long", target="other"), Edge(source="long", target="tiny")])  # fmt: skip
        found = nodes(ContextAssembler(weft).assemble("long", max_tokens=20_000))
        assert found["long"].content == text.rstrip()
        assert len(found["long"].citations) > 3
        assert found["other"].content.startswith("Paragraph 0.")
        assert found["other"].content.endswith("\n[...]")
        assert found["tiny"].content == "Small."
        tight = nodes(ContextAssembler(weft).assemble("long", max_tokens=700))["long"]
        whole = found["long"].citations
        places = [whole.index(citation) for citation in tight.citations]
        assert len(places) < len(whole) and places == sorted(places)
        assert tight.content.startswith("[...]\n") == (places[0] > 0)
        assert tight.content.endswith("\n[...]") == (places[-1] < len(whole) - 1)
        gaps = sum(after - before > 1 for before, after in pairwise([-1, *places, len(whole)]))
        assert tight.content.count("[...]") == gaps > 0


class TestFormat:
    def test_json_is_as_documented(self, weft):
        weft.add([page("a", "# A\n\nText.", tags=("project", "security"), fields={"status": "active"}, days=0)])
        weft.add([page("b", parent="a", title="B")])
        told = json.loads(ContextAssembler(weft).assemble("a", lens="coding").to_json())
        assert list(told) == ["meta", "nodes", "overflow"]
        meta = told["meta"]
        assert list(meta)[:6] == ["query", "workspace", "lens", "tokens", "assembledAt", "backend"]
        assert list(meta["tokens"])[:5] == ["budget", "used", "utilization", "nodesIncluded", "nodesSummarized"]
        assert (meta["query"], meta["workspace"], meta["lens"]) == ("a", "main", "coding")
        assert (meta["assembledAt"], meta["backend"]) == ("2026-03-16T09:00:00Z", "sqlite")
        first, second = told["nodes"]
        assert list(first)[:8] == ["id", "name", "content", "tags", "fields", "score", "distance", "path"]
        assert first["content"] == "# A\n\nText."
        assert (first["id"], first["name"], first["tags"]) == ("a", "A", ["project", "security"])
        assert (first["fields"], first["distance"], first["path"]) == ({"status": "active"}, 0, [])
        assert second["path"] == [{"type": "child", "direction": "out", "from": "a", "to": "b", "label": ""}]

    def test_markdown_has_a_heading_for_each_document_and_tells_more_on_request(self, weft):
        weft.add([page("a", "Text a."), page("b", "Text b.", parent="a", tags=("x",)), page("c", "Text c."), page("d")])
        weft.add([page("e", "Text e.", parent="c")], [Edge(source="b", target="c"), Edge(source="a", target="d")])
        document = ContextAssembler(weft).assemble("a", depth=3)
        ids = {node.name: node.citations[0] for node in document.nodes}
        headings = [line for line in document.markdown.split("\n") if line.startswith("#")]
        assert headings == ["# Context", *(f"## {name} [{ids[name]}]" for name in "ABDCE")]
        more = ContextAssembler(weft).assemble("a", depth=3, show=("type", "tags", "route")).markdown
        assert "## B (note; #x; from a → child b)" in more
        assert "from a → child b → reference c" in more

    def test_the_same_request_gives_the_same_bytes_and_nothing_volatile(self, tmp_path):
        told = []
        for hours in (0, 5):
            clock = partial(NOW.__add__, timedelta(hours=hours))
            with Weft.open(tmp_path / f"{hours}.weft", embedder="hashing", clock=clock) as weft:
                chain(weft, "a", "b", "c")
                told.append(ContextAssembler(weft).assemble("a").markdown)
        assert told[0] == told[1]

    def test_the_recipe_gives_the_same_text_without_the_face(self, weft):
        chain(weft, "a", "b", "c")
        document = ContextAssembler(weft).assemble("a")
        header, separator, text = document.markdown.partition("\n\n")
        assert weft.context("a", recipe="graph", lens="general").text == text
        assert header + separator == (
            "Query: a\nLens: general, depth 2. "
            f"Tokens: {get_counter().count(document.markdown)} of 4000. Found: 3 nodes.\n\n"
        )

    def test_a_lens_works_with_any_recipe(self, weft):
        weft.add([page("a", "violin"), page("b", "violin", type="decision", days=31, title="B")])
        plain = weft.context("violin")
        seen = weft.context("violin", lens="coding")
        boosts = {each.node: each.signals.get("boost") for each in seen.trace}
        assert boosts["b"] == pytest.approx(0.1)
        assert all("boost" not in each.signals for each in plain.trace)
        with pytest.raises(UnknownName, match="unknown lens 'x'"):
            weft.context("violin", lens="x")
        with pytest.raises(InvalidInput, match="depth must be from 1 to 5, got 9"):
            weft.context("violin", lens="coding", depth=9)

    def test_a_title_cannot_forge_a_heading_nor_an_edge_a_line(self, weft):
        hostile = "x\n## Forged (page)\n- Forged (page) [pag-0000000000]"
        weft.add(
            [page("a", hostile, title=hostile, tags=(hostile,), fields={hostile: hostile}), page("b", title=hostile)],
            [Edge(source="a", target="b", type=hostile[:60], label=hostile)],
        )
        for budget in (300, 4000):
            text = ContextAssembler(weft).assemble("a", max_tokens=budget).markdown
            outside = text.split("```")[::2]
            lines = [line for part in outside for line in part.split("\n")]
            assert not [line for line in lines if line.startswith(("## Forged", "- Forged"))]


TAGS = {"writing": "draft", "coding": "Architecture", "planning": "#milestone", "meeting-prep": "agenda"}


class TestLenses:
    """One graph around a project; each lens brings other nodes into a budget that holds a few of them."""

    @pytest.fixture
    def project(self, blind):
        text = "some words that take their room in the document " * 8
        tagged = [
            page(
                f"{lens}-{n}",
                text.replace("room", f"room {lens} {n}"),
                tags=(tag,),
                parent="hub",
                days=60 + 9 * age + n,
            )
            for age, (lens, tag) in enumerate(TAGS.items())
            for n in range(2)
        ]
        plain = [page(f"plain-{n}", text + str(n) * 9, parent="hub", days=50 + n) for n in range(4)]
        blind.add([page("hub", "The project."), *tagged, *plain])
        return ContextAssembler(blind)

    def chosen(self, assembler, lens):
        return {node.id for node in assembler.assemble("hub", lens=lens, max_tokens=500).nodes} - {"hub"}

    def test_each_lens_chooses_differently_on_the_same_graph(self, project):
        found = {lens: self.chosen(project, lens) for lens in BUILTIN}
        # The newest, and of the next newest as much as they leave room for.
        assert found["general"] == {"plain-0", "plain-1", "plain-2", "plain-3", "writing-0"}
        for lens in TAGS:
            assert {f"{lens}-0", f"{lens}-1"} <= found[lens], lens
        assert len({frozenset(names) for names in found.values()}) == 5

    def test_without_their_boosts_they_choose_the_same(self, project):
        found = [self.chosen(project, replace(lens, boost_tags=())) for lens in BUILTIN.values()]
        assert all(names == found[0] for names in found)

    def test_a_type_is_boosted_like_a_tag(self, weft):
        weft.add([page("hub"), page("a", "x", parent="hub", type="Task"), page("b", "y", parent="hub", type="note")])
        found = nodes(ContextAssembler(weft).assemble("hub", lens="planning"))
        assert found["a"].components["boost"] == pytest.approx(0.1)
        assert "boost" not in found["b"].components

    def test_edge_types_decide_what_survives_a_hub(self, weft):
        crowd = [page(f"kid{n:02}", parent="hub") for n in range(60)]
        linked = [page(f"ref{n:02}") for n in range(60)]
        fields = [page(f"val{n:02}") for n in range(60)]
        weft.add(
            [page("hub"), *crowd, *linked, *fields],
            [
                *(Edge(source="hub", target=each.id) for each in linked),
                *(Edge(source="hub", target=each.id, type="field") for each in fields),
            ],
        )

        def kept(lens):
            document = ContextAssembler(weft).assemble("hub", lens=lens, depth=1, max_tokens=7_999)
            kinds = [node.id[:3] for node in document.nodes if node.distance]
            return {kind: kinds.count(kind) for kind in ("kid", "ref", "val")}

        assert kept("general") == {"kid": 25, "ref": 13, "val": 12}
        assert kept("writing") == {"kid": 25, "ref": 13, "val": 12}
        assert kept("coding") == {"ref": 25, "val": 13, "kid": 12}
        assert kept("planning") == {"kid": 25, "val": 13, "ref": 12}
        assert kept("meeting-prep") == {"ref": 25, "kid": 13, "val": 12}


def test_overdue_tasks_are_starts_ahead_of_all_others(weft):
    weft.add(
        [
            page("late", "Glue the cell.", type="todo", fields={"due": "2026-03-01", "status": "open"}),
            page("later", "Paint the tube.", type="todo", fields={"due": "2026-04-01", "status": "open"}),
            page("done", "Cut the foam.", type="todo", fields={"due": "2026-03-01", "status": "done"}),
            page("rules", "Which tasks are overdue? An overdue task is one whose date has passed.", days=0),
        ]
    )
    document = ContextAssembler(weft).assemble("What tasks are overdue?")
    assert document.nodes[0].id == "late"
    parts = document.nodes[0].components
    assert sum(parts.values()) == pytest.approx(1)  # the task that is overdue longest
    assert "overdue" not in nodes(document)["rules"].components
    assert not {"later", "done"} & {node.id for node in document.nodes if "overdue" in node.components}


def test_blocks_without_text_do_not_rank_above_what_says_something(weft):
    dividers = [page(f"line-{number}", title="", type="divider", parent="r", position=number) for number in range(30)]
    weft.add(
        [
            page("r", "The board of the sprint.", title="Sprint board"),
            *dividers,
            page("goal", "The goal of the sprint.", parent="r"),
        ]
    )
    document = ContextAssembler(weft).assemble("r", max_tokens=500)
    assert [node.id for node in document.nodes[:2]] == ["r", "goal"]


def test_the_node_that_was_asked_for_is_in_its_context_however_long_it_is(weft):
    weft.add([page("big", "Many words that say little. " * 200, days=900)])
    weft.add([page(f"child-{number}", "big news", parent="big", days=0) for number in range(40)])
    for budget in (500, 600, 1000):
        for query in ("big", "Big"):
            document = ContextAssembler(weft).assemble(query, max_tokens=budget)
            assert "big" in nodes(document), budget
            assert document.meta.tokens.used <= budget


def test_a_question_that_names_a_note_is_searched_for_too(weft):
    weft.add([page("quinces", "They ripen late."), page("jelly", "Quince jelly needs two kilos of sugar.")])
    found = nodes(ContextAssembler(weft).assemble("How much sugar does jelly need, beside [[Quinces]]?"))
    assert list(found) == ["quinces", "jelly"]


def test_what_a_search_is_hardly_sure_of_counts_less_than_its_best_hit_and_so_does_what_it_leads_to(weft):
    weft.add(
        [
            page("best", "Quince jelly needs two kilos of sugar.", title=""),
            page("weak", "The sugar bowl is broken.", title=""),
            page("near", "A bowl.", title=""),
        ],
        [Edge(source="weak", target="near")],
    )
    found = nodes(ContextAssembler(weft).assemble("how much sugar does quince jelly need"))
    shares = [found[name].components["graphDistance"] for name in ("best", "weak", "near")]
    assert shares[0] > shares[1] + 0.05
    assert shares[1] >= shares[2] > 0


def test_what_stands_above_a_hit_does_not_bring_the_first_of_its_children(weft):
    weft.add(
        [
            page("books", type="page"),
            page("first", "Frankenstein, a novel.", parent="books", type="list_item", position=0),
            page("third", "Notes are quick to capture.", parent="books", type="list_item", position=2),
        ]
    )
    document = ContextAssembler(weft).assemble("third", depth=1)
    assert "quick to capture" in document.markdown
    assert "a novel" not in document.markdown


def test_a_folder_is_no_bridge_to_unrelated_notes_and_a_section_is_one_to_its_page(weft):
    weft.add(
        [
            page("folder", type="folder"),
            page("note", "A note.", parent="folder", type="page"),
            page("sibling", "Something else.", parent="folder", type="page"),
            page("part", "A part.", parent="note", type="heading"),
            page("other", "Another part.", parent="note", type="heading"),
        ]
    )
    reached = {decision.node for decision in ContextAssembler(weft).assemble("part", depth=3).context.trace}
    assert reached == {"part", "note", "other", "folder"}
    asked = {decision.node for decision in ContextAssembler(weft).assemble("folder", depth=1).context.trace}
    assert asked >= {"folder", "note", "sibling"}


def test_a_mention_counts_as_much_as_its_weight(blind):
    blind.add(
        [page("a", "a text"), page("b", "b text"), page("c", "c text")],
        [Edge(source="a", target="b", type="mention", weight=0.3), Edge(source="a", target="c")],
    )
    found = nodes(ContextAssembler(blind).assemble("a"))
    assert found["b"].components["graphDistance"] == pytest.approx(0.6 * 0.3)
    assert found["c"].components["graphDistance"] == pytest.approx(0.6)


@pytest.mark.parametrize("name", ["due", "Due date", "due-date", "dueDate", "due_on"])
def test_the_fields_of_a_lens_are_found_as_people_write_them(weft, name):
    weft.add([page("a", "a text", fields={"colour": "red", name: "2026-04-01", "Blocked by": "b"})])
    document = ContextAssembler(weft).assemble("a", lens="planning", include_fields=False)
    assert list(document.nodes[0].fields) == [name, "Blocked by"]


def test_a_line_of_the_list_says_which_document_a_section_is_of(weft):
    told = "some words " * 60
    weft.add(
        [
            page("hub", "The hub."),
            *(page(f"n{n}", type="page") for n in range(20)),
            *(page(f"s{n}", f"{n} {told}", title="Usage", parent=f"n{n}", type="heading") for n in range(20)),
        ],
        [Edge(source="hub", target=f"s{n}") for n in range(20)],
    )
    document = ContextAssembler(weft).assemble("hub", max_tokens=1000, depth=1)
    lines = document.markdown.partition("## More, by title only\n\n")[2].strip().split("\n")
    assert lines and all(" › Usage (heading) [" in line for line in lines)


def test_a_page_that_was_asked_for_is_first_even_if_only_what_stands_below_it_has_words(weft):
    told = "Some words that fill the page to its end. " * 40
    weft.add(
        [page("top", type="page"), *(page(f"s{n}", f"{n} {told}", parent="top", type="heading") for n in range(4))]
    )
    document = ContextAssembler(weft).assemble("top", max_tokens=600)
    first = document.nodes[0]
    assert (first.id, first.distance, first.score, first.path) == ("top", 0, 1.0, ())


def test_the_limits_and_the_routes_of_a_walk_can_be_chosen(weft):
    weft.add(
        [page("hub", "The hub."), *(page(f"n{n}", f"Note {n}.") for n in range(9))],
        [Edge(source="hub", target=f"n{n}", type="field" if n else "reference") for n in range(9)],
    )
    assembler = ContextAssembler(weft)
    assert len(assembler.assemble("hub").nodes) == 10
    assert len(assembler.assemble("hub", limit=3).nodes) == 4
    few = assembler.assemble("hub", hub_limit=2)
    assert (len(few.nodes), few.meta.sampled_hubs) == (3, ("hub",))
    assert {node.id for node in assembler.assemble("hub", edge_types=("reference",)).nodes} == {"hub", "n0"}
    assert "reference" not in assembler.assemble("hub").markdown
    assert "reference" in assembler.assemble("hub", routes=True).markdown
    with pytest.raises(InvalidInput, match="limit must be a whole number of at least 1, got 0"):
        assembler.assemble("hub", limit=0)


def test_the_words_of_a_section_that_was_asked_for_come_before_what_stands_below_it(weft):
    told = " ".join(f"word{n}" for n in range(120))
    weft.add(
        [
            page("guide", ""),
            page("top", "Only this says why.", type="heading", parent="guide"),
            *(page(f"part-{n}", f"Part {n}. {told}", type="heading", parent="top") for n in range(4)),
        ]
    )
    document = ContextAssembler(weft).assemble("", focus="top", max_tokens=500)
    assert "Only this says why." in document.markdown
    assert document.markdown.index("Only this") < document.markdown.index("Part ")


def test_a_small_budget_has_a_brief_header_and_counts_no_folder_as_left_out(weft):
    weft.add([page("box", "", type="folder"), page("a", "The mirror.", parent="box"), page("b", "x", parent="a")])
    brief = ContextAssembler(weft).assemble("a", max_tokens=999)
    assert brief.markdown.startswith(f"Tokens: {get_counter().count(brief.markdown)} of 999. Found: 2 nodes.\n\n")
    whole = ContextAssembler(weft).assemble("b", max_tokens=1000, depth=1)
    assert whole.markdown.startswith("Query: b\nLens: general, depth 1. Tokens: ")


def test_a_large_budget_walks_further_than_a_hundred_nodes(weft):
    told = "some words " * 20
    weft.add([page("hub", "The hub."), *(page(f"n{n:03}", f"Note {n}. {told}", parent="hub") for n in range(300))])
    usual = ContextAssembler(weft).assemble("hub")
    assert (usual.meta.tokens.nodes_summarized + len(usual.nodes), usual.meta.sampled_hubs) == (51, ("hub",))
    large = ContextAssembler(weft).assemble("hub", max_tokens=100_000)
    assert (len(large.nodes), large.overflow, large.meta.sampled_hubs) == (301, (), ())
    assert "## More" not in large.markdown
    assert len(ContextAssembler(weft).assemble("hub", max_tokens=100_000, limit=7).nodes) == 8


def test_json_shortens_the_node_that_does_not_fit_whole(weft):
    told = " ".join(f"word{n}" for n in range(400))
    weft.add([page("hub", "The hub."), page("long", told, parent="hub")])
    document = ContextAssembler(weft).assemble("hub", max_tokens=4000)
    value = fitted(document, get_counter(), 600)
    assert [node["id"] for node in value["nodes"]] == ["hub", "long"]
    assert value["nodes"][1]["content"].endswith("[...]")
    assert 500 < value["meta"]["tokens"]["used"] <= 600
