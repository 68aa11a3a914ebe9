from datetime import timedelta

from weftwork.collect import ActivityCollector, FocusCollector
from weftwork.collect.summary import page_summary
from weftwork.store.contract.kit import NOW, WORKSPACE, node, put
from weftwork.types import Filters


def summary(store, page, user="ana", **filters):
    with store.view(WORKSPACE, user) as view:
        (record,) = view.load(view.passages([page])[page])
        made = page_summary(view, record, Filters(**filters))
        assert (made.node, made.trail) == (record.node, record.trail)
        assert (made.passage.citation, made.passage.key) == (record.passage.citation, record.passage.key)
        return made.passage.text


def test_a_page_begins_with_its_text_and_names_what_stands_in_it(store):
    put(
        store,
        node("page", "How it begins."),
        node("one", parent="page", position=1),
        node("two", "## Second part\nwith a line", parent="page", position=2, type="heading_2", title=""),
        node("three", "A paragraph has no place in an outline.", parent="page", position=3, type="block", title=""),
    )
    assert summary(store, "page") == "How it begins.\n\n- one\n- Second part"


def test_a_page_without_a_text_begins_with_its_first_block_that_has_one(store):
    put(store, node("page"), node("one", parent="page"), node("two", "Here it begins.", parent="page", position=1))
    assert summary(store, "page") == "Here it begins.\n\n- one\n- two"


def test_an_empty_page_has_an_empty_summary(store):
    put(store, node("page"))
    assert summary(store, "page") == ""


def test_a_long_outline_is_cut(store):
    put(store, node("page"), *(node(f"n{n:02}", parent="page", position=n) for n in range(25)))
    lines = summary(store, "page").splitlines()
    assert lines == [*(f"- n{n:02}" for n in range(20)), "- …"]


def test_hidden_and_outdated_blocks_are_not_named(store):
    put(
        store,
        node("page"),
        node("hidden", "Secret.", parent="page", access=frozenset({"ana"})),
        node("past", parent="page", position=1, valid_until=NOW - timedelta(days=1)),
        node("open", parent="page", position=2),
    )
    assert summary(store, "page", user="ben", as_of=NOW) == "- open"
    assert summary(store, "page", as_of=NOW) == "Secret.\n\n- hidden\n- open"


def test_a_page_that_was_looked_at_is_shown_by_its_summary_and_an_edited_one_is_not(store, desk):
    put(store, node("viewed", "Text."), node("edited", "Other."), node("block", "Third.", type="block"))
    put(store, *(node(f"in {name}", parent=name) for name in ("viewed", "edited", "block")))
    with store.atomic(WORKSPACE) as batch:
        batch.record("ana", "viewed", "view", NOW)
        batch.record("ana", "block", "view", NOW)
        batch.record("ana", "edited", "edit", NOW)
    found = desk.gather(ActivityCollector(summaries=True))
    assert {each.node.id: each.passage.text for each in found} == {
        "viewed": "Text.\n\n- in viewed", "edited": "Other.", "block": "Third.",
    }  # fmt: skip
    assert {each.passage.text for each in desk.gather(ActivityCollector())} == {"Text.", "Other.", "Third."}


def test_a_page_in_focus_is_shown_by_its_summary_and_by_the_rest_of_its_text(store, desk):
    put(store, node("page", "A sentence of the long page. " * 200), node("in it", parent="page"))
    found = desk.gather(FocusCollector(inside=10), focus="page")
    texts = [each.passage.text for each in found if each.node.id == "page"]
    assert texts[0].endswith("- in it")
    assert len(texts) > 1
    assert not any(text.endswith("- in it") for text in texts[1:])


def test_excluded_blocks_are_not_named_and_leave_their_place_to_others(store):
    put(store, node("page"), node("n00", "Left out.", parent="page"))
    put(store, *(node(f"n{n:02}", parent="page", position=n) for n in range(1, 25)))
    lines = summary(store, "page", exclude=frozenset({"n00", "n02"})).splitlines()
    assert lines == ["- n01", *(f"- n{n:02}" for n in range(3, 22)), "- …"]


def test_no_collector_names_an_excluded_block(store, desk):
    put(store, node("page", "Text."), node("kept", parent="page"), node("left out", parent="page"))
    put(store, node("note", "A note.", parent="page", type="block", title=""))
    with store.atomic(WORKSPACE) as batch:
        batch.record("ana", "page", "view", NOW)
    for collector, asked in (
        (ActivityCollector(summaries=True), {}),
        (FocusCollector(inside=10), {"focus": "page"}),
        (FocusCollector(), {"focus": "note", "page": "page"}),
    ):
        found = desk.gather(collector, exclude={"left out"}, **asked)
        assert "Text.\n\n- kept" in [each.passage.text for each in found]
