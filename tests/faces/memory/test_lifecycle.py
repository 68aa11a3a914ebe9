"""What becomes of memories: found again, changed, followed back, forgotten, always shown."""

from dataclasses import replace
from datetime import timedelta

import pytest

from weftwork import Filters, Node, Weft
from weftwork.errors import InvalidInput, NotFound, NotPermitted, UnknownName
from weftwork.faces.memory import MEMORY, ContextOptions, Memories, SearchOptions
from weftwork.text.tokens import get_counter

from .conftest import START

DAY = timedelta(days=1)
COUNT = get_counter("o200k_base").count


def contents(found):
    return [each.content for each in found]


class TestDetails:
    def test_metadata_and_tags_restrict_searches_and_lists_and_are_shown_nowhere(self, memories, engine, ask):
        memories.remember("green tea from Uji", metadata={"source": "slack", "stars": 3}, tags=["drinks"])
        memories.remember("green tea from Assam", metadata={"source": "mail"}, tags=["drinks", "old"])
        for options, wanted in (
            ({"metadata": {"source": "slack"}}, {"green tea from Uji"}),
            ({"metadata": {"source": "slack", "stars": 3}}, {"green tea from Uji"}),
            ({"metadata": {"source": "slack", "stars": 4}}, set()),
            ({"tags": ["drinks"]}, {"green tea from Uji", "green tea from Assam"}),
            ({"tags": ["drinks", "old"]}, {"green tea from Assam"}),
        ):
            found = ask(engine.search("green tea", "main", SearchOptions(**options)))
            assert {each.memory.content for each in found} == wanted
        (listed,) = memories.list(metadata={"source": "slack"})
        assert (listed.metadata, listed.tags) == ({"source": "slack", "stars": 3}, ("drinks",))
        for template in ("chat", "detailed", "summary", "default"):
            context = ask(engine.build_context("green tea", "main", ContextOptions(template=template))).context
            assert "slack" not in context and "stars" not in context
        assert ask(engine.search("slack", "main", SearchOptions(min_score=0.5))) == ()

    @pytest.mark.parametrize("metadata", [["a"], {"a": None}, {"_unseen": "x"}, {3: "x"}, {"a": ["x"]}])
    def test_metadata_that_cannot_be_kept_are_refused(self, memories, metadata):
        with pytest.raises(InvalidInput, match="metadata"):
            memories.remember("x", metadata=metadata)

    def test_what_was_said_earlier_can_be_written_with_its_date(self, memories, engine, ask):
        said = START - 400 * DAY
        memory = memories.remember("green tea", created_at=said)
        assert (memory.created_at, memory.updated_at, memory.valid_from) == (said, said, said)
        then = SearchOptions(as_of=said + DAY)
        assert [each.memory for each in ask(engine.search("green tea", "main", then))] == [memory]
        assert ask(engine.search("green tea", "main", SearchOptions(date_from=said + DAY))) == ()

    def test_the_lowest_score_is_that_of_the_hits(self, memories, engine, ask):
        memories.remember("green tea")
        memories.remember("the harbour lantern and the mirror of the ship")
        everything = ask(engine.search("green tea", "main"))
        least = (everything[0].score + everything[-1].score) / 2
        found = ask(engine.search("green tea", "main", SearchOptions(min_score=least)))
        built = ask(engine.build_context("green tea", "main", ContextOptions(min_score=least)))
        assert len(everything) == 2
        assert [each.memory.content for each in found] == ["green tea"]
        assert [each.memory.content for each in built.memories] == ["green tea"]

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("Ana went to the lake yesterday.", "- Ana went to the lake yesterday. (said on 2023-05-08)"),
            ("Ana goes to the lake next weekend.", "- Ana goes to the lake next weekend. (said on 2023-05-08)"),
            ("Ana goes to the lake on 12 May.", "- Ana goes to the lake on 12 May."),
        ],
    )
    def test_the_day_is_told_where_a_text_counts_from_it(self, memories, engine, ask, text, shown):
        memories.remember(text, created_at=START.replace(year=2023, month=5, day=8))
        assert shown in ask(engine.build_context("Ana lake", "main")).context.splitlines()
        detailed = ask(engine.build_context("Ana lake", "main", ContextOptions(template="detailed"))).context
        assert detailed.count("2023-05-08") == 1

    def test_users_become_known_when_they_remember_if_that_is_wanted(self, weft):
        with pytest.raises(NotFound):
            Memories(weft).remember("tea", user="cy")
        mine = Memories(weft, new_users=True)
        mine.remember("tea", user="cy")
        assert contents(mine.list(user="cy")) == ["tea"]
        assert mine.list(user="ben") == ()

    def test_users_who_look_before_they_remember_find_nothing_of_their_own(self, weft):
        for look in ("search", "context"):
            with pytest.raises(NotFound):
                getattr(Memories(weft), look)("tea", user="cy")
        mine = Memories(weft, new_users=True)
        assert mine.search("tea", user="cy") == mine.list(user="dan") == ()
        assert mine.context("tea", user="eve").context == ""


