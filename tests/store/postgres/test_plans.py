"""No read goes through a whole table in PostgreSQL, and few through a whole workspace, by whatever alias."""

import re
from contextlib import closing

import psycopg
import pytest
from tests.store.test_plans import LISTS, MODEL, READS

from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.postgres import PostgresStore, fuzzy
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.policies import APPLICATION
from weftwork.types import Edge

WHOLE_WORKSPACE = re.compile(r"\(workspace = \S+\)")
COUNT, MANY = 2000, 400
"""Nodes in the workspace, and from how many rows on a step has gone through it."""
WALKS = {
    "changes": "everything changed since the first version",
    "search_fuzzy": "a function's rows are planned as a thousand, each of which has a passage",
    "search_vector": "exact, until `weftwork tune` finds enough vectors to make an index for them",
    "prepare_vector_search": "the same",
}
"""Reads that may go through a workspace of this size."""


@pytest.fixture
def loaded(store, server):
    """A connection to a store with so much in it that a plan matters."""
    opened(store, "ben")
    with closing(PostgresStore(parse(server.url()), clock=lambda: NOW)) as loading:
        load(loading)
    store.catch_up(WORKSPACE, {MODEL: EMBEDDER.dimensions})
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("SET search_path TO weftwork, public")
        yield connection


@pytest.fixture
def owner(loaded):
    """The same with statistics of all of it, and no vacuum that may come between."""
    loaded.execute("VACUUM ANALYZE")
    return loaded


def load(store):
    put(
        store,
        *(
            node(
                f"n{n}",
                f"quince jam number {n}" if n < 20 else f"line {n}",
                type="page" if n % 2 else "paragraph",
                parent=f"n{n // 4}" if n else None,
                fields={"due": "2026-03-01"} if n == 1 else {f"field {n}": "2026-09-09"},
            )
            for n in range(COUNT)
        ),
        edges=tuple(Edge(source=f"n{n}", target=f"n{n + 1}") for n in range(COUNT - 1)),
    )
    with store.atomic(WORKSPACE) as batch:
        batch.record("ben", "n1", "view", NOW)
        batch.put_page_vectors(MODEL, {"n1": EMBEDDER.embed_batch(["quince", "jam"])}, store.version(WORKSPACE))


def test_a_large_load_leaves_statistics_behind(loaded):
    ((rows,),) = loaded.execute("SELECT reltuples FROM pg_class WHERE oid = 'passages'::regclass").fetchall()
    assert rows == COUNT


def steps(plan):
    yield plan
    for part in plan.get("Plans", ()):
        yield from steps(part)


def planned(owner, statements, *, tables):
    """Every step of the plans of statements; without `tables`, one is read as a whole only where no index helps."""
    with owner.transaction():
        owner.execute(f"SET LOCAL enable_seqscan = {'on' if tables else 'off'}")
        owner.execute(f"SET LOCAL ROLE {APPLICATION}")
        owner.execute("SELECT * FROM weftwork_open(%s, 'ben')", (WORKSPACE,))
        for statement in statements:
            if statement.lstrip().startswith(("SELECT", "WITH")):
                ((found,),) = owner.execute(f"EXPLAIN (FORMAT JSON) {statement}").fetchall()
                yield from steps(found[0]["Plan"])


def whole_table(step):
    return step["Node Type"] == "Seq Scan" or ("Index" in step["Node Type"] and "Index Cond" not in step)


def whole_workspace(step):
    narrow = not whole_table(step) and WHOLE_WORKSPACE.fullmatch(step.get("Index Cond", "")) is None
    return not narrow and step["Plan Rows"] >= MANY


def test_reads_go_straight_to_their_rows_and_lists_do_not_leave_their_workspace(traced, owner, monkeypatch):
    monkeypatch.setattr(fuzzy, "FEW", 0)  # as for more passages than are looked through one by one
    store, statements = traced
    walks, leaves = set(), set()
    for name, read in (READS | LISTS).items():
        with store.view(WORKSPACE, "ben") as view:
            statements.clear()
            read(view)
        leaves |= {name} if any(map(whole_table, planned(owner, statements, tables=False))) else set()
        walks |= {name} if any(map(whole_workspace, planned(owner, statements, tables=True))) else set()
    assert leaves == set()
    assert walks - LISTS.keys() == WALKS.keys()


@pytest.mark.parametrize("alias", ["n", "q", "own", "e_17"])
def test_a_walk_is_known_by_any_alias(alias):
    found = {"Alias": alias, "Relation Name": "nodes_0", "Plan Rows": COUNT}
    assert whole_table({**found, "Node Type": "Seq Scan"})
    assert whole_table({**found, "Node Type": "Index Only Scan"})
    for condition in ("(workspace = 7)", "(workspace = t.workspace)"):
        assert whole_workspace({**found, "Node Type": "Bitmap Index Scan", "Index Cond": condition})
    assert not whole_workspace({**found, "Node Type": "Index Scan", "Index Cond": "((workspace = 7) AND (pk = 1))"})
