"""Requests as people write them: they point at the focus, follow up what was said, or ask for what is due."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from weftwork import Edge, Node, Weft
from weftwork.errors import InvalidInput
from weftwork.faces.workspace import ContextHints, ConversationMessage, Focus, TimeRange, TokenBudget
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


@pytest.mark.parametrize(
    ("query", "linked"),
    [
        ("Summarize this page", set()),
        ("Make this shorter", set()),
        ("What does this mean?", set()),
        ("What is this related to?", {"other"}),
        ("Explain how this fits the budget", {"other"}),
        ("Break this into subtasks", {"other"}),
        ("", {"other"}),
    ],
)
@pytest.mark.parametrize("recipe", ["face", "engine"])
def test_links_of_the_focus_are_for_requests_that_they_help(empty, query, linked, recipe):
    empty.weft.add([node("focus", "A plan."), node("other", "A page.")], [Edge(source="focus", target="other")])
    if recipe == "face":
        trace = empty.build(query, focus=Focus(block_id="focus")).context.trace
    else:
        trace = empty.weft.context(query, user="ana", recipe="workspace", focus="focus").trace
    assert {decision.node for decision in trace if decision.section == "relations"} == linked


def test_open_tasks_are_listed_in_place_of_what_has_those_words(empty):
    empty.weft.add(
        [
            node("a", "Wash the pots", type="todo", fields={"status": "open"}),
            node("b", "Dry the pots", type="todo", fields={"status": "done"}),
            node("about", "Open tasks: what tasks are open is a good question."),
        ]
    )
    assert shown(empty.build("What tasks are open?", type="chat"), "semantic") == ["a"]
    assert shown(empty.build("What tasks are done?", type="chat"), "semantic") == ["b"]
    off = empty.with_settings(collectors={"status": {"enabled": False}})
    assert "about" in shown(off.build("What tasks are open?", type="chat"), "semantic")
    focused = empty.build("Is this task done?", focus=Focus(block_id="a"))
    assert "b" not in found_by(focused, "status")


def test_words_are_searched_for_where_no_task_is_in_that_state(empty):
    empty.weft.add([node("about", "Open tasks: none at all."), node("b", "Dry", type="todo", fields={"done": True})])
    assert shown(empty.build("What tasks are open?", type="chat"), "semantic") == ["about"]


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


def _task(name, **fields):
    return Node(id=name, type="todo", title="Paint the shelf", fields=fields)


def test_overdue_dates_are_read_as_exports_write_them_the_longest_overdue_first(empty):
    dates = {"a": "March 10, 2026", "b": "2026-03-09", "c": "11.03.2026", "d": "1 March 2026", "e": "March 20, 2026"}
    empty.weft.add([_task(name, due=date) for name, date in dates.items()])
    assert shown(empty.build("What tasks are overdue?", type="chat"), "semantic")[:4] == ["d", "b", "a", "c"]
    assert list(found_by(empty.build("What tasks are overdue?", type="chat"), "due")) == ["d", "b", "a", "c"]


@pytest.mark.parametrize("status", ["✅ Done", "archived", "Cancelled", "Won't do", "Won’t do", "Erledigt", "DONE"])
def test_a_task_that_is_settled_in_any_words_is_not_overdue(empty, status):
    empty.weft.add(
        [_task("open", due="2026-03-01", status="In progress"), _task("set", due="2026-03-01", status=status)]
    )
    assert list(found_by(empty.build("What tasks are overdue?", type="chat"), "due")) == ["open"]


@pytest.mark.parametrize(
    ("query", "due"),
    [
        ("What is due today?", ["today"]),
        ("Which tasks are due tomorrow?", ["tomorrow"]),
        ("Tasks due this week", ["today", "tomorrow", "friday"]),
        ("What is due next week?", ["later"]),
        ("What tasks are overdue?", ["late"]),
    ],
)
def test_tasks_are_found_by_the_day_that_they_are_due(empty, query, due):
    days = {"late": -7, "today": 0, "tomorrow": 1, "friday": 4, "later": 8}
    empty.weft.add([_task(name, due=f"{NOW + timedelta(days=days[name]):%Y-%m-%d}") for name in days])
    payload = empty.build(query, type="chat")
    assert list(found_by(payload, "due")) == due
    assert shown(payload, "semantic")[: len(due)] == due


def _type_match(payload):
    return {decision.node: decision.signals["type_match"] for decision in payload.context.trace}


@pytest.mark.parametrize("query", ["this task's deadline", "deadline task-list", "the subtasks' deadline"])
def test_words_for_a_type_count_inside_of_others(empty, query):
    empty.weft.add([node("task", "deadline", type="todo"), node("page", "deadline summary")])
    assert _type_match(empty.build(query, type="chat")) == {"task": 0.9, "page": 0.5}
    assert _type_match(empty.build("executive-summary deadline", type="chat")) == {"task": 0.5, "page": 0.8}


def test_types_are_preferred_in_any_case(empty):
    empty.weft.add([node("task", "deadline", type="todo"), node("page", "deadline")])
    hints = ContextHints(prioritize_types=("TODO",))
    assert _type_match(empty.build("deadline", type="chat", hints=hints)) == {"task": 0.9, "page": 0.5}


def test_a_mention_counts_by_its_weight(empty):
    empty.weft.add(
        [node("focus"), node("linked"), node("mentioned")],
        [Edge(source="focus", target="linked"), Edge(source="focus", target="mentioned", type="mention", weight=0.3)],
    )
    assert found_by(empty.build("?", focus=Focus(page_id="focus")), "relations") == {"linked": 0.7, "mentioned": 0.21}


def test_a_time_range_includes_its_last_day_and_holds_for_relations_and_activity(empty):
    day = datetime(2026, 3, 14, 9, tzinfo=UTC)
    empty.weft.add(
        [node("then", "quince", updated_at=day), node("now", "quince", updated_at=NOW), node("focus")],
        [Edge(source="focus", target="now"), Edge(source="focus", target="then")],
    )
    with empty.weft.atomic() as batch:
        batch.record("ana", "now", "edit", NOW)
    hints = ContextHints(time_range=TimeRange("2026-03-14", "2026-03-14"))
    found = empty.build("quince", type="chat", hints=hints)
    assert shown(found, "semantic") == ["then"]
    assert shown(found, "activity") == []
    assert found_by(empty.build("?", focus=Focus(page_id="focus"), hints=hints), "relations") == {"then": 0.7}


WRONG: list[Any] = [5, 6]


def test_wrong_values_are_refused_in_words(empty):
    with pytest.raises(InvalidInput, match="5 is not a time: write it like"):
        empty.build("?", hints=ContextHints(time_range=TimeRange(*WRONG)))
    with pytest.raises(InvalidInput, match="role must be a str, got None"):
        ConversationMessage(None, None)
    with pytest.raises(InvalidInput, match="5 is not a time"):
        empty.build("?", conversation_history=(ConversationMessage("user", "Hi", *WRONG[:1]),))
    payload = empty.build("And?", type="chat", conversation_history=(ConversationMessage("user", "Hi", "2026-01-02"),))
    assert "user, 2026-01-02: Hi" in payload.serialized