class TestPinned:
    def test_they_stand_first_in_every_context_whatever_is_asked(self, memories, engine, ask):
        memories.remember("The user is called Ana.", pinned=True)
        for n in range(30):
            memories.remember(f"green tea number {n}")
        built = ask(engine.build_context("green tea", "main", ContextOptions(token_budget=100)))
        assert built.context.splitlines()[2] == "- The user is called Ana."
        assert built.memories[0].memory.pinned and built.token_count <= 100
        assert len(built.memories) > 3
        without = ask(engine.build_context("green tea", "main", ContextOptions(token_budget=100, pinned_tokens=0)))
        assert "Ana" not in without.context

    def test_they_take_no_more_than_their_part(self, memories, engine, clock, ask):
        for n in range(20):
            memories.remember(f"Fact number {n} of the profile of the user.", pinned=True)
            clock.forward(minutes=1)
        memories.remember("green tea")
        options = ContextOptions(token_budget=400, pinned_tokens=60, limit=1)
        built = ask(engine.build_context("green tea", "main", options))
        pinned = [each.memory.content for each in built.memories if each.memory.pinned]
        assert pinned == [f"Fact number {n} of the profile of the user." for n in (19, 18, 17, 16)][: len(pinned)]
        assert 2 <= len(pinned) <= 5 and sum(map(COUNT, pinned)) <= 60
        assert "- green tea" in built.context

    def test_those_of_others_and_of_other_times_are_not_shown(self, memories, engine, clock, ask):
        memories.remember("Ben is the boss.", user="ben", pinned=True, access=["*"])
        memories.remember("Ana is away.", pinned=True, valid_until=START + DAY)
        clock.forward(days=2)
        assert "Ana" not in ask(engine.build_context("harbour", "main", ContextOptions(min_score=0.9))).context
        assert "Ben" not in ask(engine.build_context("harbour", "main", ContextOptions(min_score=0.9))).context


class TestSupport:
    @pytest.fixture
    def many(self, tmp_path):
        with Weft.open(tmp_path / "many.weft", embedder="none") as weft:
            ids = [Memories(weft).remember("The user is called Cleo.", pinned=True).id]
            said = [f"Ana sailed to harbour number {n} with a crew of {n + 2}." for n in range(60)]
            known = Node(id="", type="fact", tags=(MEMORY,), owner="me")
            weft.add(replace(known, id=f"m{n}", text=text) for n, text in enumerate(said))
            yield Memories(weft), ids

    @pytest.mark.parametrize("query", ["Thanks!", "How do I number the pages of a document?", "qwlkejq zxmcnb"])
    def test_what_no_memory_answers_gets_the_pinned_ones_alone(self, many, query):
        memories, pinned = many
        assert [each.memory.id for each in memories.context(query).memories] == pinned
        bare = memories.context(query, pinned_tokens=0)
        assert (bare.context, bare.truncated) == ("", False)
        assert query in bare.warnings[0]

    def test_what_comes_nearest_is_shown_where_it_is_asked_for_or_answers(self, many):
        memories, _ = many
        assert len(memories.context("Who sailed to a harbour?").memories) > 40
        assert len(memories.context("Uninstall a harbour", min_support=0, token_budget=300).memories) > 5
        with pytest.raises(InvalidInput, match="min_support must be between 0 and 1"):
            memories.context("harbour", min_support=2)


