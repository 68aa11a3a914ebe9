"""The three example flows of the workspace contract (8), with their exact budgets, on the sample workspace."""

import pytest

from weftwork import sample
from weftwork.faces.workspace import ContextHints, Focus, TokenBudget

from .desk import blocks, section, shown

SUMMARY = TokenBudget(total=3000, focus=2500, semantic=200, relations=200, activity=0, history=0, system=100)
OVERDUE = TokenBudget(total=4000, focus=0, semantic=2500, relations=500, activity=500, history=300, system=200)
BREAKDOWN = TokenBudget(total=2000, focus=1200, semantic=500, relations=200, activity=0, history=0, system=100)

LATE = {"t-mirrors", "t-card", "t-foam"}
"""Open tasks of the sample with a due date before its Monday; a fourth is hidden from ben."""


def within(payload, budget, builder):
    tokens = builder.estimate_tokens(payload)
    assert tokens == payload.metadata.total_tokens <= budget.total - budget.system
    for each in payload.sections:
        assert each.token_count <= budget.of(each.type)
    assert builder.validate(payload).violations == ()


def test_a_page_is_summarised_from_its_children(studio):
    payload = studio.build("Summarize this page", focus=Focus(page_id="about"), type="assist", token_budget=SUMMARY)
    within(payload, SUMMARY, studio.builder)
    children = [
        "finch-why",
        "finch-why-text",
        "finch-box",
        "finch-box-1",
        "finch-box-2",
        "finch-box-3",
        "finch-numbers",
    ]
    assert blocks(payload, "focus") == ["about"]
    assert shown(payload, "focus") == ["about", *children]
    others = sum(each.token_count for each in payload.sections if each.type != "focus")
    assert section(payload, "focus").token_count > others
    assert blocks(payload, "activity") == []
    assert payload.metadata.focus_page_id == "about"
    assert payload.metadata.focus_block_id is None


@pytest.mark.parametrize("user", ["ana", "ben"])
def test_overdue_tasks_come_ahead_of_everything_else(studio, user):
    desk = studio.as_user(user)
    payload = desk.build(
        "What tasks are overdue?",
        type="chat",
        token_budget=OVERDUE,
        hints=ContextHints(prioritize_types=("todo", "kanban_card")),
    )
    within(payload, OVERDUE, desk.builder)
    late = LATE | ({"private-loan"} if user == "ana" else set())
    items = section(payload, "semantic").items
    first = [item for item in items if late & set(item.block_ids)]
    assert {block for item in first for block in item.block_ids} >= late
    assert items[: len(first)] == tuple(first)
    rest = [item.relevance for each in payload.sections for item in each.items if item not in first]
    assert rest and max(rest) < min(item.relevance for item in first)
    assert blocks(payload, "focus") == []
    for task in LATE:
        assert f"due: {studio.weft.node(task, user=user, workspace='studio').fields['due']}" in payload.serialized


@pytest.mark.parametrize("recipe", ["default", "workspace", "graph"])
def test_the_engine_alone_finds_them_first_too(studio, recipe):
    context = studio.weft.context("What tasks are overdue?", user="ben", workspace=sample.WORKSPACE, recipe=recipe)
    first, rest = context.trace[: len(LATE)], context.trace[len(LATE) :]
    assert {decision.node for decision in first} == LATE
    assert all(0 < decision.signals["overdue"] < 0.9 for decision in first)
    assert all("overdue" not in decision.signals for decision in rest)
    assert max(decision.score for decision in rest) < min(decision.score for decision in first)


def test_a_task_comes_with_its_details_and_with_similar_tasks(studio):
    payload = studio.build(
        "Break this task into subtasks", focus=Focus(block_id="t-mirrors"), type="assist", token_budget=BREAKDOWN
    )
    within(payload, BREAKDOWN, studio.builder)
    assert blocks(payload, "focus")[0] == "t-mirrors"
    assert "- [ ] Get the twelve rejected mirrors recoated (due: 2026-03-10; assignee: Mira)" in payload.serialized
    similar = section(payload, "semantic").items
    assert similar and {item.block_type for item in similar} <= {"todo", "kanban_card"}
    assert {"t-card", "t-drop", "t-labels"} <= set(shown(payload, "focus"))  # similar ones on the same page
    assert {"sup-calder", "part-mirror"} <= set(blocks(payload, "relations"))
    assert payload.metadata.focus_block_id == "t-mirrors"
