"""Receipts: what was handed out, to whom and why, without its words."""

import itertools
import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from tests.server.http.serving import running

from weftwork import Client, Filters, Node, Weft
from weftwork.cli import group
from weftwork.errors import InvalidInput, NotFound, StoreError
from weftwork.evaluate.questions import Question
from weftwork.evaluate.run import evaluate
from weftwork.evaluate.variants import Variant
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Options
from weftwork.server.keys import make_key
from weftwork.store.open import open_store
from weftwork.store.sqlite import schema
from weftwork.surface import surface

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
BEN = frozenset({"ben"})
QUERY = "How are the rollers of the dome greased?"


@pytest.fixture
def weft(tmp_path):
    moment = NOW

    def clock():
        nonlocal moment
        moment += timedelta(seconds=30)
        return moment

    with Weft.open(tmp_path / "notes.weft", embedder="hashing", clock=clock) as engine:
        engine.add_user("ben")
        engine.add(
            [
                Node(id="dome", type="page", title="Dome", text="The dome has rollers, greased in spring."),
                Node(id="keys", type="page", title="Keys", text="Ben keeps the keys of the dome."),
                Node(
                    id="wage", type="page", title="Wages", text="The dome costs a fortune.", access=frozenset({"ben"})
                ),
            ]
        )
        yield engine


def test_a_context_leaves_a_receipt_that_says_what_was_in_it_and_why(weft):
    context = weft.context(QUERY, budget=300, filters=Filters(exclude=frozenset({"keys"})))
    (receipt,) = weft.receipts.list()
    assert (receipt.kind, receipt.user, receipt.workspace, receipt.surface) == ("context", "me", "main", "python")
    assert (receipt.query, receipt.recipe, receipt.budget, receipt.tokens) == (QUERY, "default", 300, context.tokens)
    assert [(each.citation, each.node, each.title) for each in receipt.used] == [
        (context.excerpts[0].citation, "dome", "Dome")
    ]
    assert "words" in receipt.used[0].why
    assert receipt.version == weft.store.version("main")
    assert receipt.tokenizer == "o200k_base" and receipt.embedder.startswith("hashing")
    assert json.loads(receipt.options["filters"])["exclude"] == ["keys"]
    assert weft.receipts.get(receipt.id) == receipt


def test_a_context_from_the_cache_has_a_receipt_of_its_own(tmp_path):
    seconds = itertools.count()
    with Weft.open(
        tmp_path / "a.weft", embedder="hashing", clock=lambda: NOW + timedelta(seconds=next(seconds))
    ) as weft:
        weft.add([Node(id="dome", title="Dome", text="The dome has rollers, greased in spring.")])
        first = weft.context(QUERY)
        with surface("an application"):
            assert weft.context(QUERY) is first
        second, earlier = weft.receipts.list()
    assert (second.surface, earlier.surface) == ("an application", "python")
    assert second.at > earlier.at and second.id != earlier.id
    assert second == replace(earlier, id=second.id, at=second.at, surface=second.surface) and second.used


def test_a_receipt_holds_no_word_of_a_source(weft):
    weft.context("Who has the keys?")
    thread = weft.threads.create("Secret title").id
    weft.turn(thread, "What about the rollers?")
    weft.receipts.write_pending()
    for row in weft.store.receipts.list("main", limit=9):
        assert not any(word in row.record for word in ("greased", "spring", "Ben keeps", "Keys", "Dome"))


def test_titles_are_those_that_the_reader_may_see_now(weft):
    weft.context("What does the dome cost? A fortune?", user="ben")
    (his,) = weft.receipts.list(user="ben")
    assert "Wages" in {each.title for each in his.used}
    (mine,) = weft.receipts.list(admin=True)
    assert "wage" in {each.node for each in mine.used} and "Wages" not in {each.title for each in mine.used}
    weft.remove(["wage"])
    assert "Wages" not in {each.title for each in weft.receipts.get(his.id, user="ben").used}


