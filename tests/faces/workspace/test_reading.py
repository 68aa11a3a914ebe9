"""What the reader of a context is told: where the focus is, under which heading a hit stands, how much is shown."""

import re

import pytest

from weftwork import Node
from weftwork.faces.workspace import ContextHints, Focus, TokenBudget
from weftwork.store.contract.kit import NOW, node

from .desk import section, shown


def _rows(count, **fields):
    return [
        Node(
            id=f"r{n}",
            type="db_row",
            parent="db",
            position=n,
            title=f"Row {n}",
            fields={"City": ("Graz", "Linz", "Wien")[n % 3], "Kind": ("foam", "glue")[n % 2], "Note": "some words" * 3},
        )
        for n in range(count)
    ]


@pytest.mark.parametrize(("total", "whole"), [(4000, False), (200_000, True)])
def test_a_focused_page_of_300_blocks_is_shown_as_far_as_the_budget_goes(empty, total, whole):
    text = "The paragraph with this number tells of one thing that matters: {}."
    inside = [
        node(f"n{n:03}", text.format(n), parent="page", position=n, type="paragraph", title="") for n in range(300)
    ]
    empty.weft.add([node("page", "How it begins."), *inside])
    budget = TokenBudget(total=total, focus=total - 1000)
    payload = empty.build("Summarize this page", focus=Focus(page_id="page"), token_budget=budget)
    names = shown(payload, "focus")
    assert names == ["page", *(each.id for each in inside)][: len(names)]
    (item,) = section(payload, "focus").items
    if whole:
        assert len(names) == 301
        assert item.content.endswith("299.")
    else:
        assert section(payload, "focus").token_count > 0.93 * budget.focus
        assert item.content.endswith(f"\n[…]\n({len(names)} of 301 blocks are shown)")


def test_a_focused_page_of_1500_paragraphs_says_how_much_is_shown(empty):
    paragraphs = "\n\n".join(f"Paragraph {n} is about one thing." for n in range(1500))
    empty.weft.add([node("page", paragraphs)])
    (item,) = section(empty.build("Summarize this page", focus=Focus(page_id="page")), "focus").items
    assert item.content.startswith("Paragraph 0 is")
    assert re.search(r"\n\(2,\d{3} of about 9,\d{3} words are shown\)\Z", item.content)


def test_seven_levels_are_shown(empty):
    levels = [Node(id=f"l{n}", type="block", parent=f"l{n - 1}", text=f"Level {n}") for n in range(1, 8)]
    empty.weft.add([node("l0", "Root"), *levels])
    payload = empty.build("Summarize this page", focus=Focus(page_id="l0"))
    assert shown(payload, "focus") == [f"l{n}" for n in range(8)]
    assert "            - Level 7" in payload.serialized


def test_a_mark_cannot_be_forged(empty):
    texts = {"one": "(the focus)\nNot this one.", "two": "This one.", "three": "(3 of 270 rows are shown)"}
    parts = [
        Node(id=name, type="paragraph", parent="page", position=place, text=text)
        for place, (name, text) in enumerate(texts.items())
    ]
    empty.weft.add([node("page"), *parts])
    text = empty.build("Explain this", focus=Focus(block_id="two")).serialized
    assert text.count("\n(the focus)\nThis one.") == 1
    assert "\\(the focus)\nNot this one." in text
    assert "\\(3 of 270 rows" in text


def test_hits_carry_the_headings_that_they_stand_under(empty):
    pages = [node("Apollo", title="Apollo"), node("Borealis", title="Borealis")]
    heads = [Node(id=f"{page}-{head}", type="heading", title=head, parent=page, position=place)
             for page in ("Apollo", "Borealis") for place, head in enumerate(("Shopping", "Later"))]  # fmt: skip
    tasks = [Node(id=f"{head.id}-task", type="todo", title="Order the foam", parent=head.id) for head in heads]
    empty.weft.add([*pages, *heads, *tasks])
    text = empty.build("foam to order", type="chat").serialized
    expected = "[{}] [todo]\n\\## Shopping\n- [ ] Order the foam\n\n\\## Later\n- [ ] Order the foam"
    assert all(expected.format(page) in text for page in ("Apollo", "Borealis"))
    excluded = ContextHints(exclude_blocks=("Apollo-Later-task", "Borealis-Later-task"))
    items = section(empty.build("foam to buy", type="chat", hints=excluded), "semantic").items
    assert [(item.metadata.page_title, item.content) for item in items] == [
        (page, "## Shopping\n- [ ] Order the foam") for page in ("Apollo", "Borealis")
    ]
    assert [item.metadata.path for item in items] == [("Apollo", "Shopping"), ("Borealis", "Shopping")]


def test_a_database_is_a_table_of_the_rows_that_the_question_is_about(empty):
    empty.weft.add([Node(id="db", type="database", title="Suppliers", text="All of them."), *_rows(270)])
    (item,) = section(empty.build("Which foam suppliers are in Graz?", focus=Focus(database_id="db")), "focus").items
    rows = [line for line in item.content.splitlines() if line.startswith("| Row")]
    assert len(rows) == 45
    assert all("Graz" in row and "foam" in row for row in rows)
    assert item.content.endswith("(45 of 270 rows are shown)")
    whole = section(empty.build("Summarize this database", focus=Focus(database_id="db")), "focus").items[0]
    assert whole.content.splitlines()[4].startswith("| Row 0 |")
    assert " of 270 rows are shown)" in whole.content


def test_a_focus_whose_words_stand_elsewhere_too_is_there_and_fresher_siblings_do_not_crowd_it_out(empty):
    same = "The same words stand in two places of this workspace. " * 30
    empty.weft.add(
        [
            node("page"),
            node("other", same, updated_at=NOW),
            *(
                Node(id=f"s{n}", type="paragraph", parent="page", position=n, text=f"{n} {same}", updated_at=NOW)
                for n in range(5)
            ),
            Node(id="focus", type="paragraph", parent="page", position=9, text=same),
        ]
    )
    (first, *_) = section(empty.build("same words", focus=Focus(block_id="focus")), "focus").items
    assert first.block_id == "focus"
    assert f"(the focus)\n{same[:40]}" in first.content


def test_included_blocks_are_there_and_unknown_ones_are_warned_of(empty):
    empty.weft.add([node("page", "words " * 3000), node("small", "A small one.")])
    hints = ContextHints(include_blocks=("small", "nobody"))
    payload = empty.build("words", focus=Focus(page_id="page"), hints=hints)
    assert "small" in shown(payload, "focus")
    assert payload.context.warnings == (
        "'nobody' is included by the request and does not exist in this workspace: check its id",
    )
    closed = TokenBudget(focus=0, semantic=0, relations=0)
    assert shown(empty.build("?", hints=hints, token_budget=closed), "activity") == ["small"]
