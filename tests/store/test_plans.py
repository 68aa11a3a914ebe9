"""No read and no write walks through a whole workspace: its cost must not grow with what it does not touch."""

import re
import sqlite3
from datetime import timedelta

import pytest

from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.protocol import Batch, Closed, View
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Edge, Filters
from weftwork.write.prepare import prepare

SCAN = re.compile(r"SCAN (?!\(subquery)(?!.*(?:VIRTUAL TABLE|CONSTANT ROW))(\w+)")
"""A step that goes through a whole table; json_each is a virtual one."""
WHOLE_WORKSPACE = re.compile(r"SEARCH (\w+) .*\(workspace=\?\)$")
CTE = re.compile(r"(\w+) \([\w, ]+\) AS (?:MATERIALIZED )?\(")
LATEST = "SEARCH changes USING COVERING INDEX changes_version (workspace=?)"
"""MAX(version), which reads the last entry of the index."""

VECTOR = EMBEDDER.embed("quince")
MODEL = EMBEDDER.model
ALL_FILTERS = Filters(
    types=frozenset({"page"}),
    tags=frozenset({"t"}),
    after=NOW - timedelta(days=9),
    before=NOW + timedelta(days=9),
    min_confidence=0.1,
    conversation="c",
    as_of=NOW,
    exclude=frozenset({"n3"}),
)


@pytest.fixture
def traced(tmp_path):
    """A store, the statements that it ran, and a function that plans them."""
    statements = []
    store = SqliteStore(tmp_path / "plans.weft", clock=lambda: NOW, tracer=statements.append)
    opened(store, "ben")
    pages = [node(f"n{n}", f"quince jam number {n}", parent=f"n{n // 4}" if n else None) for n in range(40)]
    blocks = [node(f"b{n}", f"line {n}", type="paragraph", parent=f"b{n - 1}" if n % 4 else "n1") for n in range(40)]
    edges = tuple(Edge(source=f"n{n}", target=f"n{n + 1}") for n in range(39))
    put(store, *pages, *blocks, edges=edges)
    with store.atomic(WORKSPACE) as batch:
        batch.record("ben", "n1", "view", NOW)
        batch.give_feedback("ben", "n1", True, NOW)
        batch.put_page_vectors(MODEL, {"n1": EMBEDDER.embed_batch(["quince", "jam"])}, store.version(WORKSPACE))
    store.catch_up(WORKSPACE, {MODEL: EMBEDDER.dimensions})
    connection = sqlite3.connect(tmp_path / "plans.weft")

    def plans():
        for statement in statements:
            if statement.lstrip().startswith(("SELECT", "WITH", "INSERT", "UPDATE", "DELETE")):
                for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}"):
                    yield step, statement

    yield store, statements, plans
    connection.close()
    store.close()


def scans(step, statement):
    found = SCAN.match(step)
    return found is not None and found[1] not in CTE.findall(statement)


def walks(step, statement):
    return scans(step, statement) or (WHOLE_WORKSPACE.match(step) is not None and step != LATEST)


READS = {
    "nodes": lambda view: view.nodes(["n1", "n2"]),
    "load": lambda view: view.load([1, 2, 3]),
    "passages": lambda view: view.passages(["n1", "n2"]),
    "nodes_of": lambda view: view.nodes_of([1, 2]),
    "cited": lambda view: view.cited(["p000000"]),
    "outlines": lambda view: view.outlines(["n1", "n2"]),
    "outlines at a moment": lambda view: view.outlines(["n1"], as_of=NOW),
    "outlines of large documents": lambda view: view.outlines(["n1", "n2"], most=10),
    "find": lambda view: view.find("n1"),
    "past": lambda view: view.past(("due", "deadline"), NOW, closed=Closed(("status",), ("done",)), limit=5),
    "past filtered": lambda view: view.past(("due",), NOW, limit=5, filters=ALL_FILTERS),
    "search_words": lambda view: view.search_words("quince jam", limit=5),
    "search_words filtered": lambda view: view.search_words("quince jam", limit=5, filters=ALL_FILTERS),
    "search_fuzzy": lambda view: view.search_fuzzy("quinse", limit=5),
    "corrections": lambda view: view.corrections(["quinse"]),
    "search_vector": lambda view: view.search_vector(VECTOR, model=MODEL, limit=5),
    "prepare_vector_search": lambda view: view.prepare_vector_search(VECTOR, model=MODEL, limit=5)(),
    "similarities": lambda view: view.similarities(VECTOR, [1, 2], model=MODEL),
    "unknown_words": lambda view: view.unknown_words(["quince"]),
    "size": lambda view: view.size(),
    "idf": lambda view: view.idf(["quince"]),
    "ancestors": lambda view: view.ancestors("n20", 3),
    "siblings": lambda view: view.siblings("n20", 2),
    "adjacent": lambda view: view.adjacent([1, 2, 3], 2),
    "said_around": lambda view: view.said_around([1, 2, 3], 2),
    "children": lambda view: view.children("n1", 5),
    "children last": lambda view: view.children("n1", 5, last=True),
    "neighbours": lambda view: view.neighbours("n1"),
    "neighbours typed": lambda view: view.neighbours("n1", types=("reference",), direction="in"),
    "edges": lambda view: view.edges(["n1", "n2"], as_of=NOW),
    "walk": lambda view: view.walk(["n1"], depth=2),
    "walk in order": lambda view: view.walk(["n1"], depth=2, first=("child", "reference")),
    "walk typed": lambda view: view.walk(["n1"], depth=2, types=("reference",)),
    "walk ranked": lambda view: view.walk(["n1"], depth=2, hub_limit=1, vector=VECTOR, model=MODEL),
    "tree_distance": lambda view: view.tree_distance("n1", ["n2", "n3"]),
    "events": lambda view: view.events("view", limit=5),
    "usage": lambda view: view.usage(["n1", "n2"]),
    "votes": lambda view: view.votes(5),
    "changes": lambda view: view.changes(1),
    "next_turn": lambda view: view.next_turn(NOW),
    "vectors": lambda view: view.vectors(["x"], model=MODEL),
    "search_pages": lambda view: view.search_pages(EMBEDDER.embed_batch(["quince"]), model=MODEL, limit=5),
    "search_pages filtered": lambda view: view.search_pages(
        EMBEDDER.embed_batch(["quince"]), model=MODEL, limit=5, filters=ALL_FILTERS
    ),
}
LISTS = {
    "below_trust": lambda view: view.below_trust("workspace"),
    "select": lambda view: view.select(Filters(), limit=5),
    "select filtered": lambda view: view.select(ALL_FILTERS, limit=5),
    "select by title": lambda view: view.select(Filters(), limit=5, sort="title"),
    "counts": lambda view: view.counts(),
}
"""Reads about a whole workspace: they do not leave it."""


