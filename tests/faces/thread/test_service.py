"""A prime context: what is retrieved, how it is weighed, packed, remembered and counted."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from weftwork import Edge, Node, Weft
from weftwork.errors import BudgetError, InvalidInput, NotFound
from weftwork.faces.thread import (
    MAX_TOKENS,
    SYSTEM_PROMPT_TOKENS,
    ContextAssemblyService,
    ContextCache,
    FileRepository,
    thread_recipe,
)
from weftwork.identity import CITATION
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.follow import follow
from weftwork.pack import Packing

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
ASKED = "When was the primary mirror inspected?"


def said(number, text, **more):
    return Node(
        id=f"m{number:03}",
        type="message",
        parent="t",
        position=number,
        title="user",
        text=text,
        conversation="t",
        created_at=NOW - timedelta(minutes=1000 - number),
        **more,
    )


def file(name, text, **more):
    return Node(id=name, type="file", title=f"{name}.md", source=f"docs/{name}.md", text=text, created_at=NOW, **more)


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "t.weft", embedder=None, tokenizer="characters", clock=lambda: NOW) as opened:
        opened.add_user("ben")
        opened.add([Node(id="t", type="thread", title="Observatory")])
        yield opened


@pytest.fixture
def service(weft):
    return ContextAssemblyService(weft)


def trace(prime, node):
    return next(each for each in prime.context.trace if each.node == node)


def finders(prime, node):
    return {finding.collector for finding in trace(prime, node).findings}


def shown(prime):
    return {item.metadata.node for item in prime.items}


def test_the_context_keeps_to_what_the_system_prompt_leaves(weft, service):
    assert (MAX_TOKENS, SYSTEM_PROMPT_TOKENS) == (4000, 500)
    weft.add([file(f"f{n}", f"The mirror was inspected, part {n}. " + f"word{n} " * 400) for n in range(12)])
    prime = service.build("t", ASKED)
    assert prime.context.budget == 3500
    assert 2000 < prime.total_tokens <= 3500
    assert prime.total_tokens == weft.tools.counter.count(prime.text)


def test_asynchronous_callers_get_the_same(weft, service):
    weft.add([file("a", "The primary mirror was inspected in April.")])
    assert asyncio.run(service.build_prime_context("t", ASKED, "me")) is service.build("t", ASKED, "me")


def test_everything_that_the_contract_retrieves_is_retrieved_and_says_how(weft, service):
    weft.add(
        [
            file("linked", "Opening hours."),
            file("all", "The primary mirror was inspected in April."),
            file("some", "A mirror hangs in the hall."),
            file("inspektion", "Nothing here.", tags=()),
            file("opened", "A list of birds."),
            said(1, "Hello."),
        ],
        [Edge(source="t", target="linked")],
    )
    with weft.atomic() as batch:
        batch.record("me", "opened", "view", NOW - timedelta(days=300))
        batch.record("me", "t", "view", NOW)
    prime = service.build("t", ASKED)
    assert finders(prime, "linked") == {"references"}
    assert finders(prime, "all") >= {"lexical", "keywords"}
    assert finders(prime, "some") >= {"lexical"}
    assert "keywords" not in finders(prime, "some")
    assert finders(prime, "opened") == {"activity"}
    assert finders(prime, "m001") == {"history"}
    typo = service.build("t", "inspektio hal")
    assert "fuzzy" in finders(typo, "inspektion")
    assert prime.stats.explicit_count == 1
    assert prime.stats.history_count == 1
    assert prime.stats.search_count == 2
    assert prime.stats.excluded_count == len(prime.context.trace) - len(prime.items)


def test_searches_are_among_files_and_not_in_other_threads(weft, service):
    weft.add(
        [
            Node(id="u", type="thread", title="Other"),
            replace(said(1, "The primary mirror was inspected."), id="x", parent="u", conversation="u"),
            Node(id="todo", type="todo", title="Inspect the primary mirror"),
        ]
    )
    assert service.build("t", ASKED).context.trace == ()
    wider = ContextAssemblyService(weft, types=["todo"])
    assert shown(wider.build("t", ASKED)) == {"todo"}


def test_limits_are_those_of_the_contract(weft, service):
    weft.add([file(f"f{n:02}", f"The primary mirror was inspected in year {n}. " + f"w{n} " * n) for n in range(30)])
    weft.add([said(n, f"Note {n}.") for n in range(25)])
    with weft.atomic() as batch:
        for n in range(8):
            batch.record("me", f"f{n:02}", "view", NOW - timedelta(hours=n))
    found = [
        (finding.collector, each.node) for each in service.build("t", ASKED).context.trace for finding in each.findings
    ]
    counts = {name: sum(collector == name for collector, _ in found) for name, _ in found}
    assert counts == {"lexical": 10, "keywords": 10, "fuzzy": 5, "history": 20, "activity": 5}


def test_an_items_fields_tell_what_it_is(weft, service):
    weft.add([file("a", "The primary mirror was inspected in April.")], [Edge(source="t", target="a")])
    (item,) = service.build("t", ASKED).items
    assert (item.type, item.source, item.content) == (
        "reference",
        "docs/a.md",
        "The primary mirror was inspected in April.",
    )
    assert item.excerpt == "The <<<primary>>> <<<mirror>>> was <<<inspected>>> in April."
    assert item.metadata.matched_keywords == ("primary", "mirror", "inspected")
    assert (item.metadata.path, item.metadata.created_at, item.metadata.node) == ("docs/a.md", NOW, "a")
    assert 0 < item.metadata.search_rank <= 1
    assert CITATION.fullmatch(item.id)
    assert f"[{item.id}]" in service.build("t", ASKED).text


def long_file(name, answer="The primary mirror was inspected on 4 April by Ida."):
    """A file whose answer stands far from its beginning."""
    before = [f"Paragraph {n} tells of the weather on day {n} and of nothing else." for n in range(120)]
    after = [f"Paragraph {n} tells of birds." for n in range(120, 160)]
    return file(name, "\n\n".join([*before, answer, *after]))


def test_a_reference_is_shown_with_what_answers_and_counts_once(weft):
    weft.add(
        [long_file("ref"), file("short", "Opening hours.")], [Edge(source="t", target=n) for n in ("ref", "short")]
    )
    prime = ContextAssemblyService(weft, max_tokens=2000).build("t", ASKED)
    assert prime.stats.explicit_count == 2
    passages = [item for item in prime.items if item.metadata.node == "ref"]
    assert len(passages) > 2
    assert {item.type for item in prime.items} == {"reference"}
    assert "The primary mirror was inspected on 4 April by Ida." in passages[0].content
    assert "Paragraph 0 tells of the weather" in prime.text
    assert "Opening hours." in prime.text
    assert "\n[…]\n" in prime.text


def test_passages_of_a_file_stand_in_the_text_in_the_order_of_the_file(weft):
    weft.add([file("long", "\n\n".join(f"The mirror {n} was inspected. " + f"w{n} " * 80 for n in range(6)))])
    prime = ContextAssemblyService(weft, max_tokens=20_000).build("t", "mirror 4 was inspected")
    places = [prime.text.index(f"The mirror {n} was inspected") for n in range(6)]
    assert places == sorted(places)
    assert prime.text.count("long.md") == 1


def test_items_are_files_chunks_messages_or_references(weft, service):
    weft.add([file("long", "\n\n".join(f"The primary mirror was inspected {n}. " + "x " * 500 for n in range(3)))])
    weft.add([said(1, "The mirror?"), Node(id="page", type="page", title="Mirror", text="primary mirror inspected")])
    prime = ContextAssemblyService(weft, max_tokens=20_000).build("t", ASKED)
    kinds = {(item.metadata.node, item.type) for item in prime.items}
    assert kinds == {("long", "file"), ("long", "chunk"), ("m001", "message"), ("page", "file")}
    assert {citation.type for citation in prime.citations} == {"file", "message", "document"}


# The score: .35 text, .25 keywords, .15 recency, .15 source, .10 usage.


def test_scores_are_those_worked_out_by_hand(weft, service):
    weft.add(
        [file("a", "crimson wagon"), file("b", "azure wagon"), file("c", "green bus")],
    )
    with weft.atomic() as batch:
        for _ in range(4):
            batch.count_use("me", ["b"])
    prime = service.build("t", "crimson wagon")
    # Four passages can be seen, the thread's own among them; "crimson" and "azure" stand in one, "wagon" in two.
    # idf  ln(1 + 3.5/1.5) = 1.203973 and ln(1 + 2.5/2.5) = 0.693147
    # a: the same words, so 1; .35 + .25 + .15 + .7 × .15 + 0 = .855
    assert trace(prime, "a").score == pytest.approx(0.855, abs=1e-6)
    # b: one word of two in common: .693147² / (1.203973² + .693147²) = .480453 / 1.930004 = .248939
    assert trace(prime, "b").signals["text_similarity"] == pytest.approx(0.248939, abs=1e-6)
    # .35 × .248939 + .25 × 1/2 + .15 × 1 + .15 × .7 + .10 × 4/10 = .507129
    assert trace(prime, "b").score == pytest.approx(0.507129, abs=1e-6)


def test_rarity_is_that_of_what_the_viewer_may_see(weft, service):
    weft.add([file("a", "crimson wagon"), file("b", "azure wagon"), file("c", "green bus")])
    before = trace(service.build("t", "crimson wagon", "ben"), "b").signals
    weft.add([file(f"h{n}", f"crimson {n}", owner="me", access=frozenset({"me"})) for n in range(9)])
    assert trace(service.build("t", "crimson wagon", "ben"), "b").signals == before
    assert trace(service.build("t", "crimson wagon", "me"), "b").signals != before


def test_explicit_references_score_highest(weft, service):
    weft.add([file("a", "test report one"), file("b", "test report two")], [Edge(source="t", target="b")])
    first, second = service.build("t", "test report").items
    assert (first.type, second.type) == ("reference", "file")
    assert first.relevance - second.relevance == pytest.approx(0.3 * 0.15)


def test_recency_halves_in_sixty_nine_hours(weft, service):
    weft.add([replace(file("a", "primary mirror"), created_at=NOW - timedelta(hours=100))])
    signals = trace(service.build("t", "primary mirror"), "a").signals
    assert signals["recency_hourly"] == pytest.approx(0.36787944)  # e^-1


# The optimisers.


def test_the_token_budget_is_respected(weft):
    weft.add([file(f"f{n}", f"mirror {n} " + f"w{n} " * 130) for n in range(20)])
    for optimizer in ("density", "optimal"):
        prime = ContextAssemblyService(weft, max_tokens=1000, optimizer=optimizer).build("t", "mirror")
        assert 300 < prime.total_tokens <= 500
        assert sum(item.tokens for item in prime.items) <= 500


def test_where_nothing_fits_the_best_is_cut_and_never_above_the_budget(weft):
    weft.add([file("a", "The primary mirror was inspected. " * 50)])
    prime = ContextAssemblyService(weft, max_tokens=600).build("t", ASKED)
    (item,) = prime.items
    assert trace(prime, "a").fate == "truncated"
    assert prime.total_tokens <= 100
    assert len(item.content) < 500
    assert item.tokens == weft.tools.counter.count(item.content) < 100


def test_no_type_takes_more_than_seventy_percent_where_there_are_others(weft):
    weft.add([file(f"f{n}", f"The primary mirror {n} was inspected.") for n in range(9)], [])
    weft.add([file("linked", "Opening hours of the house on the hill.")], [Edge(source="t", target="linked")])
    prime = ContextAssemblyService(weft, optimizer="density").build("t", ASKED)
    files = [item for item in prime.items if item.type == "file"]
    # six are chosen before the rule applies; then they are more than seven tenths of all
    assert len(files) < 9
    assert "linked" in shown(prime)
    reasons = {each.reason for each in prime.context.trace if each.fate == "dropped"}
    assert reasons == {"its type already fills 70 % of the context"}
    # The recipe's own packer leaves no room empty for a rule.
    assert len(ContextAssemblyService(weft).build("t", ASKED).items) == 10


def test_an_optimizer_may_be_a_packer_of_ones_own(weft):
    class Nothing:
        name = "nothing"

        def pack(self, choices, room, shorten):
            return Packing(tuple(replace(choice, reason="I take nothing") for choice in choices), 0)

    weft.add([Node(id="mirror", type="file", title="mirror.md", text="The mirror is ground.", source="mirror.md")])
    assert ContextAssemblyService(weft).build("t", "mirror").items
    prime = ContextAssemblyService(weft, optimizer=Nothing()).build("t", "mirror")
    assert prime.items == () and {each.reason for each in prime.context.trace} == {"I take nothing"}


def test_an_optimizer_that_is_not_there_is_refused(weft):
    with pytest.raises(InvalidInput, match="use one of density, optimal"):
        ContextAssemblyService(weft, optimizer="magic")


@pytest.mark.parametrize("useful", ["no", None, 1])
def test_feedback_that_is_neither_yes_nor_no_is_refused_and_changes_nothing(weft, service, useful):
    weft.add([file("a", "The primary mirror was inspected.")])
    with pytest.raises(InvalidInput, match="useful must be True or False"):
        service.record_feedback("a", useful)
    assert trace(service.build("t", ASKED), "a").signals["feedback"] is None


def test_what_is_named_by_no_text_is_refused(weft, service):
    prime = service.build("t", ASKED)
    with pytest.raises(InvalidInput, match="by its id or its citation, got None"):
        service.record_feedback(None, True)
    with pytest.raises(InvalidInput, match="answer must be text, got None"):
        service.check_answer(None, prime)
    with pytest.raises(InvalidInput, match="checked against the context"):
        service.check_answer("Yes.", None)


def test_a_system_prompt_that_leaves_nothing_is_refused(weft):
    with pytest.raises(BudgetError):
        ContextAssemblyService(weft, max_tokens=500).build("t", "x")


# History.


def test_the_latest_messages_are_there_and_older_ones_only_if_they_matter(weft, service):
    weft.add([said(n, f"Small talk number {n}.") for n in range(60)])
    weft.add([said(7, "The primary mirror was inspected by Ana.")])
    prime = service.build("t", ASKED)
    assert {f"m{n:03}" for n in range(40, 60)} <= shown(prime)
    assert [each.node for each in prime.context.trace if each.node < "m040"] == ["m007"]
    assert "an older message that matches: words" in trace(prime, "m007").findings[0].why
    assert "m007" in shown(prime)
    text = [item.candidate.node.id for item in prime.context.items if item.candidate.section == "history"]
    assert text == sorted(text)


def test_recent_messages_stop_where_the_share_of_the_history_is_used_up(weft, service):
    weft.add([said(n, f"{n} " + "blah " * 200) for n in range(10)])
    prime = service.build("t", "Something else")
    # 875 tokens are kept for the history; a message has about 250, so that three are recent
    assert [each.node for each in sorted(prime.context.trace, key=lambda each: each.node)] == ["m007", "m008", "m009"]
    weft.add([said(2, "The primary mirror was inspected. " + "blah " * 100)])
    assert "m002" in {each.node for each in service.build("t", ASKED).context.trace}


def test_files_do_not_crowd_out_the_last_messages(weft, service):
    weft.add([file(f"f{n}", f"The primary mirror was inspected, part {n}. " + f"w{n} " * 150) for n in range(15)])
    weft.add([said(n, f"Talk {n}, which goes on for a while and is of no use to anybody, really.") for n in range(4)])
    assert {"m000", "m001", "m002", "m003"} <= shown(service.build("t", ASKED))


def test_older_messages_are_those_of_the_thread_even_without_a_named_conversation(weft, service):
    weft.add([Node(id="u", type="thread")])
    weft.add([replace(said(n, f"Small talk {n}."), conversation=None) for n in range(30)])
    relevant = replace(said(3, "The primary mirror was inspected."), conversation=None)
    weft.add([relevant, replace(relevant, id="other", parent="u")])
    found = {each.node for each in service.build("t", ASKED).context.trace}
    assert "m003" in found
    assert "other" not in found


def test_an_unknown_thread_and_a_hidden_one_are_refused_alike(weft, service):
    weft.add([Node(id="s", type="thread", access=frozenset({"me"}))])
    for name in ("s", "nowhere"):
        with pytest.raises(NotFound, match=f"thread '{name}' does not exist"):
            service.build(name, "hello", "ben")


def test_an_empty_message_gets_references_history_and_files_used_lately(weft, service):
    weft.add([file("a", "Hours."), file("b", "Rules."), said(1, "Hello.")], [Edge(source="t", target="a")])
    with weft.atomic() as batch:
        batch.record("me", "b", "view", NOW)
    prime = service.build("t", "")
    assert shown(prime) == {"a", "b", "m001"}
    assert prime.stats.search_count == 0


# What is remembered.


def test_an_equal_request_is_answered_from_memory(weft, service):
    weft.add([file("a", "The primary mirror.")])
    first = service.build("t", ASKED)
    assert service.build("t", ASKED) is first
    assert service.cache.hit_rate == 0.5


def test_each_part_of_a_request_tells_it_from_another(weft, service):
    weft.add([Node(id="u", type="thread"), file("a", "The primary mirror."), file("b", "A secret mirror.")])
    with weft.atomic() as batch:
        batch.set_access("b", frozenset({"me"}))
    assert service.build("t", "the secret mirror") != service.build("t", "the primary mirror")
    assert shown(service.build("t", "mirror", "me")) == {"a", "b"}
    assert shown(service.build("t", "mirror", "ben")) == {"a"}
    weft.add([], [Edge(source="u", target="b")])
    assert service.build("u", "mirror", "me") != service.build("t", "mirror", "me")


def test_a_write_is_seen_at_once(weft, service):
    weft.add([file("a", "The primary mirror.")])
    service.build("t", "mirror", "ben")
    weft.add([file("b", "Another mirror.")])
    assert shown(service.build("t", "mirror", "ben")) == {"a", "b"}
    with weft.atomic() as batch:
        batch.set_access("a", frozenset({"me"}))
    assert shown(service.build("t", "mirror", "ben")) == {"b"}


def test_nothing_stale_is_served_while_others_write(tmp_path):
    with Weft.open(tmp_path / "busy.weft", embedder=None, tokenizer="characters", clock=lambda: NOW) as weft:
        service = ContextAssemblyService(weft)
        weft.add([Node(id="t", type="thread"), file("counter", "mirror count000")])
        written, stop, stale = [0], threading.Event(), []

        def write():
            for number in range(1, 40):
                weft.add([file("counter", f"mirror count{number:03}")])
                written[0] = number
            stop.set()

        def read():
            while not stop.is_set():
                least = written[0]
                # A passage that is replaced between the snapshot and the search is not found, but never an old one.
                for item in service.build("t", "mirror").items:
                    if int(item.content[-3:]) < least:
                        stale.append((least, item.content))

        with ThreadPoolExecutor(4) as pool:
            for job in [pool.submit(write), *(pool.submit(read) for _ in range(3))]:
                job.result()
        assert stale == []
        assert service.build("t", "mirror").items[0].content == "mirror count039"


def test_what_is_remembered_can_be_forgotten_by_a_pattern(weft, service):
    weft.add([Node(id="u", type="thread")])
    kept, gone = service.build("u", "mirror"), service.build("t", "mirror")
    assert len(service.cache) == 2
    service.invalidate("u")
    assert len(service.cache) == 1
    service.invalidate()
    assert len(service.cache) == 0
    assert (service.build("u", "mirror"), service.build("t", "mirror")) == (kept, gone)


def test_after_half_a_minute_without_use_it_is_made_again(weft):
    seconds = [0.0]
    service = ContextAssemblyService(weft)
    service.cache = ContextCache(timer=lambda: seconds[0])
    for moment, hits in ((0, 0), (30, 1), (60, 2), (90.5, 2)):
        seconds[0] = moment
        service.build("t", "mirror")
        assert service.cache.hits == hits


def test_metrics_are_told_for_each_call(weft):
    told = []
    weft.add([file("a", "The primary mirror."), said(1, "Hello.")])
    service = ContextAssemblyService(weft, track_metrics=told.append)
    prime = service.build("t", ASKED)
    service.build("t", ASKED)
    first, second = told
    assert (first.items_retrieved, first.items_selected, first.token_usage) == (2, 2, prime.total_tokens)
    assert min(first.search_latency, first.scoring_latency, first.optimization_latency) > 0
    assert first.assembly_time >= first.search_latency + first.scoring_latency + first.optimization_latency
    assert (first.cache_hit_rate, second.cache_hit_rate) == (0.0, 0.5)
    service.invalidate()
    service.build("t", ASKED)  # which the engine still remembers
    for later in (second, told[2]):
        assert later.search_latency == later.scoring_latency == later.optimization_latency == 0.0


def test_the_latencies_of_a_search_are_told_once_however_long_a_later_call_takes(weft, monkeypatch):
    told = []
    weft.add([file("a", "The primary mirror.")])
    service = ContextAssemblyService(weft, track_metrics=told.append)
    service.build("t", ASKED)
    service.invalidate()
    moments = iter((0.0, 60.0))
    monkeypatch.setattr("weftwork.faces.thread.service.time.perf_counter", lambda: next(moments, 60.0))
    service.build("t", ASKED)
    assert (told[1].assembly_time, told[1].search_latency) == (60_000.0, 0.0)


def test_a_message_is_analysed(service):
    found = service.analyze("Which FILES mention the mirror, see [[Plan]] and docs/a.md #urgent last week?")
    assert found.keywords == ("files", "mention", "mirror", "plan", "docs", "urgent", "last", "week")
    assert service.extract_keywords("the Mirror, the MIRROR and its rim") == ("mirror",)
    assert found.titles == ("Plan", "docs/a.md")
    assert found.tags == ("urgent",)
    assert found.period is not None


# What came of it.


def test_feedback_moves_the_score_within_its_bound_and_shows_in_the_trace(weft, service):
    weft.add([file("a", "The primary mirror.")])
    before = trace(service.build("t", ASKED, "ben"), "a")
    (item,) = service.build("t", ASKED, "ben").items
    service.record_feedback(item.id, False, "ben")
    after = trace(service.build("t", ASKED, "ben"), "a")
    assert (before.signals["feedback"], after.signals["feedback"]) == (None, 0.0)
    assert before.score - after.score == pytest.approx(0.05)
    for _ in range(20):
        service.record_feedback(item.id, False, "ben")
    assert trace(service.build("t", ASKED, "ben"), "a").score == after.score
    service.record_feedback("a", True, "ben")
    assert trace(service.build("t", ASKED, "ben"), "a").score == pytest.approx(before.score + 0.05)


def test_feedback_of_another_moves_nothing(weft, service):
    weft.add([file("a", "The primary mirror.")])
    before = trace(service.build("t", ASKED, "ben"), "a")
    service.build("t", ASKED, "me")
    service.record_feedback("a", False, "me")
    assert trace(service.build("t", ASKED, "ben"), "a") == before


def test_feedback_on_what_is_hidden_is_refused(weft, service):
    weft.add([file("a", "Secret.", owner="me", access=frozenset({"me"}))])
    with pytest.raises(NotFound):
        service.record_feedback("a", True, "ben")


def test_use_raises_the_score_for_oneself_in_full_and_for_others_a_little(weft, service):
    weft.add([file("a", "The primary mirror.")])
    for _ in range(8):
        prime = service.build("t", ASKED, "ben")
        service.citation_manager(prime).mark_as_used(prime.citations[0].id)
    assert trace(service.build("t", ASKED, "ben"), "a").signals["usage"] == 0.8
    assert trace(service.build("t", ASKED, "me"), "a").signals["usage"] == pytest.approx(0.3)


def test_an_answer_counts_a_source_once_however_often_it_is_marked(weft, service):
    weft.add([file("a", "The primary mirror.")])
    prime = service.build("t", ASKED)
    manager = service.citation_manager(prime)
    for _ in range(5):
        manager.mark_as_used(prime.citations[0].id)
        manager.mark_as_used(prime.items[0].id)
        manager.mark_as_used("[k000000]")
    assert trace(service.build("t", ASKED), "a").signals["usage"] == 0.1


def test_use_of_what_is_gone_meanwhile_is_not_counted_and_no_error(weft, service):
    weft.add([file("a", "The primary mirror.")])
    prime = service.build("t", ASKED)
    weft.remove(["a"])
    version = weft.store.version("main")
    service.citation_manager(prime).mark_as_used(prime.citations[0].id)
    assert weft.store.version("main") == version


def test_an_answer_is_checked_against_its_context(weft, service):
    weft.add([file("a", "The primary mirror was inspected in April and two scratches were found near its rim.")])
    prime = service.build("t", ASKED)
    check = service.check_answer("The primary mirror was inspected in April and two scratches were found.", prime)
    assert [quote.citation.node for quote in check.uncited] == ["a"]
    assert service.check_answer(f"In April {prime.citations[0].id}.", prime).sound


# What cannot be answered.


@pytest.mark.parametrize(
    "options",
    [
        {"types": "file"},
        {"types": [1]},
        {"max_tokens": "4000"},
        {"max_tokens": True},
        {"system_prompt_tokens": 1.5},
        {"optimizer": "best"},
        {"recipe": "nonsense"},
    ],
)
def test_settings_that_make_no_sense_are_refused(weft, options):
    with pytest.raises(InvalidInput):
        ContextAssemblyService(weft, **options)


def test_a_file_is_no_thread(weft, service):
    weft.add([file("a", "The primary mirror.")])
    with pytest.raises(InvalidInput, match="'a' is no thread but a file"):
        service.build("a", ASKED)
    with pytest.raises(InvalidInput, match="message must be text"):
        service.build("t", None)
    with pytest.raises(InvalidInput, match="pattern must be text"):
        service.invalidate(5)


def test_limits_and_recipes_can_be_given(weft):
    weft.add([file(f"f{n:02}", f"The primary mirror was inspected in year {n}.") for n in range(30)])
    wide = ContextAssemblyService(weft, recipe=thread_recipe(content=20, keywords=0, fuzzy=0))
    assert wide.build("t", ASKED).stats.search_count == 20
    plain = ContextAssemblyService(weft, recipe="default").build("t", ASKED)
    assert plain.context.trace[0].signals.keys() >= {"evidence"}
    for wrong in ({"pages": 3}, {"content": "3"}, {"history": None}, {"content": -1}):
        with pytest.raises(InvalidInput):
            thread_recipe(**wrong)


# Files are documents, whatever a connector made of them.


@pytest.fixture
def vault(tmp_path):
    notes = tmp_path / "notes"
    (notes / "tools").mkdir(parents=True)
    (notes / "dome.md").write_text(
        "# The dome\n\nIt turns.\n\n## Rollers\n\nGrease the twelve rollers in spring.\n\n## Paint\n\n- [ ] paint it\n"
    )
    (notes / "tools" / "README.md").write_text("# Tools\n\n## Grease\n\nThe grease gun hangs in the shed.\n")
    (notes / "README.md").write_text("# Notes\n\n## Nothing\n\nHere is nothing.\n")
    return notes


def test_a_folder_that_was_added_is_searched_shown_and_counted_as_its_files(weft, service, vault):
    follow(weft, vault, recognise(vault))
    prime = service.build("t", "When are the rollers greased?")
    dome = next(item for item in prime.items if "Grease the twelve" in item.content)
    assert dome.type == "chunk"
    assert dome.source == "notes/dome.md"
    assert dome.metadata.path == "notes/dome.md"
    assert "notes/dome.md" in prime.text
    both = service.build("t", "grease rollers shed")
    assert both.stats.search_count == 2
    assert "notes/tools/README.md" in both.text
    assert {citation.type for citation in both.citations} == {"document"}


def test_two_files_of_one_name_are_told_apart_in_the_text(weft, service, vault):
    follow(weft, vault, recognise(vault))
    text = service.build("t", "README grease nothing").text
    assert "notes/README.md" in text
    assert "notes/tools/README.md" in text


def test_a_reference_to_an_added_file_shows_the_part_that_answers(weft, service, vault):
    follow(weft, vault, recognise(vault))
    with weft.store.view("main", "me") as view:
        page = next(record.document for record in view.load([hit.key for hit in view.search_words("twelve", limit=1)]))
    weft.add([], [Edge(source="t", target=page)])
    prime = service.build("t", "When are the rollers greased?")
    assert prime.stats.explicit_count == 1
    assert "Grease the twelve rollers in spring." in prime.text
    assert {item.type for item in prime.items if item.metadata.path == "notes/dome.md"} == {"reference"}


def test_metrics_are_logged_and_a_tracker_that_fails_spoils_nothing(weft, caplog):
    def fail(metrics):
        raise RuntimeError("the monitoring is down")

    with caplog.at_level("INFO", logger="weftwork.thread"):
        prime = ContextAssemblyService(weft, track_metrics=fail).build("t", ASKED)
    assert prime.stats.search_count == 0
    assert "Context assembly metrics {'assembly_time'" in caplog.messages[0]
    assert caplog.messages[1] == "track_metrics failed"


def test_a_file_of_code_is_one_file_with_its_functions_in_their_order(weft, tmp_path):
    code = tmp_path / "code"
    code.mkdir()
    (code / "optics.py").write_text(
        "\n\n".join(f"def mirror_{name}(lens):\n    return lens" for name in ("wash", "tilt", "coat"))
    )
    follow(weft, code, recognise(code))
    prime = ContextAssemblyService(weft).build("t", "Which function handles the mirror and the lens?")
    assert prime.stats.search_count == 1
    assert prime.text.count("code/optics.py") == 1
    places = [prime.text.index(f"optics.mirror_{name}") for name in ("wash", "tilt", "coat")]
    assert places == sorted(places)
    found = FileRepository(weft, "me").fuzzy_search("optcs.py")
    assert [hit.path for hit in found] == ["code/optics.py"]
