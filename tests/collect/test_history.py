from datetime import timedelta

import pytest

from weftwork.collect import HistoryCollector
from weftwork.errors import NotFound
from weftwork.request import Message
from weftwork.store.contract.kit import NOW, node, put
from weftwork.types import Budget


def thread(count, **of_thread):
    return [
        node("thread", type="thread", **of_thread),
        *(node(f"m{n:02}", f"Message {n}.", type="message", parent="thread", position=n) for n in range(count)),
    ]


def test_messages_of_the_thread_come_newest_first_each_worth_a_little_less(store, desk):
    put(store, *thread(3))
    assert desk.collect(HistoryCollector(), thread="thread") == [
        ("m02", 0.6, "message 1 from the end of the thread"),
        ("m01", 0.58, "message 2 from the end of the thread"),
        ("m00", 0.56, "message 3 from the end of the thread"),
    ]


def test_twenty_messages_are_looked_at(store, desk):
    put(store, *thread(23))
    assert list(desk.scores(HistoryCollector(), thread="thread")) == [f"m{n:02}" for n in range(22, 2, -1)]


def test_the_worth_of_old_messages_does_not_fall_below_a_tenth(store, desk):
    put(store, *thread(40))
    scores = list(desk.scores(HistoryCollector(limit=40), thread="thread").values())
    assert scores[24:27] == [0.12, 0.1, 0.1]  # 0.6 - 24 × 0.02, 0.6 - 25 × 0.02, and no less


def test_messages_handed_in_come_newest_first_with_their_roles(store, desk):
    given = (Message("user", "Are we ready?", NOW - timedelta(hours=1)), Message("assistant", "Not yet."))
    newest, oldest = desk.found(HistoryCollector(), history=given)
    assert [(round(finding.score, 6), finding.why) for finding in (newest, oldest)] == [
        (0.6, "handed in with the request"),
        (0.58, "handed in with the request"),
    ]
    assert (newest.record.node.title, newest.record.passage.text) == ("assistant", "Not yet.")
    assert (oldest.record.node.type, oldest.record.node.created_at) == ("message", NOW - timedelta(hours=1))


def test_only_the_last_messages_handed_in_are_taken(store, desk):
    messages = tuple(Message("user", f"turn {n}") for n in range(5))
    findings = desk.found(HistoryCollector(limit=2), history=messages)
    assert [finding.record.passage.text for finding in findings] == ["turn 4", "turn 3"]
    assert desk.found(HistoryCollector(limit=0), history=messages) == []


def test_a_message_keeps_its_citation_when_the_conversation_goes_on(store, desk):
    def citations(turns):
        messages = tuple(Message("user", f"turn {n}") for n in range(turns))
        findings = desk.found(HistoryCollector(limit=3), history=messages)
        return {finding.record.passage.text: finding.record.passage.citation for finding in findings}

    before, after = citations(4), citations(6)
    assert before.keys() & after.keys() == {"turn 3"}
    assert before["turn 3"] == after["turn 3"]
    assert len({*before.values(), *after.values()}) == 5


def test_what_was_handed_in_is_newer_than_what_is_stored(store, desk):
    put(store, *thread(2))
    findings = desk.collect(HistoryCollector(), thread="thread", history=(Message("user", "And now?"),))
    assert [(name, score) for name, score, _ in findings] == [("history-1", 0.6), ("m01", 0.58), ("m00", 0.56)]


def test_excluded_messages_are_left_out(store, desk):
    put(store, *thread(3))
    assert list(desk.scores(HistoryCollector(), thread="thread", exclude=["m01"])) == ["m02", "m00"]


def test_an_unknown_thread_and_a_hidden_one_are_refused_alike(store, desk):
    put(store, *thread(1, access=frozenset({"ana"})))
    with pytest.raises(NotFound, match="thread 'nowhere' does not exist"):
        desk.scores(HistoryCollector(), thread="nowhere")
    with pytest.raises(NotFound, match="thread 'thread' does not exist"):
        desk.scores(HistoryCollector(), thread="thread", user="ben")


def test_without_thread_and_messages_there_is_no_history(store, desk):
    put(store, *thread(2))
    assert desk.scores(HistoryCollector(), "message") == {}


def older(store, *spoken, count=30):
    messages = thread(count)
    for number, text in spoken:
        messages[1 + number] = node(f"m{number:02}", text, type="message", parent="thread", position=number)
    put(store, *messages)


def test_older_messages_come_in_if_their_words_match(store, desk):
    older(store, (3, "The mirror is cracked."), (4, "Lunch is late."))
    findings = desk.collect(HistoryCollector(older=5), "what of the mirror", thread="thread", embedder=None)
    assert [name for name, _, _ in findings[:20]] == [f"m{n:02}" for n in range(29, 9, -1)]
    ((name, score, why),) = findings[20:]
    assert name == "m03"
    assert why == f"an older message that matches: words {score:.2f}"


def test_older_messages_come_in_if_they_mean_the_same(store, desk):
    older(store, (3, "mirror mirror mirror"))
    findings = desk.collect(HistoryCollector(older=5, threshold=0.1), "mirror", thread="thread")
    assert findings[20][0] == "m03"
    assert findings[20][2].startswith("an older message that matches: similarity")


def test_older_messages_below_the_threshold_stay_out(store, desk):
    older(store, (3, "The mirror is cracked."))
    assert len(desk.collect(HistoryCollector(older=5, threshold=0.99), "mirror", thread="thread")) == 20
    assert len(desk.collect(HistoryCollector(), "mirror", thread="thread")) == 20


def test_older_messages_are_the_threads_own_visible_and_not_excluded(store, desk):
    older(store, (3, "A mirror."), (4, "The mirror."), (5, "My mirror."))
    put(store, node("other", type="thread"), node("x", "mirror", type="message", parent="other"))
    with store.atomic("contract") as batch:
        batch.set_access("m04", frozenset({"ana"}))
    collector = HistoryCollector(older=5, threshold=0.2)
    findings = desk.collect(collector, "mirror", thread="thread", user="ben", exclude=["m05"], embedder=None)
    assert [name for name, _, _ in findings if name < "m10" or name == "x"] == ["m03"]


def test_as_many_older_messages_as_are_wanted(store, desk):
    older(store, *((number, f"The mirror {number}.") for number in range(8)))
    findings = desk.collect(HistoryCollector(older=3, threshold=0.2), "mirror", thread="thread", embedder=None)
    assert len(findings) == 23


def test_what_is_recent_ends_with_the_share_of_the_history(store, desk):
    put(store, *thread(6))
    asked = {"thread": "thread", "budget": Budget(total=1000, sections={"history": 7})}
    # a message has three tokens: two fit into seven
    assert list(desk.scores(HistoryCollector(older=1), "", **asked)) == ["m05", "m04"]
    none = {"thread": "thread", "budget": Budget(total=1000, sections={"history": 1})}
    assert list(desk.scores(HistoryCollector(older=1), "", **none)) == ["m05"]
