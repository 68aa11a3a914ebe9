"""Threads: who may do what with them, and the order of their messages."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from weftwork import Message, Node, Weft
from weftwork.errors import InvalidInput, NotFound, NotPermitted

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "t.weft", embedder=None, tokenizer="characters", clock=lambda: NOW) as opened:
        opened.add_user("ana")
        opened.add_user("ben")
        opened.add([Node(id="plan", type="file", title="plan.md", text="The plan.")])
        yield opened


def test_a_thread_is_started_posted_to_renamed_and_removed(weft):
    threads = weft.threads
    thread = threads.create("Maintenance", references=["plan"])
    assert [node.id for node in threads.references(thread.id)] == ["plan"]
    threads.post(thread.id, "Who has the keys?")
    threads.post(thread.id, Message("assistant", "Ana has them."), Message("user", "Thanks.", NOW + timedelta(hours=1)))
    assert [(m.position, m.title, m.text) for m in threads.messages(thread.id)] == [
        (1, "user", "Who has the keys?"),
        (2, "assistant", "Ana has them."),
        (3, "user", "Thanks."),
    ]
    assert threads.messages(thread.id)[2].created_at == NOW + timedelta(hours=1)
    assert [m.text for m in threads.messages(thread.id, 1)] == ["Thanks."]
    threads.rename(thread.id, "Keys")
    assert [node.title for node in threads.list()] == ["Keys"]
    assert threads.unreference(thread.id, "plan") == 1
    assert threads.reference(thread.id, "plan") == 1
    assert threads.remove(thread.id) == 4
    assert threads.list() == []


def test_a_thread_is_its_owners_alone_unless_it_is_shared(weft):
    threads = weft.threads
    private = threads.create("Private", user="ana")
    shared = threads.create("Shared", user="ana", access=["ben"])
    assert [node.title for node in threads.list(user="ben")] == ["Shared"]
    with pytest.raises(NotFound):
        threads.post(private.id, "Hello", user="ben")
    threads.post(shared.id, "Hello", user="ben")
    assert [m.owner for m in threads.messages(shared.id, user="ana")] == ["ben"]
    for forbidden in (
        lambda: threads.rename(shared.id, "Ben's", user="ben"),
        lambda: threads.remove(shared.id, user="ben"),
    ):
        with pytest.raises(NotPermitted):
            forbidden()
    assert threads.remove(shared.id, user="ana") == 2


def test_parallel_posts_have_a_total_order(weft):
    thread = weft.threads.create("Busy")
    with ThreadPoolExecutor(8) as pool:
        # The same text at the same moment: still twenty messages.
        list(pool.map(lambda _: weft.threads.post(thread.id, "Same."), range(20)))
    assert [m.position for m in weft.threads.messages(thread.id)] == list(range(1, 21))


def test_within_a_transaction_nothing_is_posted_over_something_else(weft):
    thread = weft.threads.create("T")
    for call in (lambda: weft.threads.post(thread.id, "Same."), lambda: weft.threads.create("T")):
        with pytest.raises(InvalidInput, match=r"outside of weft\.atomic"), weft.atomic():
            call()
    weft.threads.post(thread.id, "Same.", "Same.")
    assert [m.position for m in weft.threads.messages(thread.id)] == [1, 2]


def test_two_threads_of_one_moment_are_two(weft):
    assert weft.threads.create("A").id != weft.threads.create("A").id
    assert len(weft.threads.list()) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda threads, t: threads.post(t),
        lambda threads, t: threads.post(t, "  "),
        lambda threads, t: threads.post(t, 5),
        lambda threads, t: threads.post(t, "a", role=None),
        lambda threads, t: threads.create(None),
        lambda threads, t: threads.create("a", references="plan"),
        lambda threads, t: threads.create("a", access="ben"),
        lambda threads, t: threads.rename(t, 5),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(weft, wrong):
    thread = weft.threads.create("T")
    with pytest.raises(InvalidInput):
        wrong(weft.threads, thread.id)
    assert weft.threads.messages(thread.id) == []
    assert [node.title for node in weft.threads.list()] == ["T"]


@pytest.mark.parametrize("call", ["messages", "references", "post", "remove", "rename", "reference"])
def test_a_file_is_no_thread(weft, call):
    more = {"post": ["x"], "rename": ["x"], "reference": ["plan"]}.get(call, [])
    with pytest.raises(NotFound, match="no thread 'plan'"):
        getattr(weft.threads, call)("plan", *more)


def test_what_a_thread_refers_to_must_be_seen(weft):
    weft.add([Node(id="secret", type="file", title="s", owner="ana", access=frozenset())])
    with pytest.raises(NotFound):
        weft.threads.create("T", references=["secret"], user="ben")
    assert weft.threads.list(user="ben") == []