class TestChanges:
    def test_another_text_is_the_next_version_and_details_are_changed_in_place(self, memories, clock):
        may = memories.remember("We ship on 3 May.", tags=["plan"], metadata={"source": "mail"}, confidence=0.5)
        clock.forward(days=1)
        sure = memories.update(may.id, confidence=0.9, pinned=True)
        assert (sure.id, sure.content, sure.confidence, sure.pinned) == (may.id, may.content, 0.9, True)
        assert (sure.tags, sure.metadata, sure.valid_from) == (("plan",), {"source": "mail"}, may.valid_from)
        june = memories.update(may.id, "We ship on 10 June.")
        assert june.id != may.id
        assert (june.confidence, june.tags, june.metadata, june.pinned) == (0.9, ("plan",), {"source": "mail"}, True)
        assert memories.list() == (june,)

    def test_nothing_to_change_and_what_is_anothers_are_refused(self, memories):
        shared = memories.remember("tea", access=["*"])
        with pytest.raises(InvalidInput, match="nothing to change"):
            memories.update(shared.id)
        with pytest.raises(NotPermitted):
            memories.update(shared.id, confidence=0.1, user="ben")
        with pytest.raises(TypeError, match="a memory has no 'colour'"):
            memories.update(shared.id, colour="red")

    def test_who_may_see_it_can_be_changed(self, memories):
        memory = memories.remember("tea")
        memories.update(memory.id, access=["ben"])
        assert contents(memories.list(user="ben")) == ["tea"]

    def test_history_has_all_versions_from_any_of_them(self, memories, clock):
        versions = [memories.remember("We ship in May.")]
        for month in ("June", "July"):
            clock.forward(days=1)
            versions.append(memories.update(versions[-1].id, f"We ship in {month}."))
        for version in versions:
            history = memories.history(version.id)
            assert contents(history) == ["We ship in May.", "We ship in June.", "We ship in July."]
            assert [each.created_at for each in history] == [START, START + DAY, START + 2 * DAY]
            assert [each.valid_until for each in history] == [START + DAY, START + 2 * DAY, None]
            assert {each.owner for each in history} == {"me"}
        assert memories.get(versions[0].id).content == "We ship in May."
        for hidden in (memories.get, memories.history):
            with pytest.raises(NotFound):
                hidden(versions[0].id, user="ben")


class TestForget:
    def test_the_earlier_versions_go_too_unless_they_are_to_stay(self, memories, clock):
        made = []
        for place in ("Uji", "Assam"):
            old = memories.remember(f"tea from {place}")
            clock.forward(days=1)
            made.append(memories.update(old.id, f"tea from {place} again"))
        assert memories.forget(made[0].id) == 2
        assert memories.forget(made[1].id, versions=False) == 1
        assert contents(memories.list(every=True)) == ["tea from Assam"]

    @pytest.mark.parametrize(
        ("which", "stays"),
        [
            ({"filters": Filters(tags=frozenset({"old"}))}, ["b", "c"]),
            ({"filters": Filters(types=frozenset({"event"}))}, ["a", "c"]),
            ({"filters": Filters(before=START + DAY)}, ["c"]),
            ({"filters": Filters(conversation="x")}, ["a", "b"]),
            ({"metadata": {"source": "mail"}}, ["a", "b"]),
            ({"filters": Filters()}, []),
        ],
    )
    def test_by_tag_type_time_conversation_metadata_or_all(self, memories, clock, which, stays):
        memories.remember("a", tags=["old"])
        clock.forward(days=1)
        memories.remember("b", type="event")
        clock.forward(days=1)
        memories.remember("c", conversation="x", metadata={"source": "mail"})
        memories.remember("of ben", user="ben", access=["*"], tags=["old"], type="event", conversation="x")
        memories.forget(**which)
        assert sorted(each.content for each in memories.list(every=True) if each.owner == "me") == stays
        assert len(memories.list(user="ben")) == 1

    def test_nothing_named_is_refused(self, memories):
        memories.remember("a")
        with pytest.raises(InvalidInput, match="name memories to forget"):
            memories.forget()
        assert len(memories.list()) == 1


