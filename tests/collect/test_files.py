"""Searches among files: whatever a connector made of a file, a hit in it is a hit of that file."""

from datetime import timedelta

import pytest

from weftwork.collect import (
    ActivityCollector,
    AmongFiles,
    FuzzyCollector,
    KeywordCollector,
    LexicalCollector,
    SemanticCollector,
)
from weftwork.store.contract.kit import NOW, WORKSPACE, node, put
from weftwork.types import Filters

SEARCHES = [
    LexicalCollector(fuzzy_limit=0),
    KeywordCollector(limit=None),
    FuzzyCollector(limit=None),
    SemanticCollector(threshold=0.1),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_parts_of_files_are_found_and_messages_threads_and_lone_nodes_are_not(store, desk, search):
    put(
        store,
        node("page", type="page", title="Notes"),
        node("part", "mirror", type="heading", title="mirror", parent="page"),
        node("task", "mirror", type="todo", title="mirror", parent="page"),
        node("file", "mirror", type="file", title="mirror"),
        node("lone", "mirror", type="todo", title="mirror"),
        node("t", type="thread", title="mirror"),
        node("m", "mirror", type="message", title="mirror", parent="t"),
    )
    assert set(desk.scores(AmongFiles(search), "mirror")) == {"part", "task", "file"}
    only = Filters(types=frozenset({"todo"}))
    assert set(desk.scores(AmongFiles(search), "mirror", filters=only)) == {"task", "lone"}


def test_the_limit_counts_files_however_many_parts_of_one_match(store, desk):
    crowd = [node(f"part{n:03}", f"mirror {n}", type="heading", parent="big") for n in range(120)]
    put(store, node("big", type="page", title="Big"), *crowd)
    put(store, *(node(f"file{n:02}", f"a mirror stands in room {n}", type="file") for n in range(12)))
    found = desk.scores(AmongFiles(LexicalCollector(fuzzy_limit=0)), "mirror")
    assert len([name for name in found if name.startswith("part")]) == 8
    assert len([name for name in found if name.startswith("file")]) == 9
    few = desk.scores(AmongFiles(LexicalCollector(fuzzy_limit=0), limit=2, passages=1), "mirror")
    assert len(few) == 2


def test_messages_take_no_place_of_files(store, desk):
    put(store, node("t", type="thread"), *(node(f"m{n}", "mirror", type="message", parent="t") for n in range(3000)))
    put(store, node("file", "a very long text about many things, and at its end of one mirror", type="file"))
    assert list(desk.scores(AmongFiles(LexicalCollector(fuzzy_limit=0)), "mirror")) == ["file"]


def test_a_part_that_was_opened_is_a_file_that_was_opened(store, desk):
    put(store, node("page", type="page"), node("part", "x", type="heading", parent="page"), node("t", type="thread"))
    with store.atomic(WORKSPACE) as batch:
        batch.record("ana", "part", "view", NOW - timedelta(hours=1))
        batch.record("ana", "t", "view", NOW)
    viewed = AmongFiles(ActivityCollector(edit_count=0), limit=5)
    assert list(desk.scores(viewed)) == ["part"]
