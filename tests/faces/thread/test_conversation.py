"""Messages in their conversation: questions, follow-ups, courtesies, and the message itself."""

from dataclasses import replace

import pytest
from tests.faces.thread.test_service import NOW, file, said, shown

from weftwork import Edge, Node, Weft
from weftwork.collect.follow_up import is_follow_up
from weftwork.faces.thread import ContextAssemblyService
from weftwork.faces.thread.conversation import asked
from weftwork.query import is_courtesy


@pytest.mark.parametrize(
    "message",
    [
        "thanks",
        "Thanks!",
        "ok",
        "OK, great.",
        "Thank you so much",
        "👍",
        "Good morning",
        "cool, got it",
        "Hi, how are you today?",
        "What’s up?",
        "Wie geht's?",
    ],
)
def test_courtesies(message):
    assert is_courtesy(message)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "  ",
        "Thanks, and the mirror?",
        "What is this?",
        "ok google",
        "谢谢",
        "Who has the keys?",
        "why?",
        "How do you do it?",
        "How are you doing with the mirror?",
        "What is up with the mirror?",
    ],
)
def test_other_messages_are_none(message):
    assert not is_courtesy(message)


@pytest.mark.parametrize(
    "message",
    ["and the second one?", "Why?", "yes", "tell me more", "Who orders it?", "And in winter?", "What about rollers?",
     "Can you explain that?", "How long does it take?"],
)  # fmt: skip
def test_follow_ups(message):
    assert is_follow_up(message)


@pytest.mark.parametrize(
    "message",
    ["When was the primary mirror inspected?", "What is this project about?",
     "Is it true that twelve steel rollers carry the dome?"],
)  # fmt: skip
def test_questions_by_themselves(message):
    assert not is_follow_up(message)


def test_a_follow_up_is_searched_for_with_what_it_points_to():
    question = said(1, "Which rooms have a stove?")
    reply = replace(said(2, "Two rooms:\n1. the workshop\n2. the library"), title="assistant")
    assert asked("and the second one?", [question, reply]).query == (
        "and the second one?\nthe library\nWhich rooms have a stove?"
    )
    # A follow-up of a follow-up is still about the question.
    again = asked(
        "Why?", [question, reply, said(3, "and the second one?"), replace(said(4, "Oak."), title="assistant")]
    )
    assert again.query == "Why?\nOak.\nWhich rooms have a stove?"
    assert asked("Who heats it?", [question, reply]).query == "Who heats it?\nWhich rooms have a stove?"
    assert asked("Why?", []).query == "Why?"


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "t.weft", embedder=None, tokenizer="characters", clock=lambda: NOW) as opened:
        opened.add([Node(id="t", type="thread", title="Observatory"), file("pinned", "House rules.")])
        opened.add([file("stove", "The stove of the library is from 1912."), file("thanks", "Thanks, ok, great.")])
        yield opened


def test_thanks_gets_references_and_history_and_no_files(weft):
    weft.add([said(1, "Who has the keys?")], [Edge(source="t", target="pinned")])
    with weft.atomic() as batch:
        batch.record("me", "stove", "view", NOW)
    prime = ContextAssemblyService(weft).build("t", "Thanks, great!")
    assert shown(prime) == {"pinned", "m001"}
    assert prime.stats.search_count == 0


def test_a_follow_up_finds_what_was_spoken_of(weft):
    assert shown(ContextAssemblyService(weft).build("t", "and the second one?")) == set()
    weft.add([said(1, "Which rooms have a stove?"), replace(said(2, "1. workshop\n2. library"), title="assistant")])
    prime = ContextAssemblyService(weft).build("t", "and the second one?")
    assert "stove" in shown(prime)


def test_a_message_is_no_source_of_itself(weft):
    weft.add([said(1, "Who has the keys?"), said(2, "How old is the stove?")])
    prime = ContextAssemblyService(weft).build("t", "How old is the stove?")
    assert shown(prime) == {"m001", "stove"}
    assert "How old" not in prime.text
    # What was asked before, in the same words, stays.
    weft.add([said(n, f"Note {n}.") for n in range(3, 8)])
    assert "m002" in shown(ContextAssemblyService(weft).build("t", "How old is the stove?"))


def test_questions_by_themselves_are_asked_as_they_are(weft):
    weft.add([said(1, "Which rooms have a stove?")])
    assert ContextAssemblyService(weft).build("t", "Who wrote the house rules?").context.query == (
        "Who wrote the house rules?"
    )
