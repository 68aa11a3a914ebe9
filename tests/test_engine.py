"""The engine as its users see it: real SQLite, real indexes, a clock that is handed in."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from weftwork.collect import LexicalCollector
from weftwork.compose.ordering import WithEvidence
from weftwork.context_cache import MOST
from weftwork.embed.hashing import HashingEmbedder
from weftwork.engine import Weft
from weftwork.errors import BudgetError, CycleError, InvalidInput, NotFound, StoreError, UnknownName
from weftwork.history import Vote
from weftwork.near_misses import NearMisses
from weftwork.recipe import Recipe, get_recipe
from weftwork.render import to_dict, to_json
from weftwork.request import Message
from weftwork.score import Profile
from weftwork.text.tokens import get_counter
from weftwork.types import Budget, Edge, Filters, Node

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
WORDS = "mirror telescope library birch polish april lens tube focus star moon night grind base ship".split()


class Clock:
    """Time that stands still until it is told otherwise."""

    def __init__(self, now=NOW):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def weft(tmp_path, clock):
    with Weft.open(tmp_path / "notes.weft", embedder="hashing", clock=clock) as opened:
        yield opened


def notes(count=12, length=30):
    """Notes of different words and sizes that all speak of the mirror."""
    return [
        Node(
            id=f"n{n:02}",
            title=f"Note {n}",
            text="mirror " + " ".join(WORDS[(n * 7 + k * (n + 1)) % len(WORDS)] for k in range(length + 5 * n)),
        )
        for n in range(count)
    ]


def decision(context, node):
    (found,) = [each for each in context.trace if each.node == node]
    return found


def shown(context):
    return [item.candidate.node.id for item in context.items]


EVERYTHING_FOUND = replace(get_recipe("default"), order=None)
PLAIN = replace(EVERYTHING_FOUND, sections={}, lines=False, packer="ranked")


class TestOpening:
    def test_a_new_store_has_a_workspace_and_a_user(self, weft):
        assert weft.store.workspaces() == ["main"]
        assert weft.store.users("main") == {"me": ()}

    def test_what_was_added_is_there_when_the_store_is_opened_again(self, tmp_path, clock):
        with Weft.open(tmp_path / "a.weft", embedder="hashing", clock=clock) as first:
            first.add([Node(id="a", text="mirror")])
            before = first.context("mirror")
        with Weft.open(tmp_path / "a.weft", embedder="hashing", clock=clock, create=False) as second:
            assert second.node("a").text == "mirror"
            assert to_json(second.context("mirror")) == to_json(before)
            assert second.store.workspaces() == ["main"]

    def test_a_store_that_does_not_exist_is_not_created_unasked(self, tmp_path):
        with pytest.raises(NotFound, match=r"gone\.weft does not exist: create it with  weftwork init"):
            Weft.open(tmp_path / "gone.weft", create=False)
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_does_not_exist_is_told(self, tmp_path):
        with pytest.raises(StoreError, match="check that the folder exists"):
            Weft.open(tmp_path / "no" / "where.weft", embedder=None)

    def test_a_file_that_is_no_store_is_told(self, tmp_path):
        (tmp_path / "x.weft").write_bytes(b"not a database at all, but long enough to be read as one" * 40)
        with pytest.raises(StoreError, match="damaged or not a Weftwork store"):
            Weft.open(tmp_path / "x.weft", embedder=None)

    @pytest.mark.parametrize(
        ("setting", "kind"),
        [({"embedder": "nonsense"}, "embedding provider"), ({"tokenizer": "nonsense"}, "tokenizer")],
    )
    def test_unknown_parts_are_refused_with_the_names_that_exist(self, tmp_path, setting, kind):
        with pytest.raises(UnknownName, match=f"unknown {kind} 'nonsense': use one of"):
            Weft.open(tmp_path / "x.weft", **{"embedder": None, **setting})

    def test_a_closed_store_refuses_reads_and_writes_and_can_be_closed_again(self, tmp_path, clock):
        weft = Weft.open(tmp_path / "a.weft", embedder=None, clock=clock)
        weft.add([Node(id="a", text="mirror")])
        weft.close()
        for use in (
            weft.stats,
            lambda: weft.add([Node(id="b")]),
            lambda: weft.context("mirror"),
            lambda: weft.node("a"),
        ):
            with pytest.raises(StoreError, match=r"a\.weft was closed: open it again"):
                use()
        weft.close()

    def test_a_view_in_use_outlives_the_closing(self, tmp_path, clock):
        weft = Weft.open(tmp_path / "a.weft", embedder=None, clock=clock)
        weft.add([Node(id="a", text="mirror")])
        with weft.store.view("main", "me") as view:
            weft.close()
            assert [each.text for each in view.nodes(["a"])] == ["mirror"]

    def test_all_is_written_when_the_store_is_closed(self, tmp_path, clock):
        with Weft.open(tmp_path / "a.weft", embedder=None, clock=clock) as weft:
            weft.add([Node(id="a", text="mirror")])
        with sqlite3.connect(tmp_path / "a.weft") as plain:
            assert plain.execute("SELECT text FROM passages").fetchall() == [("mirror",)]
        plain.close()


class TestWriting:
    def test_adding_tells_what_changed(self, weft):
        added = weft.add([Node(id="a", text="mirror"), Node(id="b", text="base")], [Edge(source="a", target="b")])
        assert (added.nodes, added.edges, added.embedded) == (2, 1, 2)

    def test_adding_the_same_again_changes_nothing(self, weft):
        nodes, edges = [Node(id="a", text="mirror"), Node(id="b", text="base")], [Edge(source="a", target="b")]
        weft.add(nodes, edges)
        before = weft.store.version("main")
        again = weft.add(nodes, edges)
        assert (again.nodes, again.edges, again.embedded) == (0, 0, 2)
        assert weft.store.version("main") == before

    def test_only_text_that_is_new_is_embedded_and_every_text_is_counted(self, tmp_path):
        class Counting(HashingEmbedder):
            texts: list[str] = []  # noqa: RUF012

            def embed_batch(self, texts):
                self.texts += texts
                return super().embed_batch(texts)

        with Weft.open(tmp_path / "notes.weft", embedder=Counting(), visual=None) as weft:
            weft.add([Node(id="a", text="mirror"), Node(id="b", text="base")])
            added = weft.add([Node(id="a", text="mirror", tags=("new",)), Node(id="b", text="another base")])
        assert (added.nodes, added.embedded) == (2, 2)
        assert [text.strip() for text in Counting.texts] == ["mirror", "base", "another base"]

    def test_a_call_is_written_whole_or_not_at_all(self, weft):
        with pytest.raises(NotFound, match="'nowhere'"):
            weft.add([Node(id="a", text="mirror")], [Edge(source="a", target="nowhere")])
        with pytest.raises(CycleError):
            weft.add([Node(id="x"), Node(id="a", parent="b"), Node(id="b", parent="a")])
        assert weft.stats()["nodes"] == 0

    def test_several_writes_are_one_transaction(self, weft):
        with pytest.raises(RuntimeError), weft.atomic():
            weft.add([Node(id="a", text="mirror")])
            weft.add([Node(id="b", text="mirror")])
            raise RuntimeError
        assert weft.stats()["nodes"] == 0
        assert weft.search("mirror") == []

    def test_removing_takes_everything_below_along(self, weft):
        weft.add([Node(id="a", text="mirror"), Node(id="b", text="mirror", parent="a"), Node(id="c", text="mirror")])
        assert weft.remove(["a", "unknown"]) == 2
        assert [each.node.id for each in weft.search("mirror")] == ["c"]
        assert weft.remove(["a"]) == 0

    def test_a_write_shows_in_the_next_context(self, weft):
        weft.add([Node(id="a", text="mirror one")])
        assert shown(weft.context("mirror")) == ["a"]
        weft.add([Node(id="b", text="mirror two")])
        assert set(shown(weft.context("mirror"))) == {"a", "b"}
        weft.remove(["a"])
        assert shown(weft.context("mirror")) == ["b"]

    def test_times_that_are_not_given_come_from_the_clock(self, weft, clock):
        clock.now = NOW - timedelta(days=3)
        weft.add([Node(id="a", text="mirror")])
        clock.now = NOW
        weft.add([Node(id="a", text="another mirror")])
        node = weft.node("a")
        assert (node.created_at, node.updated_at) == (NOW - timedelta(days=3), NOW)

    def test_what_a_user_viewed_and_edited_counts_for_them_alone(self, weft):
        weft.add_user("ana")
        weft.add([Node(id="plan", text="The plan."), Node(id="pay", text="The pay.", access=frozenset({"ana"}))])
        weft.record("plan", "view", at=NOW - timedelta(hours=2))
        weft.record("plan", "view", at=NOW - timedelta(hours=3))
        weft.record("plan", "edit", user="ana")
        for reference, kind, error, said in (
            ("pay", "view", NotFound, "there is no node or citation 'pay'"),
            ("absent", "view", NotFound, "there is no node or citation 'absent'"),
            ("plan", "like", UnknownName, "use one of edit, view"),
            (None, "view", InvalidInput, "use text"),
        ):
            with pytest.raises(error, match=said):
                weft.record(reference, kind)
        for at, said in ((NOW + timedelta(seconds=1), "is in the future"), ("2026-01-01", "at must be a time")):
            with pytest.raises(InvalidInput, match=said):
                weft.record("plan", "view", at=at)
        with pytest.raises(NotFound, match="nobody"):
            weft.record("plan", "view", user="nobody")
        with weft.store.view("main", "me") as view:
            assert [(event.node, event.at) for event in view.events("view", limit=9)] == [
                ("plan", NOW - timedelta(hours=2))
            ]
            assert view.events("edit", limit=9) == []
        text = weft.context("zzqq", recipe="workspace").text
        assert "The plan." in text.partition("### Recent Activity")[2]

    def test_stats_count_what_a_user_may_see(self, weft):
        weft.add_user("ben")
        weft.add(
            [
                Node(id="a", type="page", tags=("x",)),
                Node(id="b", type="page", tags=("y",), access=frozenset({"me"})),
            ],
            [Edge(source="a", target="b")],
        )
        assert weft.stats() == {"nodes": 2, "passages": 2, "edges": 1, "tags": 2, "nodes.page": 2}
        assert weft.stats(user="ben") == {"nodes": 1, "passages": 1, "edges": 0, "tags": 1, "nodes.page": 1}

    def test_workspaces_are_apart(self, weft):
        weft.create_workspace("other", owner="ana")
        weft.add([Node(id="a", text="mirror")])
        weft.add([Node(id="a", text="elsewhere")], workspace="other")
        assert weft.node("a").text == "mirror"
        assert weft.node("a", user="ana", workspace="other").text == "elsewhere"
        with pytest.raises(NotFound, match="user 'me' does not exist"):
            weft.node("a", workspace="other")

    def test_catching_up_brings_the_indexes_to_the_last_write(self, weft, tmp_path):
        weft.add([Node(id="a", text="mirror")])
        folder = tmp_path / "notes.weft.index"
        weft.catch_up()
        assert {path.name for path in folder.glob("*/*")} >= {"words"}
        assert [each.node.id for each in weft.search("mirror", mode="words")] == ["a"]
        assert [each.node.id for each in weft.search("mirror", mode="vector")] == ["a"]
        with pytest.raises(NotFound, match="workspace 'nowhere' does not exist"):
            weft.catch_up("nowhere")


class TestContext:
    def test_the_text_keeps_the_budget_and_is_counted_exactly(self, weft):
        weft.add(notes(30))
        counter = get_counter("o200k_base")
        for budget in (1, 7, 30, 60, 100, 250, 999, 4000):
            context = weft.context("mirror", budget=budget)
            assert context.tokens == counter.count(context.text) <= budget
            assert context.budget == budget

    def test_the_same_request_gives_the_same_bytes(self, tmp_path, clock):
        texts = set()
        for name in ("a", "b"):
            with Weft.open(tmp_path / f"{name}.weft", embedder="hashing", clock=clock) as weft:
                weft.add(notes())
                texts.add(to_json(weft.context("mirror telescope", budget=500)))
        assert len(texts) == 1

    def test_an_explanation_names_every_candidate_and_its_reason(self, weft):
        weft.add(notes(5))
        context = weft.context("mirror telescope", budget=200)
        told = weft.explain("mirror telescope", budget=200)
        assert all(decision.reason in told for decision in context.trace)
        assert f"{context.tokens} of 200" in told

    def test_every_candidate_has_a_decision_with_a_reason(self, weft):
        weft.add(notes(15))
        recipe = replace(EVERYTHING_FOUND, lines=True)
        written = json.loads(to_json(weft.context("mirror telescope", budget=660, recipe=recipe)))
        fates = {each["fate"] for each in written["decisions"]}
        assert {"included", "line", "dropped"} <= fates
        assert all(each["reason"] and each["findings"] and each["signals"] for each in written["decisions"])
        assert all(finding["rank"] >= 1 for each in written["decisions"] for finding in each["findings"])
        assert sorted(each["node"] for each in written["decisions"]) == [f"n{n:02}" for n in range(15)]

    def test_a_context_says_why_there_is_no_more_of_it(self, weft):
        assert weft.context("mirror").ended == "workspace"
        weft.add([*notes(3), Node(id="quince", text="A quince tree.")])
        assert weft.context("mirror telescope", budget=100).ended == "budget"
        assert weft.context("birch", recipe=replace(PLAIN, collectors=(LexicalCollector(),))).ended == "evidence"
        assert weft.context("mirror quince").ended == "workspace"
        assert "Ended      the budget is used up\n" in weft.explain("mirror telescope", budget=100)

    def test_nothing_to_be_found_is_said(self, weft):
        (empty,) = weft.context("mirror").warnings
        assert empty == "there is nothing in workspace 'main' that you may see: add something with  weftwork add"
        weft.add([Node(id="quince", text="A quince tree.")])
        lexical = replace(PLAIN, collectors=(LexicalCollector(),))
        assert weft.context("mirror", recipe=lexical).warnings == ("nothing was found for 'mirror'",)
        assert weft.context("quince", recipe=lexical).warnings == ()

    def test_the_trace_agrees_with_the_text(self, weft):
        weft.add(notes(30))
        context = weft.context("mirror telescope", budget=600)
        in_text = {each.citation for each in context.trace if each.fate != "dropped"}
        assert in_text == {each.id for each in context.citations}
        assert all(f"[{citation}]" in context.text for citation in in_text)
        assert not any(f"[{each.citation}]" in context.text for each in context.trace if each.fate == "dropped")

    def test_the_trace_is_in_the_order_of_the_scores(self, weft):
        weft.add(notes(30))
        trace = weft.context("mirror telescope", budget=600).trace
        assert [(-each.score, each.citation) for each in trace] == sorted(
            (-each.score, each.citation) for each in trace
        )

    def test_a_repeat_is_dropped_for_the_older_one_which_says_where_else_it_stands(self, weft):
        text = "The first forty telescopes leave the workshop in spring and none is packed before inspection by Ana."
        weft.add(
            [
                Node(id="plans", type="folder", title="Plans"),
                Node(id="copies", type="folder", title="Copies"),
                Node(id="old", text=text, title="Spring", parent="plans", created_at=NOW - timedelta(days=40)),
                Node(id="new", text=text + "\n", title="Spring", parent="copies", created_at=NOW - timedelta(days=1)),
                Node(id="other", text="Telescopes need mirrors.", updated_at=NOW),
            ]
        )
        context = weft.context("telescopes in spring")
        assert set(shown(context)) == {"old", "other"}
        gone = decision(context, "new")
        assert (gone.fate, gone.missing_tokens) == ("dropped", None)
        assert gone.reason == f"a repeat of [{decision(context, 'old').citation}]"
        assert context.text.count("forty telescopes") == 1 and "(also in: Copies › Spring)" in context.text

    def test_a_folder_is_quoted_only_if_it_says_something_or_was_asked_for(self, weft):
        weft.add(
            [
                Node(id="plans", type="folder", title="Mirror plans"),
                Node(id="notes", type="folder", title="Mirror notes", text="All about the mirror."),
                Node(id="spring", text="The mirror is coated in spring.", parent="plans"),
            ]
        )
        context = weft.context("plans for the mirror", recipe=EVERYTHING_FOUND)
        assert set(shown(context)) == {"notes", "spring"}
        assert decision(context, "plans").reason == "a folder, with nothing to quote"
        assert "plans" in shown(weft.context("[[Mirror plans]]"))
        strict = replace(EVERYTHING_FOUND, order=WithEvidence(0.5))
        assert shown(weft.context("plans for the mirror", recipe=strict)) == ["notes"], "the folder is no measure"

    def test_titles_without_text_and_tables_of_contents_are_left_out(self, weft):
        weft.add(
            [
                Node(
                    id="guide",
                    type="page",
                    title="Guide",
                    text="- [Align](#align)\n  1. [Mirror](#mirror)\n\n- [[#Mirror]]",
                ),
                Node(id="align", type="heading", title="Align the mirror", parent="guide"),
                Node(id="laser", text="Align the mirror with a laser.", parent="align"),
                Node(id="empty", type="heading", title="Clean the mirror", parent="template"),
                Node(id="template", type="page", title="Template"),
                Node(id="bare", type="page", title="The mirror"),
                Node(id="links", text="- See [the mirror](#mirror)"),
            ]
        )
        context = weft.context("align the mirror", recipe=EVERYTHING_FOUND)
        assert "a laser" in context.text and "(#align)" not in context.text
        assert "See [the mirror](#mirror)" in context.text
        assert decision(context, "guide").reason.startswith("a table of contents")
        assert decision(context, "bare").reason == "a title, with no text below it"
        assert "Clean the mirror" in context.text, "what a template asks for may be headings alone"
        assert "align" not in {each.node for each in context.trace if each.fate == "dropped"}
        assert "bare" in shown(weft.context("[[The mirror]]"))

    def test_notes_with_much_less_evidence_than_the_best_do_not_fill_a_budget(self, weft):
        weft.add(
            [
                Node(id="answer", title="Aligning the mirror", text="Align the mirror with a laser in the focuser."),
                Node(id="passing", title="Shopping", text="Bread, milk, a bathroom mirror, screws, glue and paint."),
                Node(id="named", title="Old plans", text="The mirror was to be bought."),
            ]
        )
        context = weft.context("How do I align the mirror with a laser? See [[Old plans]]", budget=2000)
        assert set(shown(context)) == {"answer", "named"}
        assert "evidence" in decision(context, "passing").reason
        everything = weft.context("How do I align the mirror with a laser?", budget=2000, recipe=EVERYTHING_FOUND)
        assert "passing" in shown(everything)

    def test_a_page_that_only_embeds_a_file_is_not_quoted_because_of_links(self, weft):
        weft.add(
            [
                Node(id="tart", title="Nectarine tart", text="Bake the nectarine tart for half an hour."),
                Node(id="recipes", type="page", title="Recipes", text="![[Recipes.base]]"),
            ],
            [Edge(source="tart", target="recipes")],
        )
        context = weft.context("How long is the nectarine tart baked?")
        assert shown(context) == ["tart"]
        assert decision(context, "recipes").reason == "it embeds another file, with nothing to quote"
        assert "recipes" in shown(weft.context("[[Recipes]]"))

    def test_what_a_user_may_not_see_leaves_no_trace(self, weft):
        weft.add_user("ben")
        weft.add(notes(5))
        before = to_json(weft.context("mirror secret", user="ben"))
        weft.add(
            [Node(id=f"s{n}", text=f"mirror secret {n}", access=frozenset({"me"})) for n in range(9)],
            [Edge(source="s1", target="n01")],
        )
        assert to_json(weft.context("mirror secret", user="ben")) == before
        assert "s1" in {each.node for each in weft.context("mirror secret").trace}

    def test_a_conversation_handed_in_is_part_of_it(self, weft):
        weft.add(notes(2))
        given = (Message("user", "Is the mirror ready?"), Message("assistant", "Not before Friday."))
        context = weft.context("And the base?", history=given)
        (history,) = [section for section in context.sections if section.name == "history"]
        assert [item.candidate.passage.text for item in history.items] == ["Is the mirror ready?", "Not before Friday."]

    def test_excluded_nodes_are_no_candidates_whoever_finds_them(self, weft):
        weft.add(
            [Node(id="p", text="mirror"), Node(id="f", parent="p"), Node(id="x", text="mirror", parent="p")],
            [Edge(source="f", target="x"), Edge(source="p", target="x")],
        )
        with weft.atomic() as batch:
            batch.record("me", "x", "edit", NOW)
        context = weft.context("mirror [[x]]", focus="f", include=("x",), filters=Filters(exclude=frozenset({"x"})))
        assert {each.node for each in context.trace} == {"p", "f"}

    def test_an_empty_store_gives_an_empty_context(self, weft):
        context = weft.context("mirror")
        assert (context.text, context.tokens, context.trace) == ("", 0, ())

    def test_stages_are_timed_outside_the_contexts_identity(self, weft):
        weft.add(notes(2))
        context = weft.context("mirror")
        assert set(context.timings) == {"collect", "score", "compose", "pack", "render"}
        assert "timings" not in to_dict(context)
        assert context == replace(context, timings={})

    def test_a_recipe_of_ones_own_is_used(self, weft):
        weft.add([Node(id="a", text="mirror", confidence=0.1), Node(id="b", text="mirror mirror", confidence=0.9)])
        sure = Recipe(
            name="sure",
            collectors=get_recipe("default").collectors,
            profile=Profile("sure", {"confidence": 1.0}),
            packer="ranked",
            template="chat",
        )
        context = weft.context("mirror", recipe=sure)
        assert [(each.node, each.score) for each in context.trace] == [("b", 0.9), ("a", 0.1)]
        assert context.text.startswith("Relevant context from past conversations:")

    def test_without_a_budget_the_recipes_own_is_kept(self, weft):
        weft.add(notes(3))
        assert weft.context("mirror", budget=None).budget == weft.context("mirror").budget == 4000
        assert weft.context("mirror", recipe=replace(PLAIN, tokens=900)).budget == 900

    @pytest.mark.parametrize("budget", [0, -1, True, 2.5, "4000"])
    def test_a_budget_that_is_no_positive_number_is_refused(self, weft, budget):
        with pytest.raises(BudgetError, match="the token budget is"):
            weft.context("mirror", budget=budget)

    def test_a_budget_with_own_shares_is_taken_as_it_is(self, weft):
        weft.add(notes(6))
        closed = weft.context("mirror", budget=Budget(total=2000, sections={"semantic": 0}))
        assert shown(closed) == []
        with pytest.raises(BudgetError, match="section 'focus'"):
            weft.context("mirror", budget=Budget(total=10, sections={"focus": -1}))

    @pytest.mark.parametrize(
        ("request_part", "error", "message"),
        [
            ({"recipe": "nonsense"}, UnknownName, "unknown recipe 'nonsense': use one of "),
            ({"truncation": "nonsense"}, UnknownName, "unknown truncation strategy 'nonsense': .*, summarize$"),
            ({"depth": 0}, InvalidInput, "depth must be from 1 to 5, got 0"),
            ({"depth": 6}, InvalidInput, "depth must be from 1 to 5, got 6"),
            ({"query": 5}, InvalidInput, "the query must be text, got 5"),
            ({"focus": "nowhere"}, NotFound, "focus 'nowhere' does not exist"),
            ({"thread": "nowhere"}, NotFound, "thread 'nowhere' does not exist"),
            ({"user": "nobody"}, NotFound, "user 'nobody' does not exist"),
            ({"workspace": "nowhere"}, NotFound, "workspace 'nowhere' does not exist"),
        ],
    )
    def test_a_request_that_cannot_be_answered_is_refused(self, weft, request_part, error, message):
        with pytest.raises(error, match=message):
            weft.context(**request_part)

    def test_without_an_embedder_the_context_is_made_from_words(self, tmp_path, clock):
        with Weft.open(tmp_path / "w.weft", embedder=None, clock=clock) as weft:
            assert weft.add(notes(5)).embedded == 0
            context = weft.context("mirror telescope")
            assert sorted(shown(context)) == ["n00", "n01", "n03"]
            assert all("evidence" in decision(context, node).reason for node in ("n02", "n04"))
            assert {found.collector for each in context.trace for found in each.findings} == {"lexical"}
            assert weft.search("telescope", mode="vector") == []

    def test_an_embedder_of_ones_own_is_used(self, tmp_path, clock):
        with Weft.open(tmp_path / "w.weft", embedder=HashingEmbedder(16), clock=clock) as weft:
            weft.add(notes(3))
            assert weft.tools.embedder.model == "hashing-16"
            assert len(weft.search("mirror", mode="vector")) == 3


class TestNearMisses:
    def missing(self, context):
        """The best candidate that was too large, with what it lacks."""
        return next(each for each in context.trace if each.missing_tokens is not None)

    def test_the_best_near_miss_lacks_about_what_its_decision_says_and_exactly_what_near_misses_find(self, weft):
        weft.add(notes(20))

        def build(budget):
            return weft.context("mirror telescope", budget=budget, recipe=PLAIN)

        for budget in range(120, 1320, 60):
            context = build(budget)
            near = self.missing(context)
            # Where nothing fits whole, the best one is shortened.
            left = "dropped" if any(each.fate == "included" for each in context.trace) else "truncated"
            more = NearMisses(build, context).more_tokens(near, 1000)
            assert near.fate == left
            assert decision(build(budget + more), near.node).fate == "included"
            assert decision(build(budget + more - 1), near.node).fate == left
            assert abs(near.missing_tokens - more) <= 5

    def test_the_overflow_packer_lets_a_lone_near_miss_in_with_the_missing_tokens(self, weft):
        recipe = replace(PLAIN, packer="overflow", lines=True)
        weft.add([*notes(6), Node(id="big", title="Big", text="mirror " + "of a very large telescope " * 40)])
        whole = weft.context("mirror", budget=4000, recipe=recipe)
        assert {each.fate for each in whole.trace} == {"included"}
        seen = set()
        for budget in range(whole.tokens - 150, whole.tokens):
            context = weft.context("mirror", budget=budget, recipe=recipe)
            misses = [each for each in context.trace if each.missing_tokens is not None]
            if len(misses) == 1:
                enough = weft.context("mirror", budget=budget + misses[0].missing_tokens, recipe=recipe)
                assert decision(enough, misses[0].node).fate == "included"
                seen.add((misses[0].node, misses[0].fate))
        assert ("big", "line") in seen

    def test_what_is_included_lacks_nothing(self, weft):
        weft.add(notes(20))
        context = weft.context("mirror", budget=500)
        assert all(each.missing_tokens is None for each in context.trace if each.fate == "included")
        assert all(each.missing_tokens is None or each.missing_tokens > 0 for each in context.trace)


class TestPreview:
    def test_a_preview_says_what_the_context_would_be(self, weft):
        weft.add(notes(20))
        for budget in (40, 300, 4000):
            context = weft.context("mirror", budget=budget)
            preview = weft.preview("mirror", budget=budget)
            assert preview.tokens == context.tokens
            assert preview.budget_used == round(100 * context.tokens / budget, 1)
            assert preview.nodes == tuple(shown(context))
            assert preview.scores == {item.candidate.node.id: item.candidate.score for item in context.items}

    def test_a_preview_says_whether_something_had_to_be_left_out(self, weft):
        weft.add(notes(20))
        assert weft.preview("mirror", budget=300).truncated
        assert not weft.preview("mirror", budget=50_000).truncated


class TestSearch:
    def test_the_best_passages_come_first_with_an_excerpt_and_a_trail(self, weft):
        weft.add(
            [
                Node(id="top", title="Optics", text="nothing"),
                Node(id="a", title="Cell", text="The mirror cell holds the mirror.", parent="top"),
                Node(id="b", title="Base", text="The base is birch."),
            ]
        )
        (best, *_) = weft.search("mirror cell", mode="words")
        assert best.node.id == "a"
        assert best.excerpt == "The <<<mirror>>> <<<cell>>> holds the <<<mirror>>>."
        assert best.trail == ("Optics",)
        assert 0 < best.score <= 1

    def test_the_limit_holds(self, weft):
        weft.add(notes(12))
        assert len(weft.search("mirror")) == 10
        assert len(weft.search("mirror", limit=3)) == 3
        assert len(weft.search("mirror", limit=100)) == 12

    @pytest.mark.parametrize("limit", [0, -1, 2.5])
    def test_a_limit_that_is_no_positive_number_is_refused(self, weft, limit):
        with pytest.raises(InvalidInput, match="limit must be a whole number of at least 1"):
            weft.search("mirror", limit=limit)

    def test_an_unknown_mode_is_refused_with_the_modes_that_exist(self, weft):
        with pytest.raises(UnknownName, match="unknown search mode 'psychic': use one of hybrid, vector, words"):
            weft.search("mirror", mode="psychic")

    def test_filters_and_access_hold_in_every_mode(self, weft):
        weft.add_user("ben")
        weft.add(
            [
                Node(id="a", text="mirror", type="todo"),
                Node(id="b", text="mirror"),
                Node(id="c", text="mirror", type="todo", access=frozenset({"me"})),
            ]
        )
        todos = Filters(types=frozenset({"todo"}))
        for mode in ("hybrid", "words", "vector"):
            assert {each.node.id for each in weft.search("mirror", mode=mode, filters=todos)} == {"a", "c"}
            assert {each.node.id for each in weft.search("mirror", mode=mode, filters=todos, user="ben")} == {"a"}

    def test_a_title_alone_can_be_found(self, weft):
        weft.add([Node(id="a", title="Telescope mirror")])
        (found,) = weft.search("mirror", mode="words")
        assert found.excerpt == "Telescope <<<mirror>>>"


class TestReading:
    def test_a_node_is_read_by_its_id_or_by_a_citation(self, weft):
        weft.add([Node(id="a", text="mirror"), Node(id="b", text="base")])
        (citation,) = [each.id for each in weft.context("mirror").citations if each.node == "a"]
        for reference in ("a", citation, f"[{citation}]"):
            assert (weft.node(reference).id, weft.node(reference).text) == ("a", "mirror")

    def test_a_citation_of_a_long_node_leads_to_the_whole_node(self, weft):
        text = "A sentence about the mirror of a telescope. " * 200
        weft.add([Node(id="long", text=text)])
        found = weft.search("mirror", mode="words")
        assert len(found) > 3
        assert {weft.node(each.passage.citation).text for each in found} == {text}
        assert all(text[each.passage.start : each.passage.end] == each.passage.text for each in found)

    def test_the_unknown_and_the_hidden_are_refused_alike(self, weft):
        weft.add_user("ben")
        weft.add([Node(id="a", text="mirror", access=frozenset({"me"}))])
        citation = weft.search("mirror")[0].passage.citation
        for reference in ("nowhere", "a", citation):
            with pytest.raises(NotFound, match=f"there is no node or citation '{reference}'"):
                weft.node(reference, user="ben")
            with pytest.raises(NotFound, match=f"there is no node or citation '{reference}'"):
                weft.feedback(reference, True, user="ben")


class TestFeedback:
    def test_feedback_changes_the_later_ranking_and_the_trace_shows_it(self, weft):
        weft.add([Node(id="a", text="mirror one"), Node(id="b", text="mirror two")])
        before = weft.context("mirror")
        assert {decision(before, name).signals["feedback"] for name in "ab"} == {None}
        last = before.trace[-1]
        first = before.trace[0]
        weft.feedback(last.citation, True)
        weft.feedback(first.node, False)
        after = weft.context("mirror")
        assert [each.node for each in after.trace] == [last.node, first.node]
        assert [each.signals["feedback"] for each in after.trace] == [1.0, 0.0]

    @pytest.mark.parametrize("text", ["mirror", "a birch, a lens, a star and one mirror"])
    def test_praise_raises_and_blame_lowers_whatever_the_score_within_a_bound(self, weft, text):
        weft.add([Node(id=name, title=f"{name} mirror", text=f"{text} {name}") for name in ("good", "bad", "other")])
        before = weft.context("mirror")
        weft.feedback("good", True)
        weft.feedback("bad", False)
        after = weft.context("mirror")
        moved = {name: decision(after, name).score - decision(before, name).score for name in ("good", "bad", "other")}
        assert moved == pytest.approx({"good": 0.05, "bad": -0.05, "other": 0.0})

    def test_it_counts_for_questions_as_far_as_they_are_like_the_one_it_was_given_for(self, weft):
        weft.add([Node(id="a", text="the mirror, the crane and the dome"), Node(id="b", text="the mirror of the dome")])
        weft.feedback("a", True, query="Who polished the mirror of the dome?")
        same, like, unlike = (
            decision(weft.context(query), "a").signals["feedback"]
            for query in ("Who polished the mirror of the dome?", "polished mirror", "Who moved the crane?")
        )
        assert same == 1.0
        assert 0.5 < like < 1.0
        assert unlike in (None, 0.5)

    def test_it_is_about_the_latest_question_whose_context_held_the_source(self, weft):
        weft.add([Node(id="a", text="the mirror"), Node(id="b", text="the crane")])
        weft.context("mirror")
        weft.context("crane")
        weft.feedback("a", True)
        with weft.store.view("main", "me") as view:
            assert view.votes(5) == [Vote("a", True, "mirror")]

    def test_without_a_question_it_counts_a_little_for_every_one(self, weft):
        weft.add([Node(id="a", text="the mirror")])
        weft.feedback("a", True, query="")
        assert decision(weft.context("mirror"), "a").signals["feedback"] == pytest.approx((1 + 1 / 6) / 2)

    def test_what_others_say_moves_nothing(self, weft):
        weft.add_user("ben")
        weft.add([Node(id="a", text="mirror one"), Node(id="b", text="mirror two")])
        before = weft.context("mirror", user="ben")
        for query in ("mirror", ""):
            weft.feedback("a", True, query=query)
            weft.feedback("b", False, query=query)
        after = weft.context("mirror", user="ben")
        assert (after.text, after.trace) == (before.text, before.trace)

    def test_a_user_may_change_their_mind(self, weft):
        weft.add([Node(id="a", text="mirror one")])
        weft.context("mirror")
        weft.feedback("a", True)
        weft.feedback("a", False)
        assert decision(weft.context("mirror"), "a").signals["feedback"] == 0.0

    def test_use_in_answers_counts(self, weft):
        weft.add([Node(id="a", text="mirror one")])
        with weft.atomic() as batch:
            for _ in range(3):
                batch.count_use("me", ["a"])
        assert decision(weft.context("mirror"), "a").signals["usage"] == pytest.approx(0.3)


class TestCache:
    def test_an_equal_request_is_answered_from_memory_until_something_is_written(self, weft):
        weft.add(notes(4))
        first = weft.context("mirror")
        assert weft.context("mirror") is first
        assert weft.context("mirror", budget=3999) is not first
        weft.add([Node(id="new", text="unrelated")])
        assert weft.context("mirror") is not first

    def test_users_do_not_share_answers(self, weft):
        weft.add_user("ben")
        weft.add([Node(id="a", text="mirror", access=frozenset({"me"}))])
        assert shown(weft.context("mirror")) == ["a"]
        assert shown(weft.context("mirror", user="ben")) == []

    def test_losing_a_group_takes_effect_at_once(self, weft):
        weft.add_user("ben", groups=["core"])
        weft.add([Node(id="a", text="mirror", access=frozenset({"group:core"}))])
        assert shown(weft.context("mirror", user="ben")) == ["a"]
        weft.add_user("ben")
        assert shown(weft.context("mirror", user="ben")) == []

    def test_an_answer_is_remembered_for_the_minute_that_it_was_made_in(self, weft, clock):
        weft.add([Node(id="a", text="mirror", updated_at=NOW)])
        first = weft.context("mirror")
        clock.now = NOW + timedelta(seconds=59)
        assert weft.context("mirror") is first
        clock.now = NOW + timedelta(days=15)
        later = weft.context("mirror")
        assert later.trace[0].signals["recency_linear"] == pytest.approx(0.5)  # 1 - 15/30
        assert first.trace[0].signals["recency_linear"] == 1.0

    def test_the_memory_is_bounded_and_forgets_the_longest_unused(self, weft):
        weft.add([Node(id="a", text="mirror")])
        kept, lost = weft.context("mirror kept"), weft.context("mirror lost")
        for n in range(MOST - 1):
            weft.context("mirror", budget=100 + n)
            assert weft.context("mirror kept") is kept
        assert weft.context("mirror lost") is not lost

    def test_many_threads_get_the_answers_that_one_would_get(self, tmp_path, clock):
        queries = [f"{one} {two}" for one in WORDS[:6] for two in WORDS[6:12]]
        with Weft.open(tmp_path / "one.weft", embedder="hashing", clock=clock) as alone:
            alone.add(notes(20))
            expected = [to_json(alone.context(query, budget=400)) for query in queries]
        with Weft.open(tmp_path / "many.weft", embedder="hashing", clock=clock) as shared:
            shared.add(notes(20))
            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda query: to_json(shared.context(query, budget=400)), queries * 4))
        assert answers == expected * 4

    def test_readers_and_a_writer_do_not_disturb_each_other(self, weft):
        weft.add(notes(4))

        def write(n):
            weft.add([Node(id=f"w{n}", text=f"mirror written {n}")])
            return n

        def read(_):
            context = weft.context("mirror written", budget=20_000)
            assert {each.fate for each in context.trace} <= {"included", "line", "dropped"}
            return len({each.node for each in context.trace if each.node.startswith("w")})

        with ThreadPoolExecutor(6) as pool:
            writes = pool.map(write, range(15))
            reads = list(pool.map(read, range(30)))
            assert list(writes) == list(range(15))
        assert max(reads) <= 15
        assert read(0) == 15
