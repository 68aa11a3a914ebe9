"""Messages that need no sources: they get none, and are not mistaken for questions."""

import pytest

from weftwork.turn.asking import asks_for_sources

ASIDES = """thanks! / yes / yes, do that / go on / continue / what? / hm / explain / can you repeat that?
I see / try again / wait / translate it to German / please make it shorter / write it as a table
that's wrong / good point / how are you? / it works now / what did I just ask? / nope
danke schön / hello, can you help me?"""
QUESTIONS = """why? / tell me more / and the second one? / how do I do it? / any examples? / Who carried it?
and tomorrow? / Ben? / Explain GitHub Pages / translate the handbook to German / continue with the migration
what did Ben say? / next steps / What are the next steps? / is the dome right? / wie geht das?
rewrite this using our style guide / when did she go?"""


@pytest.mark.parametrize("message", ASIDES.replace("\n", " / ").split(" / "))
def test_talk_about_the_talk_asks_for_nothing(message):
    assert not asks_for_sources(message)


@pytest.mark.parametrize("message", QUESTIONS.replace("\n", " / ").split(" / "))
def test_a_question_in_few_words_is_one(message):
    assert asks_for_sources(message)


def test_a_message_that_asks_for_nothing_adds_nothing(weft, thread):
    first = weft.turn(thread, "What does the dome turn on?")
    weft.reply(thread, "On rollers.")
    turn = weft.turn(thread, "yes, do that")  # "do" and "that" would borrow the words of the question
    assert not turn.inject and turn.reason == "it asks for nothing that is not in the conversation"
    assert turn.messages[: len(first.messages)] == first.messages
