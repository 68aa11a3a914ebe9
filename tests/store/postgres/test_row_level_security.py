"""The second wall: what an ordinary role reads when it asks the tables themselves."""

import psycopg
import pytest

from weftwork.store.contract.kit import NOW, WORKSPACE, node, opened, put
from weftwork.store.postgres import PostgresStore
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.policies import APPLICATION
from weftwork.store.postgres.schema import TABLES
from weftwork.store.receipts import ReceiptRow
from weftwork.types import Edge

SECRET = frozenset({"ana"})


@pytest.fixture
def filled(store):
    """Two nodes that all may see and one that ana alone may, with all that can belong to a node."""
    put(
        opened(store, "ben"),
        node("a", "quince jam", tags=("open",), fields={"k": "open"}),
        node("b", "quince tart"),
        node("s", "zeppelin secret", tags=("hidden",), fields={"k": "hidden"}, access=SECRET),
        edges=(Edge(source="a", target="b"), Edge(source="a", target="s")),
    )
    with store.atomic(WORKSPACE) as batch:
        for user in ("ana", "ben"):
            for name in ("a", "s"):
                batch.record(user, name, "view", NOW)
                batch.count_use(user, [name])
                batch.give_feedback(user, name, True, NOW)
    store.keep_context(WORKSPACE, "c", user="ana", thread="", kept="secret")
    store.receipts.put(WORKSPACE, [ReceiptRow("r", "ana", "", NOW, "secret")], most=9)
    store.given.put(WORKSPACE, "a", user="ana", given="secret", at=NOW)
    store.create_workspace("other", owner="ben")
    put(store, node("o", "other words"), workspace="other")
    return store


@pytest.fixture
def ordinary(server, store):
    """A connection of a role that owns nothing and may log in."""
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS visitor")
        owner.execute(f"CREATE ROLE visitor LOGIN IN ROLE {APPLICATION}")
    with psycopg.connect(server.url(user="visitor"), autocommit=True) as connection:
        connection.execute("SET search_path TO weftwork, public")
        yield connection


def seen(connection, workspace, user, query):
    """The rows of a query that names neither workspace nor user."""
    with connection.transaction():
        connection.execute("SELECT weftwork_open(%s, %s)", (workspace, user))
        return connection.execute(query).fetchall()


READS = [
    ("SELECT id FROM nodes ORDER BY 1", ["a", "b", "s"], ["a", "b"]),
    ("SELECT id FROM changes ORDER BY 1", ["a", "b", "s"], ["a", "b"]),
    ("SELECT tag FROM tags ORDER BY 1", ["hidden", "open"], ["open"]),
    ("SELECT value FROM fields ORDER BY 1", ["hidden", "open"], ["open"]),
    ("SELECT count(*) FROM edges", [2], [1]),
    ("SELECT count(*) FROM passages", [3], [2]),
    ("SELECT count(*) FROM embeddings", [3], [2]),
    ("SELECT DISTINCT word FROM vocabulary WHERE word = 'zeppelin'", ["zeppelin"], []),
    ("SELECT DISTINCT term FROM words WHERE term = 'zeppelin'", ["zeppelin"], []),
    ("SELECT count(*) FROM usage", [4], [2]),
    ("SELECT count(*) FROM feedback", [4], [2]),
    ("SELECT DISTINCT who FROM activity", ["ana"], ["ben"]),
    ("SELECT kept FROM contexts", ["secret"], []),
    ("SELECT record FROM receipts", ["secret"], []),
    ("SELECT given FROM given", ["secret"], []),
    ("SELECT count(*) FROM acls WHERE passages > 0", [2], [1]),
    ("SELECT node FROM weftwork_alike('s', 0.01)", [3], []),
    ("SELECT word FROM weftwork_words_like('{zepelin}', 0.2, 5)", ["zeppelin"], []),
]
"""Queries that name neither workspace nor user, and what each of two users gets."""


@pytest.mark.usefixtures("filled")
def test_a_user_reads_what_they_may_see_of_their_workspace_alone(ordinary):
    for table in (*TABLES, "keys", "key_workspaces", "jobs", "embedding_cache"):
        assert ordinary.execute(f"SELECT * FROM {table}").fetchall() == [], f"{table} is open to who names no user"
    for query, ana, ben in READS:
        for user, wanted in (("ana", ana), ("ben", ben), ("nobody", [0] if "count" in query else [])):
            assert [row[0] for row in seen(ordinary, WORKSPACE, user, query)] == wanted, f"{user}: {query}"


@pytest.mark.usefixtures("filled")
def test_who_says_who_they_are_without_being_looked_up_sees_nothing(ordinary):
    with ordinary.transaction():
        number = ordinary.execute("SELECT id FROM directory WHERE name = %s", (WORKSPACE,)).fetchone()[0]
        for name, value in (("workspace", number), ("user", "ana"), ("reach", "viewer")):
            ordinary.execute("SELECT set_config(%s, %s, true)", (f"weftwork.{name}", str(value)))
        assert ordinary.execute("SELECT * FROM nodes").fetchall() == []


@pytest.mark.usefixtures("filled")
def test_who_only_reads_can_write_nothing(ordinary):
    for statement in (
        "DELETE FROM nodes RETURNING 1",
        "UPDATE nodes SET title = 'x' RETURNING 1",
        "UPDATE acl_principals SET principal = '*' RETURNING 1",
    ):
        assert seen(ordinary, WORKSPACE, "ana", statement) == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        seen(ordinary, WORKSPACE, "ana", "INSERT INTO marks SELECT id, 'a', 'b', 'c' FROM directory")


@pytest.mark.usefixtures("store")
def test_each_table_of_a_workspace_has_a_policy_and_its_number_first_in_the_key(server):
    with psycopg.connect(server.url()) as owner:
        rows = owner.execute(
            """SELECT c.relname, c.relrowsecurity, c.relkind, (SELECT a.attname FROM pg_index i
                   JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
                   WHERE i.indrelid = c.oid AND i.indisprimary)
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'weftwork' AND c.relkind = 'r'"""
        ).fetchall()
    tables = {row[0]: row[1:] for row in rows}
    assert {name for name, row in tables.items() if row == (True, "r", "workspace")} == set(TABLES)
    assert {name for name, row in tables.items() if not row[0]} == {"directory", "migrations"}


def test_the_store_itself_is_behind_the_wall(traced):
    store, statements = traced
    assert store.check() == []
    assert any(f"SET ROLE {APPLICATION};" in statement for statement in statements)
    assert any("row_security_active('nodes')" in statement for statement in statements)


def test_an_owner_without_the_role_is_told_and_gets_it_when_an_administrator_grants_it(server, store, tmp_path):
    with psycopg.connect(server.url(), autocommit=True) as administrator:
        administrator.execute("CREATE ROLE plain LOGIN")
        administrator.execute("CREATE DATABASE plain OWNER plain")
        with psycopg.connect(server.url("plain"), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector; CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin")
        address = parse(server.url("plain", "plain", weftwork_files=tmp_path))
        alone = PostgresStore(address, clock=lambda: NOW)
        put(opened(alone), node("a", "quince"))
        assert [problem for problem in alone.check() if "row-level security" in problem]
        alone.close()
        administrator.execute(f"GRANT {APPLICATION} TO plain")
    granted = PostgresStore(address, clock=lambda: NOW)
    assert granted.check() == []
    with granted.view(WORKSPACE, "ana") as view:
        assert len(view.search_words("quince", limit=5)) == len(view.search_fuzzy("quinse", limit=5)) == 1
    granted.close()
