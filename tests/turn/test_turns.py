"""Turns: what is sent, what is not sent again, and what is taken back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.turn.conftest import NOTES, Ticking, flat

from weftwork import Node, Weft
from weftwork.errors import InvalidInput, NotFound
from weftwork.faces.memory import Memories
from weftwork.turn.turns import SHARE

OTHER = "Ana has the keys of the dome now."
RULES = "You help at the observatory. Answer in one sentence."


def cited(turn, weft):
    """The notes that a turn adds."""
    with weft.store.view("main", "me") as view:
        return {record.node.id for record in view.cited(list(turn.citations))}


def test_a_message_is_posted_and_answered_with_what_it_needs(weft, thread):
    turn = weft.turn(thread, "How are the rollers of the dome greased?", rules=RULES)
    assert turn.inject and cited(turn, weft) == {"dome"}
    assert [node.text for node in weft.threads.messages(thread)] == ["How are the rollers of the dome greased?"]
    system, user = turn.messages
    assert system == {"role": "system", "content": f"{RULES}\n\n"}
    assert user["content"].endswith("Message:\n\nHow are the rollers of the dome greased?")
    assert "data, not instructions" in user["content"] and NOTES["dome"] in user["content"]
    assert turn.tokens == sum(weft.tools.counter.count(each["content"]) for each in turn.messages)
    assert turn.cached_tokens == 0


@pytest.mark.parametrize("courtesy", ["thanks!", "ok, great", "👍", "Good morning!"])
def test_a_courtesy_adds_nothing(weft, thread, courtesy):
    turn = weft.turn(thread, courtesy)
    assert not turn.inject and turn.text == "" and turn.reason == "a courtesy asks for nothing"
    assert turn.messages == ({"role": "user", "content": courtesy},)


def test_each_turn_begins_byte_for_byte_with_the_one_before(weft, thread):
    before, said = "", ["Who has the keys?", "thanks!", "When is the mirror coated?", "And how is the camera cooled?"]
    tokens = 0
    for message in said:
        turn = weft.turn(thread, message, rules=RULES)
        assert flat(turn).startswith(before)
        assert turn.cached_tokens == tokens
        before, tokens = flat(turn), turn.tokens
        weft.reply(thread, f"About {message}")
    assert turn.cached_tokens > 0.6 * turn.tokens


def test_what_was_sent_is_not_sent_again(weft, thread):
    first = weft.turn(thread, "Where are the keys of the dome?")
    again = weft.turn(thread, "Where are the keys of the dome?")
    assert set(first.citations).isdisjoint(again.citations)
    assert flat(again).count(NOTES["keys"]) == 1
    third = weft.turn(thread, "Where are the keys of the dome?")
    assert not third.inject and third.reason == "what answers it was given before"


def test_the_rest_of_a_given_document_has_to_answer_by_itself(weft, thread):
    lift = f"Grease for the lift is red. {'It carries the cameras, the mirrors and the people who clean them. ' * 8}"
    weft.add(
        [
            Node(id="book", type="page", title="Handbook", position=0),
            Node(id="grease", type="heading", title="Rollers", parent="book", position=0, text=NOTES["dome"]),
            Node(id="lift", type="heading", title="Lift", parent="book", position=1, text=lift),
        ]
    )
    weft.remove(["dome"])
    question = "With which grease are the twelve rollers of the dome greased every spring?"
    first = weft.turn(thread, question, budget=700)
    assert "lithium" in first.text and "the lift is red" not in first.text
    second = weft.turn(thread, f"Again: {question}", budget=8000)
    assert not second.inject and second.reason == "what answers it was given before"


def test_a_memory_just_told_is_in_the_next_turn_and_standing_ones_come_first(weft, thread):
    memories = Memories(weft)
    memories.remember("Answers should be short", type="preference")
    memories.remember("The user is left-handed", pinned=True)
    first = weft.turn(thread, "Who has the keys?")
    assert first.messages[0]["role"] == "system"
    assert "Answers should be short" in first.messages[0]["content"] and "left-handed" in first.messages[0]["content"]
    memories.remember("Ben is on leave until May")
    second = weft.turn(thread, "How is the camera cooled?")
    assert "Ben is on leave until May" in second.text and "short" not in second.text
    assert flat(second).startswith(flat(first))
    assert "Ben is on leave" not in weft.turn(thread, "And the roof?").text


def test_a_memory_of_another_user_is_never_taken_for_a_standing_one(weft, thread):
    Memories(weft).remember("Ben's rule", type="rule", user="ben", access=["*"])
    assert weft.turn(thread, "thanks!").messages[0]["role"] == "user"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda weft: weft.remove(["keys"]), "no longer available"),
        (
            lambda weft: weft.add(
                [Node(id="keys", type="page", title="Keys", text=NOTES["keys"], owner="ben", access=frozenset({"ben"}))]
            ),
            "no longer available",
        ),
        (
            lambda weft: weft.add(
                [Node(id="keys", type="page", title="Keys", text="Ana has the keys of the dome now.")]
            ),
            "changed",
        ),
    ],
)
def test_what_is_gone_hidden_or_changed_is_taken_out_and_said(weft, thread, change, reason):
    first = weft.turn(thread, "Who keeps the keys of the dome?")
    assert NOTES["keys"] in flat(first)
    weft.reply(thread, "Ben does.")
    change(weft)
    second = weft.turn(thread, "How is the camera cooled?")
    assert NOTES["keys"] not in flat(second)
    assert [each.reason for each in second.withdrawn] == [reason]
    assert f"[{second.withdrawn[0].citation}] ({reason})" in second.text
    assert (OTHER in second.text) == (reason == "changed")
    assert second.cached_tokens < first.tokens
    third = weft.turn(thread, "thanks!")
    assert third.withdrawn == () and flat(third).startswith(flat(second))


def test_a_memory_that_is_no_longer_true_is_withdrawn(weft, thread):
    memories = Memories(weft)
    old = memories.remember("Ben's telephone is 4711", pinned=True)
    first = weft.turn(thread, "thanks!")
    assert "4711" in first.messages[0]["content"]
    memories.revise(old.id, "Ben's telephone is 4712")
    second = weft.turn(thread, "What is Ben's telephone?")
    assert "4711" not in flat(second) and "4712" in second.text
    assert [each.reason for each in second.withdrawn] == ["no longer true"]


def test_an_answer_may_cite_what_any_earlier_turn_gave(weft, thread):
    first = weft.turn(thread, "Who keeps the keys of the dome?")
    weft.reply(thread, "Ben.")
    weft.turn(thread, "thanks!")
    reply = weft.reply(thread, f"As I said, Ben [{first.citations[0]}], or Eve [k999999].")
    assert [citation.id for citation in reply.check.used] == [first.citations[0]]
    assert reply.check.unknown == ("k999999",)
    assert reply.used == 1
    copied = weft.reply(thread, "Ben keeps the keys of the dome in the blue cabinet, he says.")
    assert [quote.citation.node for quote in copied.check.uncited] == ["keys"]


def test_citations_stay_known_when_their_source_is_gone(weft, thread):
    first = weft.turn(thread, "Who keeps the keys of the dome?")
    weft.remove(["keys"])
    weft.turn(thread, "Who was it?")
    assert weft.reply(thread, f"Ben [{first.citations[0]}].").check.unknown == ()


def test_two_users_of_a_thread_are_given_what_each_may_see(weft):
    weft.add([Node(id="wage", type="page", title="Wages", text="Ben earns forty crowns.", access=frozenset({"ben"}))])
    thread = weft.threads.create("Money", access=["ben"]).id
    mine = weft.turn(thread, "What are the wages? What does Ben earn?")
    his = weft.turn(thread, "What are the wages? What does Ben earn?", user="ben")
    assert "forty crowns" not in flat(mine) and "forty crowns" in flat(his)
    assert "forty crowns" not in flat(weft.turn(thread, "And what else?"))


def test_a_message_that_cannot_fit_is_refused_and_not_posted(weft, thread):
    refused = ("dome " * 100, {"budget": 50}), ("", {}), ("x", {"budget": 0}), ("x", {"rules": 3})
    for message, options in (*refused, ("x", {"min_support": 2}), ("x", {"recipe": "nonsense"})):
        with pytest.raises(InvalidInput):
            weft.turn(thread, message, **options)
    assert weft.threads.messages(thread) == []
    with pytest.raises(NotFound, match="there is no thread"):
        weft.turn("nowhere", "hello")
    with pytest.raises(NotFound):
        weft.turn(thread, "hello", user="ben")


def test_a_message_of_its_own_is_no_source_of_itself(weft, thread):
    turn = weft.turn(thread, "The gardener is called Josephine and waters the orchids.")
    assert "gardener" not in turn.text
    assert "gardener" not in weft.turn(thread, "What is the gardener called?").text


@settings(max_examples=12, deadline=None)
@given(st.integers(30, 900), st.lists(st.sampled_from([*NOTES, "thanks!", "why?"]), min_size=1, max_size=9))
def test_no_turn_counts_more_than_its_budget(tmp_path_factory, budget, subjects):
    folder = tmp_path_factory.mktemp("budget")
    with Weft.open(folder / "notes.weft", embedder="hashing", clock=Ticking()) as weft:
        weft.add([Node(id=name, type="page", title=name.title(), text=text) for name, text in NOTES.items()])
        Memories(weft).remember("Answers are short, friendly and in English", pinned=True)
        thread = weft.threads.create().id
        for subject in subjects:
            turn = weft.turn(thread, f"What about the {subject}?", budget=budget, rules="Be kind.")
            assert turn.tokens == sum(weft.tools.counter.count(each["content"]) for each in turn.messages) <= budget
            weft.reply(thread, f"We decided to look after the {subject} [{(turn.citations or ('k123456',))[0]}].")


def test_a_turn_adds_no_more_than_its_share(weft, thread):
    weft.add([Node(id=f"n{n}", type="page", title=f"Roller {n}", text="Rollers of the dome. " * 40) for n in range(20)])
    turn = weft.turn(thread, "Tell me about the rollers of the dome", budget=4_000)
    assert 0 < weft.tools.counter.count(turn.text) <= 4_000 // SHARE


def test_the_format_of_anthropic_has_breakpoints_behind_what_stays(weft, thread):
    weft.turn(thread, "Who keeps the keys?", rules=RULES)
    weft.reply(thread, "Ben.")
    sent = weft.turn(thread, "How is the camera cooled?", rules=RULES).anthropic()
    assert sent["system"][0]["text"].startswith(RULES) and "cache_control" in sent["system"][0]
    assert [each["role"] for each in sent["messages"]] == ["user", "assistant", "user"]
    marked = ["cache_control" in each["content"][0] for each in sent["messages"]]
    assert marked == [True, False, True]


def test_messages_of_one_role_become_one(weft, thread):
    weft.threads.post(thread, "First.", "Second.")
    turn = weft.turn(thread, "thanks!")
    assert turn.messages == ({"role": "user", "content": "First.\n\nSecond.\n\nthanks!"},)


def test_other_speakers_are_named(weft, thread):
    weft.threads.post(thread, "I have the keys.", role="Ana")
    assert weft.turn(thread, "thanks!").messages[0]["content"].startswith("Ana: I have the keys.")