def test_a_receipt_is_read_by_its_user_and_by_administrators(weft):
    weft.context(QUERY, user="ben")
    (his,) = weft.receipts.list(user="ben")
    assert weft.receipts.list() == [] and weft.receipts.list(of="ben") == []
    with pytest.raises(NotFound, match="there is no receipt"):
        weft.receipts.get(his.id)
    with pytest.raises(NotFound):
        weft.receipts.replay(his.id)
    assert weft.receipts.erase(his.id) == 0
    assert [each.id for each in weft.receipts.list(admin=True, of="ben")] == [his.id]
    assert weft.receipts.get(his.id, admin=True).user == "ben"


def test_a_turn_leaves_a_receipt_with_what_its_answer_cited(weft):
    thread = weft.threads.create().id
    turn = weft.turn(thread, QUERY, budget=900)
    weft.reply(thread, f"In spring [{turn.citations[0]}], [k999999].")
    receipt = weft.receipts.get(turn.receipt)
    assert (receipt.kind, receipt.thread, receipt.message) == ("turn", thread, turn.message)
    assert (receipt.budget, receipt.tokens, receipt.inject) == (900, turn.tokens, True)
    assert receipt.answer is not None
    assert receipt.answer.cited == (turn.citations[0],) and receipt.answer.unknown == ("k999999",)
    quiet = weft.turn(thread, "thanks!")
    after = weft.receipts.get(quiet.receipt)
    assert not after.inject and after.reason == "a courtesy asks for nothing" and after.used == ()
    assert set(turn.citations) <= set(after.earlier) and after.cached_tokens == quiet.cached_tokens
    assert [each.id for each in weft.receipts.list(thread=thread)] == [quiet.receipt, turn.receipt]


def test_a_replay_gives_the_same_bytes_from_the_same_version(weft):
    context = weft.context("When was the mirror recoated?", budget=300)  # what is said later has nothing to do with it
    thread = weft.threads.create().id
    turn = weft.turn(thread, "And who keeps the keys of the dome?")
    weft.turn(thread, "What about the dome?")
    for receipt in weft.receipts.list():
        assert weft.receipts.replay(receipt.id).same, receipt.query
    assert weft.receipts.replay(weft.receipts.list()[-1].id).text == context.text
    assert "Ben keeps" in weft.receipts.replay(turn.receipt).text


def test_a_replay_says_what_differs_now(weft):
    weft.context("the dome with its rollers, and the keys of the dome", budget=300)
    (receipt,) = weft.receipts.list()
    dome, keys = (next(each.citation for each in receipt.used if each.node == name) for name in ("dome", "keys"))
    weft.remove(["keys"])
    weft.add([Node(id="crane", type="page", title="Crane", text="The crane lifts the dome and its rollers and keys.")])
    replay = weft.receipts.replay(receipt.id)
    assert not replay.same and replay.version > receipt.version
    assert replay.unchanged == (dome,) and replay.gone == (keys,) and len(replay.added) == 1


def test_the_latest_are_kept_and_none_where_none_are_wanted(weft):
    weft.receipts.most = 3
    for number in range(5):
        weft.context(f"the dome {number}")
    assert [each.query for each in weft.receipts.list()] == ["the dome 4", "the dome 3", "the dome 2"]
    weft.receipts.most = 0
    weft.context("the dome again")
    turn = weft.turn(weft.threads.create().id, "the dome")
    assert turn.receipt == "" and len(weft.receipts.list()) == 3


def test_receipts_can_be_erased(weft):
    for query in ("the dome", "the keys", "the rollers"):
        weft.context(query)
    weft.context("the dome", user="ben")
    latest = weft.receipts.list()[0]
    assert weft.receipts.erase(latest.id) == 1
    with pytest.raises(InvalidInput, match="name the receipts"):
        weft.receipts.erase()
    assert weft.receipts.erase(everything=True) == 2
    assert len(weft.receipts.list(admin=True)) == 1
    assert weft.receipts.erase(everything=True, of="*", admin=True) == 1


def test_previews_and_evaluations_hand_nothing_out(weft):
    weft.preview(QUERY)
    variant = Variant("default", weft.tools.recipes.get("default"), None)
    evaluate(weft, [Question("1", QUERY, wanted=("dome",))], [variant], user="me", workspace="main")
    assert weft.receipts.list() == []
    with surface("my app"):
        weft.context(QUERY)
    assert [each.surface for each in weft.receipts.list()] == ["my app"]


