"""The schedules of the collectors (3) and the composite scorer (4.1), with numbers worked out by hand."""

from datetime import timedelta

import pytest

from weftwork import Edge
from weftwork.faces.workspace import ContextHints, Focus, TokenBudget
from weftwork.store.contract.kit import NOW, node

from .desk import blocks, found_by, scores, section, shown

DAY = timedelta(days=1)


def family():
    """The focus in the middle of seven siblings, four ancestors above it and seven children below."""
    return [
        node("root"), node("top", parent="root"), node("chapter", parent="top"), node("page", parent="chapter"),
        *(node(f"s{n}", parent="page", position=n, type="block") for n in range(7) if n != 3),
        node("focus", "The focus itself.", parent="page", position=3, type="block"),
        *(node(f"c{n}", parent="focus", position=n, type="block") for n in range(7)),
    ]  # fmt: skip


def test_a_focused_block(empty):
    empty.weft.add(family())
    assert found_by(empty.build(focus=Focus(block_id="focus")), "focus") == {
        "focus": 1.0,
        "page": 0.9, "chapter": 0.8, "top": 0.7,
        "s2": 0.8, "s1": 0.75, "s4": 0.7, "s5": 0.65,
        "c0": 0.85, "c1": 0.8, "c2": 0.75, "c3": 0.7, "c4": 0.65,
    }  # fmt: skip


def test_a_focused_block_is_shown_with_its_neighbours_in_the_order_of_the_page(empty):
    empty.weft.add(family())
    item = section(empty.build(focus=Focus(block_id="focus")), "focus").items[0]
    assert (item.block_id, item.metadata.page_title) == ("focus", "page")
    inside = "".join(f"\n  - c{n}" for n in range(7))
    assert item.content == (
        "(before the focus)\n- s0\n- s1\n- s2\n\n"
        f"(the focus)\n- focus\n  The focus itself.{inside}\n\n"
        "(after the focus)\n- s4\n- s5"
    )


def test_a_focused_block_stays_whatever_else_says_the_same_or_is_fresher(empty):
    words = "The very same words stand in both of these blocks."
    empty.weft.add(
        [
            node("page", updated_at=NOW - 90 * DAY),
            node("focus", words, parent="page", type="paragraph", title="", updated_at=NOW - 90 * DAY),
            *(node(f"s{n}", f"quince {n} " * 40, parent="page", position=n, type="todo") for n in range(1, 5)),
            node("copy", words, type="paragraph", title="", updated_at=NOW),
        ]
    )
    small = empty.build("same words", focus=Focus(block_id="focus"), token_budget=TokenBudget(focus=150))
    assert blocks(small, "focus")[0] == "focus"
    assert words in section(small, "focus").items[0].content
    tight = empty.build("same words", focus=Focus(block_id="focus"), token_budget=TokenBudget(total=80, system=0))
    assert "focus" in shown(tight, "focus")


def test_included_blocks_stay_whatever_fills_their_section(empty):
    empty.weft.add(
        [
            node("page"),
            node("focus", "The focus.", parent="page", type="block"),
            *(node(f"s{n}", f"quince {n} " * 60, parent="page", position=n, type="block") for n in range(1, 5)),
            node("wanted", "Eighteen words that somebody asked for by name.", updated_at=NOW - 300 * DAY),
        ]
    )
    hints = ContextHints(include_blocks=("wanted", "nowhere"))
    payload = empty.build(focus=Focus(block_id="focus"), hints=hints, token_budget=TokenBudget(focus=200))
    assert blocks(payload, "focus")[:2] == ["focus", "wanted"]
    assert "Eighteen words that somebody asked for by name." in payload.serialized
    (warning,) = payload.context.warnings
    assert warning == "'nowhere' is included by the request and does not exist in this workspace: check its id"


def test_a_block_with_its_page_brings_the_page(empty):
    empty.weft.add([*family(), node("elsewhere", "How the other page begins.")])
    payload = empty.build(focus=Focus(block_id="focus", page_id="page"))
    assert found_by(payload, "focus")["page"] == 0.9
    assert (payload.metadata.focus_block_id, payload.metadata.focus_page_id) == ("focus", "page")
    other = empty.build(focus=Focus(block_id="focus", page_id="elsewhere"))
    assert found_by(other, "focus")["elsewhere"] == 0.9
    assert "How the other page begins." in other.serialized


