"""No read walks through a whole workspace: what a request costs must not grow with what it does not touch."""

import re
import sqlite3

import pytest

from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.protocol import Closed
from weftwork.store.sqlite import SqliteStore
from weftwork.types import Edge

LARGE = "n|p|e|x|v|c|t|nodes|passages|edges|tags|fields|vectors|activity"
WALKS = re.compile(rf"SCAN ({LARGE})\b|SEARCH ({LARGE})\b.*\(workspace=\?\)$")
"""Steps of a plan that go through a large table, or through all of a workspace in it."""


@pytest.fixture
def asked(tmp_path):
    """A store, and the statements that were asked of it."""
    statements = []
    store = SqliteStore(tmp_path / "plans.weft", clock=lambda: NOW, tracer=statements.append)
    opened(store, "ben")
    pages = [node(f"n{n}", f"quince jam number {n}", parent=f"n{n // 4}" if n else None) for n in range(40)]
    put(store, *pages, edges=tuple(Edge(source=f"n{n}", target=f"n{n + 1}") for n in range(39)))
    with store.atomic(WORKSPACE) as batch:
        batch.record("ben", "n1", "view", NOW)
        batch.give_feedback("ben", "n1", True, NOW)
    store.catch_up(WORKSPACE, {EMBEDDER.model: EMBEDDER.dimensions})
    yield store, statements, tmp_path / "plans.weft"
    store.close()


READS = {
    "nodes": lambda view: view.nodes(["n1", "n2"]),
    "load": lambda view: view.load([1, 2, 3]),
    "passages": lambda view: view.passages(["n1", "n2"]),
    "nodes_of": lambda view: view.nodes_of([1, 2]),
    "cited": lambda view: view.cited(["pag-0000000000"]),
    "find": lambda view: view.find("n1"),
    "past": lambda view: view.past(("due", "deadline"), NOW, closed=Closed(("status",), ("done",)), limit=5),
    "search_words": lambda view: view.search_words("quince jam", limit=5),
    "search_fuzzy": lambda view: view.search_fuzzy("quinse", limit=5),
    "search_vector": lambda view: view.search_vector(EMBEDDER.embed("quince"), model=EMBEDDER.model, limit=5),
    "similarities": lambda view: view.similarities(EMBEDDER.embed("quince"), [1, 2], model=EMBEDDER.model),
    "unknown_words": lambda view: view.unknown_words(["quince"]),
    "idf": lambda view: view.idf(["quince"]),
    "ancestors": lambda view: view.ancestors("n20", 3),
    "siblings": lambda view: view.siblings("n20", 2),
    "children": lambda view: view.children("n1", 5),
    "neighbours": lambda view: view.neighbours("n1"),
    "edges": lambda view: view.edges(["n1", "n2"], as_of=NOW),
    "walk": lambda view: view.walk(["n1"], depth=2),
    "walk in order": lambda view: view.walk(["n1"], depth=2, first=("child", "reference")),
    "tree_distance": lambda view: view.tree_distance("n1", ["n2", "n3"]),
    "events": lambda view: view.events("view", limit=5),
    "usage": lambda view: view.usage(["n1", "n2"]),
    "changes": lambda view: view.changes(1),
    "next_turn": lambda view: view.next_turn(NOW),
    "vectors": lambda view: view.vectors(["x"], model=EMBEDDER.model),
    "search_pages": lambda view: view.search_pages(EMBEDDER.embed_batch(["quince"]), model=EMBEDDER.model, limit=5),
}


@pytest.mark.parametrize("name", READS)
def test_a_read_goes_straight_to_its_rows(asked, name):
    store, statements, path = asked
    with store.view(WORKSPACE, "ben") as view:
        statements.clear()
        READS[name](view)
        selects = [each for each in statements if each.lstrip().upper().startswith(("SELECT", "WITH"))]
    connection = sqlite3.connect(path)
    for statement in selects:
        for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}"):
            assert not WALKS.match(step), f"{step}\n{statement}"
    connection.close()