def test_receipts_are_there_for_other_processes_once_the_engine_is_closed(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder="hashing") as engine:
        engine.add([Node(id="dome", text="The dome has rollers.")])
        engine.context("dome rollers")
    with Weft.open(tmp_path / "notes.weft", embedder="hashing") as engine:
        assert [each.query for each in engine.receipts.list()] == ["dome rollers"]


def test_a_client_takes_turns_and_reads_receipts_like_the_engine(weft):
    app = make_app(weft, Options(limits=Limits(requests_per_minute=0)))
    _, key = make_key(weft.store, user="me", workspaces=["main"], scope="write", now=weft.now())
    with running(app) as url, Client(url, key) as client:
        thread = client.threads.create("Remote").id
        turn = client.turn(thread, QUERY, budget=900)
        assert turn.inject and turn.messages[-1]["content"].endswith(QUERY)
        result = turn.tool("list_keys", "Ben: 2")
        assert "Ben: 2" in result.text
        reply = client.reply(thread, f"In spring [{turn.citations[0]}].")
        assert [each.id for each in reply.check.used] == list(turn.citations[:1]) and reply.receipt == turn.receipt
        receipt = client.receipts.get(turn.receipt)
        assert receipt.surface == "http" and receipt == weft.receipts.get(turn.receipt)
        assert client.receipts.replay(turn.receipt).same
        assert [each.id for each in client.receipts.list(thread=thread)] == [turn.receipt]
        assert client.compact(thread, keep=200).tokens <= 200
        with pytest.raises(InvalidInput):
            client.turn(thread, "x" * 100, budget=1)
        assert client.receipts.erase(turn.receipt) == 1
        with pytest.raises(NotFound):
            client.receipts.get(turn.receipt)


def test_the_command_line_lists_shows_replays_and_erases(weft, tmp_path):
    thread = weft.threads.create().id
    turn = weft.turn(thread, QUERY)
    weft.reply(thread, f"In spring [{turn.citations[0]}].")
    run = CliRunner()
    here = ["--store", str(tmp_path / "notes.weft")]

    def said(*arguments):
        result = run.invoke(group, ["receipts", *arguments, *here], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    assert turn.receipt in said() and QUERY in said()
    assert json.loads(said("--json"))[0]["id"] == turn.receipt
    shown = said("show", turn.receipt)
    assert f"[{turn.citations[0]}] Dome" in shown and f"the answer cited {turn.citations[0]}" in shown
    assert json.loads(said("replay", turn.receipt, "--json"))["unchanged"] == list(turn.citations)
    assert "1 erased" in said("erase", "--all", "--yes")


def test_a_store_without_the_tables_of_receipts_gets_them(tmp_path, monkeypatch):
    first = dict(list(schema.MIGRATIONS.items())[:1])
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", first)
        open_store(tmp_path / "notes.weft", clock=lambda: NOW).close()
    with Weft.open(tmp_path / "notes.weft", embedder="hashing") as engine:
        engine.add([Node(id="dome", text="The dome has rollers.")])
        engine.context("dome rollers")
        assert len(engine.receipts.list()) == 1


def test_contexts_are_made_even_where_no_receipt_can_be_written(weft, monkeypatch, caplog):
    def refuse(*arguments, **options):
        raise StoreError("notes.weft may not be written to")

    monkeypatch.setattr(weft.store.receipts, "put", refuse)
    assert weft.context(QUERY).text
    assert weft.receipts.list() == []
    assert "receipts were not written" in caplog.text


def test_who_lists_receipts_waits_for_those_that_another_thread_is_writing(weft, monkeypatch):
    weft.context(QUERY)
    taken, go, listed = threading.Event(), threading.Event(), []
    put = weft.store.receipts.put

    def slowly(*args, **more):
        taken.set()
        assert go.wait(30)
        put(*args, **more)

    monkeypatch.setattr(weft.store.receipts, "put", slowly)
    writer = threading.Thread(target=weft.receipts.write_pending)
    reader = threading.Thread(target=lambda: listed.extend(weft.receipts.list()))
    writer.start()
    assert taken.wait(30)
    reader.start()
    reader.join(0.1)  # it may not have begun; then it proves nothing, and does not fail
    go.set()
    writer.join()
    reader.join()
    assert [receipt.query for receipt in listed] == [QUERY]
