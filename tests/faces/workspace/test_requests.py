"""Requests as people write them: they point at the focus, follow up what was said, or ask for what is due."""

import pytest

from weftwork import Node, Weft
from weftwork.faces.workspace import ConversationMessage, Focus, TokenBudget
from weftwork.store.contract.kit import NOW, node

from .desk import Desk, blocks, found_by, section, shown


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """A page with a task, another task, and a page that has the words of commands."""
    with Weft.open(tmp_path_factory.mktemp("plans") / "n.weft", clock=lambda: NOW) as weft:
        weft.add_user("ana")
        weft.add(
            [
                Node(id="plan", type="page", title="Foam plan", text="What we do in March."),
                Node(id="foam", type="todo", title="Order the foam", parent="plan", text="Call the supplier."),
                Node(id="ply", type="todo", title="Order the plywood", text="Compare two offers, order, pay."),
                Node(
                    id="course",
                    type="page",
                    title="German course",
                    text="Explain this, improve the writing, translate a page to German, break tasks into subtasks.",
                ),
                Node(id="brink", type="page", title="Brink", text="Foam for prototypes is ordered by Ben from Brink."),
                Node(id="lunch", type="page", title="Lunch", text="Cleo orders lunch on Fridays."),
            ]
        )
        yield Desk(weft)


@pytest.mark.parametrize(
    "query",
    [
        "Explain this",
        "Improve the writing of this paragraph",
        "Translate this to German",
        "Summarise this page",
        "What does this mean?",
    ],
)
def test_a_request_that_points_is_about_the_focus_alone(plans, query):
    payload = plans.build(query, focus=Focus(block_id="foam"))
    assert "foam" in shown(payload, "focus")
    assert shown(payload, "semantic") == []
    assert payload.metadata.collectors_used == ("focus",)


def test_without_a_focus_the_same_words_are_searched_for(plans):
    assert "course" in shown(plans.build("Translate this to German", type="chat"), "semantic")


def test_breaking_a_task_down_brings_tasks_like_it_and_not_the_words_of_the_command(plans):
    payload = plans.build("Break this into subtasks", focus=Focus(block_id="foam"))
    assert shown(payload, "semantic") == ["ply"]


def test_what_is_named_beside_the_focus_is_searched_for(plans):
    payload = plans.build("Explain how this relates to lunch", focus=Focus(block_id="foam"))
    assert "lunch" in shown(payload, "semantic")
    assert "course" not in shown(payload, "semantic")


def test_a_follow_up_finds_what_was_spoken_of(plans):
    said = (
        ConversationMessage("user", "What about the foam for the prototypes?"),
        ConversationMessage("assistant", "It is needed by March."),
    )
    assert blocks(plans.build("Who orders it?", type="chat"), "semantic")[0] != "brink"
    assert blocks(plans.build("Who orders it?", type="chat", conversation_history=said), "semantic")[0] == "brink"
    again = (*said, ConversationMessage("user", "And why then?"), ConversationMessage("assistant", "For the fair."))
    assert blocks(plans.build("Who orders it?", type="chat", conversation_history=again), "semantic")[0] == "brink"


def test_a_question_that_stands_by_itself_does_not_borrow_from_the_conversation(plans):
    said = (ConversationMessage("user", "What about the foam for the prototypes?"),)
    asked = "Who orders lunch on Fridays?"
    alone, after = plans.build(asked, type="chat"), plans.build(asked, type="chat", conversation_history=said)
    assert found_by(alone, "lexical") == found_by(after, "lexical")


def _many(empty):
    notes = [node(f"n{n:02}", f"Quince jam of the year {n}. " * 12) for n in range(40)]
    empty.weft.add([node("focus", "About quinces."), *notes])


def test_a_budget_that_the_request_does_not_divide_is_used_by_what_answers(empty):
    _many(empty)
    payload = empty.build("quince jam", type="chat")
    assert section(payload, "semantic").token_count > 3000
    assert 3600 < payload.metadata.total_tokens <= 3800
    assert empty.builder.validate(payload).valid


def test_the_sections_of_a_budget_that_the_request_divides_are_limits(empty):
    _many(empty)
    payload = empty.build("quince jam", type="chat", token_budget=TokenBudget())
    assert 1000 < section(payload, "semantic").token_count <= 1200
    assert empty.builder.validate(payload).valid


def test_a_conversation_does_not_take_what_answers_leave(empty):
    said = tuple(ConversationMessage("user", f"Turn {n}: " + f"quince{n} " * 60) for n in range(20))
    payload = empty.build("And then?", type="assist", conversation_history=said)
    assert 350 < section(payload, "history").token_count <= 500