class TestConflicts:
    def test_what_it_repeats_or_contradicts_is_told_and_both_are_kept(self, memories):
        may = memories.remember("The ship leaves Hamburg on 3 May.")
        june = memories.remember("The ship leaves Hamburg on 10 June.")
        assert (june.action, [each.kind for each in june.conflicts]) == ("added", ["contradiction"])
        assert june.conflicts[0].memory == may
        assert june.conflicts[0].reason == "3 there, 10, June here"
        again = memories.remember("the ship leaves Hamburg on 10 June")
        assert [each.kind for each in again.conflicts if each.memory == june] == ["duplicate"]
        assert len(memories.list()) == 3

    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            ("The dome costs 14,000 euros.", "The dome costs 15,000 euros.", "14,000 there, 15,000 here"),
            ("The server runs version 2.1.", "The server runs version 2.10!", "2.1 there, 2.10 here"),
        ],
    )
    def test_a_reason_names_what_differs_as_it_was_written(self, memories, old, new, reason):
        memories.remember(old)
        assert memories.remember(new).conflicts[0].reason == reason

    def test_they_can_be_linked_with_the_reason_and_stand_together(self, memories, weft, clock):
        may = memories.remember("The ship leaves Hamburg on 3 May.")
        clock.forward(days=1)
        june = memories.remember("The ship leaves Hamburg on 10 June.", on_conflict="link")
        memories.remember("the ship leaves Hamburg on 10 June", on_conflict="link")
        with weft.store.view("main", "me") as view:
            edges = [edge for edge in view.edges([june.id], limit=9) if edge.source == june.id]
        assert [(edge.target, edge.type, edge.label) for edge in edges] == [
            (may.id, "contradicts", "likely: 3 there, 10, June here")
        ]
        assert "contradicts what was said on" in memories.context("When does the ship leave Hamburg?").context
        newer = memories.context("When does the ship leave Hamburg?", contradictions="newer").context
        assert "10 June" in newer and "3 May" not in newer

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Joanna can't have dairy.", "Joanna loves making dairy-free chocolate cake with raspberries."),
            ("Jon lost his job at Door Dash.", "Gina lost her job at Door Dash."),
            ("John is running for office again.", "John runs for office again, despite not being successful before."),
            ("Ana: My art show is next month, can't wait!", "Ana: My art show is next month."),
            ("Ana: I eat meat.", "Ben: I do not eat meat."),
        ],
    )
    def test_what_is_said_of_another_or_beside_the_point_is_no_contradiction(self, memories, old, new):
        memories.remember(old)
        assert [each for each in memories.remember(new).conflicts if each.kind == "contradiction"] == []

    def test_it_can_take_the_place_of_the_older_one(self, memories, clock):
        memories.remember("Ana prefers green tea.")
        clock.forward(days=1)
        new = memories.remember("Ana prefers black tea.", on_conflict="supersede")
        assert new.action == "superseded"
        assert contents(memories.list()) == ["Ana prefers black tea."]
        assert contents(memories.history(new.id)) == ["Ana prefers green tea.", "Ana prefers black tea."]

    def test_what_adds_no_word_is_known(self, memories, clock):
        old = memories.remember("Ana prefers green tea in the morning.")
        clock.forward(days=1)
        known = memories.remember("Ana prefers green tea in the morning", on_conflict="supersede")
        assert (known.action, known.id) == ("known", old.id)
        assert len(memories.list(every=True)) == 1

    def test_it_can_wait_for_an_answer(self, memories):
        memories.remember("Ana eats meat.")
        asked = memories.remember("Ana does not eat meat.", on_conflict="ask")
        assert (asked.action, asked.conflicts[0].reason) == ("asked", "one of them is negated")
        assert contents(memories.list()) == ["Ana eats meat."]
        assert memories.remember("Ben eats fish.", on_conflict="ask").action == "added"

    def test_those_of_others_are_no_conflict(self, memories):
        memories.remember("Ana eats meat.", access=["*"])
        assert memories.remember("Ana does not eat meat.", user="ben", on_conflict="ask").action == "added"

    def test_an_unknown_policy_is_refused(self, memories):
        with pytest.raises(UnknownName, match="ask, keep_both, link, supersede"):
            memories.remember("x", on_conflict="overwrite")

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Ana likes tea.", "Ana likes sailing."),
            ("Jon visited Paris.", "Maria has two dogs."),
            ("The meeting is about the budget of the museum.", "The museum has a new roof."),
        ],
    )
    def test_statements_that_go_together_are_no_conflict(self, memories, old, new):
        memories.remember(old)
        assert memories.remember(new).conflicts == ()