def test_a_focused_page_brings_its_blocks_in_the_order_of_reading(empty):
    empty.weft.add(
        [
            node("page", "How it begins."),
            node("h1", "What follows", parent="page", position=1, type="heading", title=""),
            node("p1", parent="h1", position=1, type="paragraph"),
            node("h2", parent="page", position=2, type="heading"),
            node("p2", parent="h2", position=1, type="paragraph"),
            node("deep", parent="p2", type="paragraph"),
            node("deeper", parent="deep", type="paragraph"),
            node("after"),
        ]
    )
    payload = empty.build(focus=Focus(page_id="page"))
    assert found_by(payload, "focus") == {"page": 1.0, "h1": 0.85, "h2": 0.8}
    (item,) = section(payload, "focus").items
    assert (item.block_id, item.block_type) == ("page", "page")
    assert item.content == "How it begins.\n\nWhat follows\n\np1\n\n## h2\np2\n\ndeep\n\ndeeper"
    shallow = empty.build(focus=Focus(page_id="page"), hints=ContextHints(max_depth=1))
    assert section(shallow, "focus").items[0].content == "How it begins.\n\nWhat follows\n[…]\n## h2"


def test_the_order_of_a_focused_page_does_not_depend_on_who_edited_what(empty):
    inside = [node(f"p{n:03}", f"Paragraph {n}.", parent="page", position=n, type="paragraph") for n in range(300)]
    empty.weft.add([node("page", "How it begins.", updated_at=NOW - 60 * DAY), *inside])
    with empty.weft.atomic() as batch:
        batch.record("ana", "p200", "edit", NOW)
    payload = empty.build("?", focus=Focus(page_id="page"), token_budget=TokenBudget(total=200_000, focus=150_000))
    assert shown(payload, "focus") == ["page", *(each.id for each in inside)]


def test_a_page_that_is_too_long_shows_what_answers_and_marks_what_is_left_out(empty):
    inside = [
        node(f"p{n:03}", f"Jar {n} has jam of the year {n}.", parent="page", position=n, type="paragraph", title="")
        for n in range(300)
    ]
    empty.weft.add([node("page", "How it begins."), *inside])
    payload = empty.build("jar 222", focus=Focus(page_id="page"), token_budget=TokenBudget())
    (item,) = section(payload, "focus").items
    assert {"page", "p000", "p222"} <= set(item.block_ids)
    assert list(item.block_ids) == sorted(item.block_ids, key=lambda name: name.replace("page", ""))
    assert item.content.count("[…]") == 2  # before what answers, and at the end
    assert item.content.endswith(
        f"Jar 222 has jam of the year 222.\n[…]\n({len(item.block_ids)} of 301 blocks are shown)"
    )
    assert 1000 < section(payload, "focus").token_count <= 1500


def test_pages_inside_of_a_focused_page_follow_it(empty):
    pages = [node(f"sub{n}", f"Sub-page {n}.", parent="page", position=n) for n in range(7)]
    empty.weft.add(
        [node("above"), node("page", "How it begins.", parent="above"), *pages, node("beside", parent="above")]
    )
    payload = empty.build(focus=Focus(page_id="page"))
    assert found_by(payload, "focus") == {
        "page": 1.0, "sub0": 0.85, "sub1": 0.8, "sub2": 0.75, "sub3": 0.7, "sub4": 0.65,
    }  # fmt: skip
    assert blocks(payload, "focus")[:2] == ["page", "sub0"]


def test_a_focused_database_brings_its_rows(empty):
    rows = [node(f"r{n}", type="db_row", parent="db", position=n, fields={"size": n}) for n in range(30)]
    empty.weft.add([node("db", type="database"), *rows, node("inside", parent="r0")])
    payload = empty.build(focus=Focus(database_id="db"))
    assert shown(payload, "focus") == ["db", *(row.id for row in rows)]
    table = "".join(f"\n| r{n} | {n} |" for n in range(30))
    assert f"[db] [database]\n| Name | size |\n| --- | --- |{table}\n\n" in payload.serialized
    assert payload.metadata.focus_database_id == "db"


def linked(empty):
    empty.weft.add(
        [node(name, type="db_row") for name in ("focus", "row", "link", "back", "far", "farther")],
        [
            Edge(source="focus", target="row", type="relation"),
            Edge(source="focus", target="link"),
            Edge(source="back", target="focus"),
            Edge(source="link", target="far"),
            Edge(source="far", target="farther"),
        ],
    )


def test_related_rows_links_and_backlinks(empty):
    linked(empty)
    payload = empty.build(focus=Focus(block_id="focus"))
    assert found_by(payload, "relations") == {"row": 0.75, "link": 0.7, "back": 0.65, "far": 0.49}
    assert set(blocks(payload, "relations")) == {"row", "link", "back", "far"}


def test_a_hint_says_how_far_relations_and_ancestors_are_followed(empty):
    linked(empty)
    near = empty.build(focus=Focus(block_id="focus"), hints=ContextHints(max_depth=1))
    assert found_by(near, "relations") == {"row": 0.75, "link": 0.7, "back": 0.65}
    far = empty.build(focus=Focus(block_id="focus"), hints=ContextHints(max_depth=3))
    assert found_by(far, "relations")["farther"] == 0.343
    empty.weft.add(family())
    up = found_by(empty.build(focus=Focus(block_id="focus"), hints=ContextHints(max_depth=1)), "focus")
    assert up["page"] == 0.9
    assert "chapter" not in up


