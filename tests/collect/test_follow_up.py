"""Messages that borrow the words of what was said before them."""

import pytest

from weftwork import Message, Node, Weft
from weftwork.collect.follow_up import BORROWED, borrowed, is_follow_up, spoken_of

ASKED = Message("user", "Which rooms have a stove?")
ANSWERED = Message("assistant", "Two rooms:\n1. the workshop\n2. the library")


@pytest.mark.parametrize(
    "message",
    ["Where in the Console can I see mine?", "How does that help?", "When did he take a trip to the far north west?",
     "Which argument tells it whether the text is a query?", "And Jon's?"],
)  # fmt: skip
def test_pronouns_and_ellipses_point_back(message):
    assert is_follow_up(message)


@pytest.mark.parametrize("message", ["Does Ada like her new job at the harbour?", "Is it true that the dome is steel?"])
def test_pronouns_that_the_message_itself_explains_do_not(message):
    assert not is_follow_up(message)


def test_a_follow_up_is_about_the_last_question_that_stands_by_itself():
    assert spoken_of("Who heats it?", [ASKED, ANSWERED, Message("user", "Why?")]) == ASKED.text
    assert spoken_of("and the second one?", [ASKED, ANSWERED]) == f"the library\n{ASKED.text}"
    assert spoken_of("When was the primary mirror inspected?", [ASKED, ANSWERED]) == ""
    assert spoken_of("Who heats it?", []) == ""


def test_of_a_person_only_the_name_is_taken():
    before = [Message("user", "What does Caroline's sister paint?")]
    assert spoken_of("When did she go to the museum?", before) == "Caroline"
    assert spoken_of("Where does she sell that, and how does that work?", before) == before[0].text


def test_borrowed_words_weigh_less_and_none_is_borrowed_twice():
    assert borrowed("What is Caroline's favourite stove?", "Who sold the stove?") == {
        "caroline": BORROWED, "favourite": BORROWED,
    }  # fmt: skip


@pytest.mark.parametrize("embedder", [None, "static"])
def test_history_and_thread_bring_what_was_spoken_of(tmp_path, embedder):
    with Weft.open(tmp_path / "t.weft", embedder=embedder) as weft:
        weft.add([Node(id="stove", type="note", title="Stove", text="The stove is heated by Ines on Mondays.")])
        weft.add([Node(id=f"n{n}", type="note", title=f"Room {n}", text=f"Somebody heats room {n}.") for n in range(9)])
        thread = weft.threads.create("Rooms").id
        weft.threads.post(thread, "Which stove is in the library?")
        asked = {"history": (Message("user", "Which stove is in the library?"),)}, {"thread": thread}
        for more in asked:
            context = weft.context("Who heats it?", **more)
            found = [item.candidate.node.id for item in context.items if item.candidate.node.type == "note"]
            assert found[0] == "stove", more
        alone = weft.context("Who heats it?")
        assert [item.candidate.node.id for item in alone.items][:1] != ["stove"]
