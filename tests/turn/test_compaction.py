"""Compaction: what must not be forgotten survives, in the words in which it was said."""

import pytest
from tests.turn.conftest import NOTES, flat

from weftwork.errors import InvalidInput
from weftwork.faces.memory import Memories

RULES = "Answer in one sentence."


@pytest.fixture
def long_thread(weft, thread):
    """A conversation with a decision, a task and a cited source among much chatter."""
    Memories(weft).remember("The user is left-handed", pinned=True)
    first = weft.turn(thread, "Who keeps the keys of the dome?", rules=RULES)
    weft.reply(thread, f"Ben keeps them [{first.citations[0]}].")
    for message in (
        "We decided to grease the rollers in April. The weather was nice, and we had coffee.",
        "I still need to order lithium grease by Friday.",
        *(f"Number {n}: the garden had {n} flowers, and somebody counted them twice over." for n in range(12)),
    ):
        weft.turn(thread, message, rules=RULES)
        weft.reply(thread, "I see. The flowers are very nice at this time of the year, they say.")
    return thread, first.citations[0]


def test_decisions_tasks_and_cited_sources_survive(weft, long_thread):
    thread, source = long_thread
    result = weft.compact(thread, keep=400)
    assert result.tokens <= result.budget == 400
    contents = [each["content"] for each in result.history]
    assert result.tokens == sum(map(weft.tools.counter.count, contents)) and contents[0] == result.text
    assert contents[-1].startswith("I see.")
    assert "We decided to grease the rollers in April." in result.text
    assert "I still need to order lithium grease by Friday." in result.text
    assert source in result.citations and NOTES["keys"] in result.text
    assert 0 < result.messages < 20 and result.dropped > 8
    assert result.text.count("coffee") <= 1
    turn = weft.turn(thread, "thanks!", rules=RULES)
    assert RULES in turn.messages[0]["content"] and "left-handed" in turn.messages[0]["content"]
    assert result.text in turn.messages[0]["content"]
    assert turn.messages[1]["role"] == "user"


def test_later_turns_go_on_from_a_compaction(weft, long_thread):
    thread, source = long_thread
    weft.compact(thread, keep=400)
    first = weft.turn(thread, "How is the camera cooled?", rules=RULES)
    second = weft.turn(thread, "thanks!", rules=RULES)
    assert flat(second).startswith(flat(first)) and second.cached_tokens == first.tokens
    assert weft.reply(thread, f"Ben [{source}].").check.unknown == ()


def test_what_an_earlier_compaction_kept_survives_the_next(weft, long_thread):
    thread, _ = long_thread
    weft.compact(thread, keep=400)
    for number in range(6):
        weft.turn(thread, f"More flowers: {number}", rules=RULES)
        weft.reply(thread, "How nice, more flowers for all of us.")
    again = weft.compact(thread, keep=400)
    assert again.tokens <= 400
    assert "We decided to grease the rollers in April." in again.text
    assert again.text.count("order lithium grease") == 1


def test_a_turn_without_room_compacts_by_itself_and_then_holds_for_a_while(weft, thread):
    compacted, reused = [], []
    for number in range(24):
        turn = weft.turn(thread, f"We decided on shelf {number} for the flower pots of house {number}.", budget=600)
        assert turn.tokens <= 600
        compacted.append(turn.compacted)
        reused.append(turn.cached_tokens)
        weft.reply(thread, "Noted, and thank you for telling me about it.")
    assert 1 < sum(compacted) < 8
    assert "We decided on shelf 22" in flat(turn)


def test_thanks_need_no_room_and_compact_nothing(weft, thread):
    long = "The rollers of the dome were looked at by two people today. " * 4
    while weft.turn(thread, long, budget=600).tokens < 520:
        pass
    turn = weft.turn(thread, "thanks!", budget=600)
    assert not turn.compacted and turn.cached_tokens >= turn.tokens - 4


def test_a_thread_without_messages_and_a_senseless_budget(weft, thread):
    assert weft.compact(thread).text == ""
    with pytest.raises(InvalidInput):
        weft.compact(thread, keep=0)


def test_hidden_sources_do_not_survive(weft, long_thread):
    thread, source = long_thread
    weft.remove(["keys"])
    result = weft.compact(thread, keep=400)
    assert NOTES["keys"] not in result.text and source not in result.citations