def test_edits_and_views(empty):
    inside = [node(f"p{n}", f"Line {n}.", parent="n4", position=n, type="paragraph", title="") for n in range(9)]
    empty.weft.add([*(node(f"n{n}") for n in range(6)), *inside])
    with empty.weft.atomic() as batch:
        for number in range(6):
            batch.record("ana", f"n{number}", "edit" if number < 3 else "view", NOW - timedelta(hours=number))
    payload = empty.build()
    assert found_by(payload, "activity") == {"n0": 0.6, "n1": 0.58, "n2": 0.56, "n3": 0.5, "n4": 0.48, "n5": 0.46}
    (viewed,) = [item for item in section(payload, "activity").items if item.metadata.page_title == "n4"]
    assert viewed.content == "Line 0."  # how it begins


def scored(empty):
    empty.weft.add(
        [
            node("page", "A page.", updated_at=NOW - 15 * DAY, owner="ana"),
            node("todo", "To be done.", type="todo", parent="page", position=1, updated_at=NOW - 3 * DAY),
            node("next", "Something else.", type="block", parent="page", position=2, updated_at=NOW - 60 * DAY),
        ]
    )
    with empty.weft.atomic() as batch:
        batch.record("ana", "next", "view", NOW - 100 * DAY)


def test_the_composite_score_is_the_contracts(empty):
    scored(empty)
    found = scores(empty.build("split this task", focus=Focus(block_id="todo")))
    assert found == {
        # 1.0 · .35 + 1.0 · .25 + (1 - 3/30) · .15 + .9 · .15 + .5 · .10
        "todo": pytest.approx(0.92),
        # .9 · .35 + .9 · .25 + (1 - 15/30) · .15 + .5 · .15 + 1.0 · .10: ana owns it
        "page": pytest.approx(0.79),
        # .7 · .35 + .8 · .25 + 0 · .15 + .5 · .15 + .8 · .10: ana looked at it once
        "next": pytest.approx(0.635),
    }


def test_a_summary_prefers_pages_and_a_hint_prefers_what_it_names(empty):
    scored(empty)
    summary = scores(empty.build("a summary", focus=Focus(block_id="todo")))
    assert summary["page"] == pytest.approx(0.79 + 0.3 * 0.15)  # .8 instead of .5
    assert summary["todo"] == pytest.approx(0.92 - 0.4 * 0.15)  # .5 instead of .9
    hinted = scores(empty.build("?", focus=Focus(block_id="todo"), hints=ContextHints(prioritize_types=("block",))))
    assert hinted["next"] == pytest.approx(0.635 + 0.4 * 0.15)  # .9 instead of .5


def test_without_a_focus_nothing_is_nearer(empty):
    scored(empty)
    found = scores(empty.build("page"))
    # found by its words alone: the rest is .5 · .25 + (1 - 15/30) · .15 + .5 · .15 + 1.0 · .10
    (decision,) = [each for each in empty.build("page").context.trace if each.node == "page"]
    assert found["page"] == pytest.approx(0.35 * decision.signals["relevance"] + 0.125 + 0.075 + 0.075 + 0.1)


def test_an_automatic_job_does_not_depend_on_who_looked_at_what(empty):
    scored(empty)
    found = scores(empty.build("split this task", focus=Focus(block_id="todo"), type="automate"))
    # without affinity, the other four weights count for .90 in all
    assert found["todo"] == pytest.approx((0.92 - 0.05) / 0.9, abs=1e-6)
    assert found["page"] == pytest.approx((0.79 - 0.10) / 0.9, abs=1e-6)
    assert found == scores(empty.as_user("ben").build("split this task", focus=Focus(block_id="todo"), type="automate"))


def test_the_allocator_is_greedy_and_shortens_what_no_longer_fits(empty):
    def long(word):
        return " ".join(f"{word}{n} {word}er{n} {word}ing{n} {word}ed{n}." for n in range(20))

    children = [node(f"c{n}", long(("walk", "jump", "rest")[n]), parent="focus", position=n) for n in range(3)]
    empty.weft.add([node("focus", "Short.", type="block"), *children])
    cost = {each.node: each.tokens for each in empty.build(focus=Focus(block_id="focus")).context.trace}
    assert cost["c1"] > 110  # the contract shortens only where 100 tokens are left
    limit = cost["focus"] + cost["c0"] + cost["c1"] - 5
    payload = empty.build(focus=Focus(block_id="focus"), token_budget=TokenBudget(focus=limit))
    fates = {decision.node: decision.fate for decision in payload.context.trace}
    assert fates == {"focus": "included", "c0": "included", "c1": "truncated", "c2": "dropped"}
    assert section(payload, "focus").token_count <= limit
    scarce = empty.build(focus=Focus(block_id="focus"), token_budget=TokenBudget(focus=limit - cost["c1"] + 100))
    assert [item.block_id for item in section(scarce, "focus").items] == ["focus", "c0"]
