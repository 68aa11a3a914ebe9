"""Remembering, revising, relating and forgetting: who may do what, and what is left when it fails."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from weftwork import Edge, Filters, Node, Weft
from weftwork.errors import EmbeddingError, InvalidInput, NotFound
from weftwork.faces.memory import MEMORY, Memories
from weftwork.ingest.jsonlines import parse

from .conftest import START

DAY = timedelta(days=1)


def contents(found):
    return [memory.content for memory in found]


def shown(weft, query="ship", **more):
    return weft.context(query, recipe="memory", **more).text


class TestRemember:
    def test_a_memory_keeps_what_is_said_about_it(self, memories):
        memory = memories.remember(
            "We ship in May.",
            type="decision",
            confidence=0.9,
            tags=["launch"],
            conversation="c1",
            valid_until=START + DAY,
        )
        assert (memory.content, memory.type, memory.confidence) == ("We ship in May.", "decision", 0.9)
        assert (memory.tags, memory.conversation_id, memory.owner) == (("launch",), "c1", "me")
        assert (memory.created_at, memory.valid_from, memory.valid_until) == (START, START, START + DAY)
        assert memories.list() == (memory,)

    def test_it_is_a_fact_that_holds_from_now_on_and_is_its_writers_own(self, weft, memories):
        memory = memories.remember("The sky is green.")
        assert (memory.type, memory.confidence, memory.valid_from, memory.valid_until) == ("fact", None, START, None)
        assert memory.access == frozenset()
        assert memories.list(user="ben") == ()
        assert weft.search("sky", user="ben") == []
        assert [found.node.id for found in weft.search("sky")] == [memory.id]

    @pytest.mark.parametrize("access", [["ben"], ["group:team"], ["*"]])
    def test_it_is_seen_by_those_with_whom_it_is_shared(self, memories, access):
        memories.remember("The sky is green.", access=access)
        assert contents(memories.list(user="ben")) == ["The sky is green."]

    def test_the_id_comes_from_what_it_is(self, memories, clock):
        one = memories.remember("a")
        assert memories.remember("a").id == one.id
        others = [memories.remember("b"), memories.remember("a", user="ben"), memories.remember("a", type="remark")]
        clock.forward(seconds=1)
        assert len({each.id for each in [one, *others, memories.remember("a")]}) == 5

    @pytest.mark.parametrize(
        ("text", "details", "message"),
        [
            ("", {}, "a memory needs a text"),
            (" \n", {}, "a memory needs a text"),
            (None, {}, "a memory needs a text"),
            ("x", {"confidence": 1.2}, "confidence .* must be between 0 and 1"),
            ("x", {"type": ""}, "needs a type"),
            ("x", {"type": 3}, "type .* must be text"),
            ("x", {"tags": "launch"}, "tags must be several texts"),
            ("x", {"tags": 5}, "tags must be several texts"),
            ("x", {"access": 5}, "access must be several texts"),
            ("x", {"contradicts": None}, "contradicts must be several texts"),
            ("x", {"conversation": 5}, "conversation must be text"),
            ("x", {"tags": ["", "a"]}, "texts that are not empty"),
            ("x", {"access": "ben"}, "access must be several texts"),
            ("x", {"valid_from": "2026"}, "valid_from"),
            ("x", {"valid_until": START - DAY}, "valid_until is over .*: say with valid_from since when"),
            ("x", {"valid_from": START, "valid_until": START - DAY}, "must not be before its valid_from"),
        ],
    )
    def test_what_cannot_be_kept_is_refused_and_changes_nothing(self, weft, memories, text, details, message):
        before = weft.store.version("main")
        with pytest.raises(InvalidInput, match=message):
            memories.remember(text, **details)
        assert weft.store.version("main") == before

    def test_what_a_memory_does_not_have_is_refused(self, memories):
        with pytest.raises(TypeError, match="a memory has no 'colour': use type, confidence, tags"):
            memories.remember("x", colour="red")
        with pytest.raises(InvalidInput, match="contradicts must be several texts"):
            memories.remember("x", contradicts="mem-1")

    @pytest.mark.parametrize("names", [{"user": "nobody"}, {"workspace": "nowhere"}])
    def test_an_unknown_user_or_workspace_is_refused(self, memories, names):
        with pytest.raises(NotFound, match="does not exist"):
            memories.remember("x", **names)

    def test_any_text_comes_back_as_it_was(self, memories, clock):
        for text in ("🧵 \u202e مرحبا \0 [[x]] {{content}} ```", "x" * 20_000, "one\n\ntwo"):
            clock.forward(seconds=1)
            memories.remember(text)
            assert memories.list()[0].content == text

    def test_a_time_without_a_zone_is_in_utc(self, memories):
        memory = memories.remember("x", valid_from=datetime(2026, 1, 1), valid_until=datetime(2026, 2, 1))
        assert memory.valid_until.isoformat() == "2026-02-01T00:00:00+00:00"
        assert memories.list(every=True) == (memory,)

    def test_what_it_contradicts_is_written_with_it_or_neither_is(self, weft, memories):
        old = memories.remember("We ship in May.")
        new = memories.remember("We ship in June.", contradicts=[old.id])
        with weft.store.view("main", "me") as view:
            assert [(e.source, e.target, e.type) for e, _ in view.neighbours(new.id)] == [
                (new.id, old.id, "contradicts")
            ]
        with pytest.raises(NotFound):
            memories.remember("We ship in July.", contradicts=["nothing"])
        assert len(memories.list()) == 2

    def test_a_provider_that_fails_leaves_nothing_behind(self, weft, memories):
        class Broken:
            model, dimensions = "broken", 4

            def embed_batch(self, texts):
                raise EmbeddingError("no")

        broken = Weft(weft.store, replace(weft.tools, embedder=Broken()), clock=weft.now)
        with pytest.raises(EmbeddingError):
            Memories(broken).remember("x")
        assert memories.list() == ()


class TestRevise:
    def test_the_new_one_takes_the_place_of_the_old(self, weft, memories, clock):
        old = memories.remember("We ship in May.", type="decision", confidence=0.9, tags=["launch"], conversation="c")
        later = clock.forward(days=3)
        new = memories.revise(old.id, "We ship in June.")
        assert (new.type, new.confidence, new.tags, new.conversation_id) == ("decision", 0.9, ("launch",), "c")
        assert (new.valid_from, new.valid_until) == (later, None)
        ended = next(each for each in memories.list(every=True) if each.id == old.id)
        assert ended.valid_until == later
        assert (ended.content, ended.created_at, ended.updated_at) == (old.content, START, START)
        assert contents(memories.list()) == ["We ship in June."]
        with weft.store.view("main", "me") as view:
            edges = [edge for edge, _ in view.neighbours(new.id)]
        assert edges == [Edge(source=new.id, target=old.id, type="supersedes")]

    def test_the_superseded_is_in_no_context_but_in_that_of_its_time(self, weft, memories, clock):
        old = memories.remember("We ship in May.")
        clock.forward(days=1)
        memories.revise(old.id, "We ship in June.")
        for recipe in ("default", "memory"):
            text = weft.context("when do we ship", recipe=recipe).text
            assert "June" in text and "May" not in text
            past = weft.context("when do we ship", recipe=recipe, filters=Filters(as_of=START)).text
            assert "May" in past and "June" not in past
        assert [each.node.id for each in weft.search("ship", filters=Filters(as_of=START))] == [old.id]

    def test_within_a_minute_the_new_one_is_seen_at_once(self, weft, memories, clock):
        clock.forward(seconds=5)
        old = memories.remember("We ship in May.")
        assert "May" in shown(weft)
        clock.forward(seconds=5)
        memories.revise(old.id, "We ship in June.")
        assert "June" in shown(weft) and "May" not in shown(weft)

    def test_what_is_said_anew_replaces_what_was_said(self, memories):
        old = memories.remember("We ship in May.", type="remark", confidence=0.2, access=["*"])
        new = memories.revise(old.id, "June", type="decision", confidence=None, access=[])
        assert (new.type, new.confidence, new.access) == ("decision", None, frozenset())

    def test_it_is_shared_as_the_old_one_was(self, memories):
        old = memories.remember("We ship in May.", access=["group:team"])
        memories.revise(old.id, "We ship in June.")
        assert contents(memories.list(user="ben")) == ["We ship in June."]

    def test_a_future_beginning_leaves_the_old_one_until_then(self, memories, clock):
        old = memories.remember("May")
        memories.revise(old.id, "June", valid_from=START + 2 * DAY)
        assert contents(memories.list()) == ["May"]
        clock.forward(days=2)
        assert contents(memories.list()) == ["June"]

    def test_what_has_not_begun_never_will(self, memories, clock):
        old = memories.remember("May", valid_from=START + DAY)
        memories.revise(old.id, "June")
        assert contents(memories.list()) == ["June"]
        clock.forward(days=2)
        assert contents(memories.list()) == ["June"]

    def test_the_same_words_at_the_same_moment_are_no_revision(self, memories):
        old = memories.remember("May")
        with pytest.raises(InvalidInput, match="says this already"):
            memories.revise(old.id, "May")
        assert memories.list() == (old,)

    def test_what_is_over_cannot_be_revised_again(self, memories, clock):
        old = memories.remember("May")
        clock.forward(days=1)
        memories.revise(old.id, "June")
        with pytest.raises(InvalidInput, match="ended on 2026-03-02 12:00: revise its successor"):
            memories.revise(old.id, "July")
        assert len(memories.list(every=True)) == 2

    def test_one_with_a_successor_that_is_yet_to_come_gets_no_second_one(self, memories, clock):
        old = memories.remember("Rome")
        new = memories.revise(old.id, "Oslo", valid_from=START + 10 * DAY)
        with pytest.raises(InvalidInput, match=f"superseded by '{new.id}': revise its successor"):
            memories.revise(old.id, "Kiev", valid_from=START + 5 * DAY)
        clock.forward(days=20)
        assert contents(memories.list()) == ["Oslo"]

    def test_the_end_is_taken_over_unless_another_is_said(self, memories, clock):
        end = START + 9 * DAY
        old = memories.remember("May", valid_until=end)
        clock.forward(days=1)
        new = memories.revise(old.id, "June")
        assert new.valid_until == end
        assert memories.revise(new.id, "July", valid_from=START + 2 * DAY, valid_until=None).valid_until is None

    def test_of_many_who_revise_at_once_one_succeeds(self, memories, clock):
        old = memories.remember("May")
        clock.forward(days=1)

        def revise(number):
            try:
                return memories.revise(old.id, f"June {number}").content
            except InvalidInput:
                return None

        with ThreadPoolExecutor(4) as pool:
            done = [each for each in pool.map(revise, range(8)) if each]
        assert len(done) == 1
        assert contents(memories.list()) == done

    def test_it_is_wholly_in_or_wholly_out(self, weft, memories, clock):
        old = memories.remember("May")
        clock.forward(days=1)
        with pytest.raises(NotFound):
            memories.revise(old.id, "June", contradicts=["nothing"])
        assert memories.list(every=True) == (old,)

    def test_an_imported_one_stays_where_it_is_and_as_open_as_it_was(self, weft, memories):
        weft.add(
            [
                Node(id="box", type="page", title="Box", access=frozenset({"me", "ben"})),
                Node(id="m", text="May", type="fact", parent="box", tags=(MEMORY,)),
                Node(id="free", text="April", type="fact", tags=(MEMORY,)),
            ]
        )
        weft.add_user("cleo")
        under, free = memories.revise("m", "June"), memories.revise("free", "July")
        assert {memory.id for memory in memories.list(user="ben")} == {under.id, free.id}
        assert contents(memories.list(user="cleo")) == ["July"]
        assert weft.node(under.id).parent == weft.node("m").parent == "box"

    def test_below_a_parent_that_is_hidden_from_its_owner_it_becomes_their_own(self, weft, memories):
        weft.add(
            [
                Node(id="box", type="page", title="Box", access=frozenset({"ben"})),
                Node(id="m", text="May", type="fact", parent="box", tags=(MEMORY,), owner="me"),
            ]
        )
        weft.add_user("cleo")
        assert contents(memories.list(user="cleo")) == []
        memories.revise("m", "June")
        assert contents(memories.list()) == ["June"]
        assert contents(memories.list(user="cleo", every=True)) == []
        assert contents(memories.list(user="ben", every=True)) == ["May"]


class TestWhoMay:
    def verbs(self, memories, name, user):
        return [
            lambda: memories.revise(name, "new", user=user),
            lambda: memories.forget(name, user=user),
            lambda: memories.relate(name, name + "x", user=user),
            lambda: memories.own(name, user=user),
        ]

    def test_a_hidden_one_and_a_missing_one_give_the_same_error(self, memories):
        hidden = memories.remember("secret").id
        missing = "mem-0000000000"
        for one, other in zip(self.verbs(memories, hidden, "ben"), self.verbs(memories, missing, "ben"), strict=True):
            errors = []
            for verb, name in ((one, hidden), (other, missing)):
                with pytest.raises(NotFound) as caught:
                    verb()
                errors.append(str(caught.value).replace(name, "NAME"))
            assert errors[0] == errors[1]
        assert contents(memories.list()) == ["secret"]

    def test_one_that_is_shared_may_be_changed_by_its_owner_only(self, memories):
        shared = memories.remember("ours", access=["*"]).id
        for verb in self.verbs(memories, shared, "ben"):
            with pytest.raises(InvalidInput, match="belongs to 'me': only they, or an admin key, may change it"):
                verb()
        assert contents(memories.list(user="ben")) == ["ours"]

    def test_nodes_that_are_no_memories_are_out_of_reach(self, weft, memories):
        weft.add([Node(id="page", type="page", title="A page")])
        for verb in self.verbs(memories, "page", "me"):
            with pytest.raises(NotFound, match="there is no memory 'page'"):
                verb()

    def test_another_may_not_be_tied_to_what_one_may_not_see(self, memories):
        hidden = memories.remember("secret").id
        own = memories.remember("mine", user="ben").id
        for verb in (memories.relate, memories.contradict):
            with pytest.raises(NotFound, match=f"there is no memory '{hidden}'"):
                verb(own, hidden, user="ben")
        with pytest.raises(NotFound, match=f"there is no memory '{hidden}'"):
            memories.remember("against it", contradicts=[hidden], user="ben")


class TestRelateAndForget:
    def test_a_relationship_has_type_label_and_weight(self, weft, memories):
        a, b = memories.remember("a"), memories.remember("b")
        edge = memories.relate(a.id, b.id, "supports", label="because", weight=0.5)
        with weft.store.view("main", "me") as view:
            assert [found for found, _ in view.neighbours(b.id)] == [edge]
        assert (edge.type, edge.label, edge.weight) == ("supports", "because", 0.5)

    @pytest.mark.parametrize("kind", ["", "child", "parent", "supersedes", 5, None, ["x"]])
    def test_types_that_mean_something_else_are_refused(self, memories, kind):
        a, b = memories.remember("a"), memories.remember("b")
        with pytest.raises(InvalidInput, match="a relationship cannot be of type"):
            memories.relate(a.id, b.id, kind)

    def test_a_memory_is_not_related_to_itself(self, memories):
        a = memories.remember("a")
        with pytest.raises(InvalidInput, match="cannot be related to itself"):
            memories.relate(a.id, a.id)

    def test_several_are_forgotten_together_or_not_at_all(self, weft, memories):
        a, b, c = (memories.remember(text) for text in ("alpha", "beta", "gamma"))
        with pytest.raises(NotFound):
            memories.forget(a.id, "nothing", b.id)
        assert len(memories.list()) == 3
        assert memories.forget(a.id, b.id) == 2
        assert memories.list() == (c,)
        assert weft.search("alpha") == []

    def test_what_hangs_below_stays_for_those_who_saw_it(self, weft, memories):
        weft.add_user("cleo")
        top = memories.remember("alpha", access=["ben"])
        weft.add(
            [
                Node(id="inner", type="fact", text="beta", parent=top.id, tags=(MEMORY,)),
                Node(id="heir", type="page", text="gamma", parent="inner"),
                Node(id="hidden", type="page", text="delta", parent="inner", owner="ben", access=frozenset()),
                Node(id="leaf", type="page", text="epsilon", parent="hidden"),
            ]
        )

        def seen(user):
            with weft.store.view("main", user) as view:
                return [node.id for node in view.nodes(["heir", "hidden", "leaf"])]

        before = {user: seen(user) for user in ("me", "ben", "cleo")}
        assert before == {"me": ["heir"], "ben": ["heir", "hidden", "leaf"], "cleo": []}
        assert memories.forget(top.id, "inner") == 2
        assert {user: seen(user) for user in before} == before
        assert memories.list(every=True) == ()

    def test_what_hangs_below_does_not_become_public_where_the_place_of_the_memory_is_hidden(self, weft, memories):
        weft.add_user("cleo")
        weft.add(
            [
                Node(id="box", type="page", title="Box", access=frozenset({"ben"})),
                Node(id="m", text="May", type="fact", parent="box", tags=(MEMORY,), owner="me"),
                Node(id="heir", type="page", text="gamma", parent="m"),
            ]
        )
        assert weft.search("gamma", user="cleo") == []
        assert memories.forget("m") == 1
        assert weft.search("gamma", user="cleo") == []
        assert [found.node.id for found in weft.search("gamma")] == ["heir"]


class TestList:
    def test_filters_limit_and_every_hold(self, memories, clock):
        memories.remember("old", valid_from=START - 2 * DAY, valid_until=START)
        clock.forward(minutes=1)
        memories.remember("a decision", type="decision", confidence=0.9)
        clock.forward(minutes=1)
        memories.remember("a remark", type="remark", conversation="c")
        memories.remember("to come", valid_from=START + DAY)
        assert contents(memories.list()) == ["a remark", "a decision"]
        assert len(memories.list(every=True)) == 4
        assert contents(memories.list(limit=1)) == ["a remark"]
        assert contents(memories.list(filters=Filters(types=frozenset({"decision"})))) == ["a decision"]
        assert contents(memories.list(filters=Filters(conversation="c"))) == ["a remark"]
        assert contents(memories.list(filters=Filters(as_of=START - DAY))) == ["old"]
        for limit in (0, "x", None, 1.5):
            with pytest.raises(InvalidInput, match="limit must be"):
                memories.list(limit=limit)

    def test_only_memories_are_listed(self, weft, memories):
        weft.add([Node(id="page", type="page", title="A page")])
        assert memories.list() == ()


def test_memories_come_from_json_lines_with_their_times(weft, tmp_path):
    line = {"id": "m", "type": "fact", "text": "May", "tags": [MEMORY], "valid_from": "2026-01-01", "valid_until": None}
    weft.add([parse(json.dumps(line))])
    (memory,) = Memories(weft).list()
    assert (memory.valid_from.isoformat(), memory.valid_until) == ("2026-01-01T00:00:00+00:00", None)