def entry(name, text, **more):
    return prepare(node(name, text, **more), CharacterCounter())


WRITES = {
    "put": lambda batch: batch.put([entry("n5", "changed", parent="n2", tags=("a",), fields={"x": "y"})]),
    "put keeping access": lambda batch: batch.put([entry("n6", "changed", parent="n2")], keep_access=True),
    "put into another document": lambda batch: batch.put([entry("b4", "changed", type="paragraph", parent="n2")]),
    "rewrite": lambda batch: batch.rewrite([entry("n7", "changed")]),
    "link": lambda batch: batch.link([Edge(source="n1", target="n9")]),
    "unlink": lambda batch: batch.unlink([Edge(source="n1", target="n2")]),
    "move": lambda batch: batch.move("n9", "n1"),
    "move to another document": lambda batch: batch.move("b0", "n2"),
    "set_access": lambda batch: batch.set_access("n2", frozenset({"ben"})),
    "remove_user": lambda batch: batch.remove_user("ben"),
    "unchecked_access_changes": lambda batch: (
        batch.set_access("n2", frozenset({"ben"})),
        batch.unchecked_access_changes(),
    ),
    "set_validity": lambda batch: batch.set_validity("n2", NOW, None),
    "add_user": lambda batch: batch.add_user("cy", ("team",)),
    "record": lambda batch: batch.record("ben", "n1", "edit", NOW),
    "give_feedback": lambda batch: batch.give_feedback("ana", "n1", False, NOW),
    "count_use": lambda batch: batch.count_use("ben", ["n1"]),
    "put_page_vectors": lambda batch: batch.put_page_vectors(MODEL, {"n2": EMBEDDER.embed_batch(["jam"])}, 10**9),
    "mark": lambda batch: batch.mark("group", {"name": "mark"}),
    "remove": lambda batch: batch.remove(["n39"]),
}
OTHER_WRITES = {"put_vectors"}
"""Looks for any vector of the model, which is the first one unless there are several models."""


def methods(protocol):
    return {name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")}


def first_words(names):
    return {name.split()[0] for name in names}


def test_every_read_and_every_write_is_among_these():
    assert first_words([*READS, *LISTS]) == methods(View)
    assert first_words(WRITES) | OTHER_WRITES == methods(Batch)


@pytest.mark.parametrize("name", READS)
def test_a_read_goes_straight_to_its_rows(traced, name):
    store, statements, plans = traced
    with store.view(WORKSPACE, "ben") as view:
        statements.clear()
        READS[name](view)
    assert [found for found in plans() if walks(*found)] == []


@pytest.mark.parametrize("name", LISTS)
def test_a_list_does_not_leave_its_workspace(traced, name):
    store, statements, plans = traced
    with store.view(WORKSPACE, "ben") as view:
        statements.clear()
        LISTS[name](view)
    assert [found for found in plans() if scans(*found)] == []


@pytest.mark.parametrize("name", WRITES)
def test_a_write_goes_straight_to_its_rows(traced, name):
    store, statements, plans = traced
    statements.clear()
    with store.atomic(WORKSPACE) as batch:
        WRITES[name](batch)
    assert [found for found in plans() if walks(*found)] == []


@pytest.mark.parametrize("name", ["move to another document", "put into another document"])
def test_these_give_all_that_stands_below_another_document(traced, name):
    store, statements, _ = traced
    statements.clear()
    with store.atomic(WORKSPACE) as batch:
        WRITES[name](batch)
    assert sum("SET document" in statement for statement in statements) >= 3


def test_a_record_of_a_context_goes_straight_to_those_of_its_user(traced):
    store, statements, plans = traced
    statements.clear()
    store.keep_context(WORKSPACE, "name", user="ben", thread="thread", kept="record")
    store.kept_context(WORKSPACE, "name", user="ben", thread="thread")
    store.given.put(WORKSPACE, "thread", user="ben", given="record", at=NOW)
    store.given.get(WORKSPACE, "thread", user="ben")
    store.receipts.get(WORKSPACE, "rec-1")
    assert [found for found in plans() if walks(*found)] == []


@pytest.mark.parametrize(
    "step", ["SCAN q", "SCAN f USING INDEX i", "SCAN up", "SEARCH own USING INDEX i (workspace=?)"]
)
def test_a_walk_is_known_by_any_alias(step):
    assert walks(step, "WITH RECURSIVE below (pk) AS (SELECT 1) SELECT * FROM below")
    assert not walks("SCAN below", "WITH RECURSIVE below (pk) AS (SELECT 1) SELECT * FROM below")
    assert not walks("SCAN k VIRTUAL TABLE INDEX 1:", "")
