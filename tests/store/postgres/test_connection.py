"""Starting together, writing together, and losing the server at every moment."""

import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
import pytest

from weftwork.errors import InvalidInput, NotFound, StoreBusy, StoreError, StoreUnavailable
from weftwork.store.contract.kit import NOW, WORKSPACE, node, opened, put
from weftwork.store.postgres import PostgresStore
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.schema import MIGRATIONS
from weftwork.text.tokens import CharacterCounter
from weftwork.write.prepare import prepare

from .proxy import Proxy
from .server import LASTING, Server

SMALL = {"weftwork_wait": 5}


def new_database(server, name):
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        owner.execute(f"CREATE DATABASE {name}")


def store_at(url, **more):
    return PostgresStore(parse(url), clock=lambda: NOW, **more)


def end_all_others(server):
    """End every connection but the one that asks, as a restart of the server would, and wait until they have ended."""
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(
            "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )


def until_no_transaction_is_open(server, application):
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND xact_start IS NOT NULL"
    with psycopg.connect(server.url(), autocommit=True) as owner:
        assert owner.execute(query, [application]).fetchone() == (1,)
        while owner.execute(query, [application]).fetchone() != (0,):
            pass


def ids(store, *names):
    with store.view(WORKSPACE, "ana") as view:
        return [each.id for each in view.nodes(names)]


def test_ten_that_start_at_once_make_the_schema_once(server):
    new_database(server, "together")
    url = server.url("together", weftwork_pool=1, **SMALL)
    with ThreadPoolExecutor(10) as pool:
        stores = list(pool.map(lambda _: store_at(url), range(10)))
    stores[0].create_workspace(WORKSPACE, owner="ana")
    assert all(store.workspaces() == [WORKSPACE] for store in stores)
    with psycopg.connect(server.url("together")) as owner:
        done = [row[0] for row in owner.execute("SELECT name FROM weftwork.migrations ORDER BY name")]
        assert done == sorted(MIGRATIONS)
        owner.execute("INSERT INTO weftwork.migrations VALUES ('9999_future')")
    for store in stores:
        store.close()
    with pytest.raises(StoreError, match=r"newer version of Weftwork \(9999_future\)"):
        store_at(url)


def test_a_database_that_holds_no_store_is_left_as_it_is(server):
    new_database(server, "bare")
    with pytest.raises(NotFound, match="weftwork init"):
        store_at(server.url("bare"), create=False)
    with psycopg.connect(server.url("bare")) as owner:
        assert owner.execute("SELECT to_regnamespace('weftwork')").fetchone() == (None,)


def test_batches_of_many_threads_come_one_after_the_other_and_none_is_lost(store):
    put(opened(store), node("n"))
    before = store.version(WORKSPACE)

    def write(number):
        for each in range(5):
            with store.atomic(WORKSPACE) as batch:
                batch.put([prepare(node(f"t{number}-{each}", "text", parent="n"), CharacterCounter())])
                batch.count_use("ana", ["n"])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    assert store.version(WORKSPACE) == before + 30
    with store.view(WORKSPACE, "ana") as view:
        assert view.usage(["n"])["n"].used == 30
        assert len(view.children("n", 99)) == 30


def test_a_batch_goes_on_where_it_was_after_others_of_other_workspaces_within_it(store):
    opened(store).create_workspace("other", owner="ana")
    with store.atomic(WORKSPACE) as outer:
        outer.put([prepare(node("a", "before"), CharacterCounter())])
        with store.atomic("other") as inner:
            inner.put([prepare(node("b", "between"), CharacterCounter())])
        store.keep_context("other", "c", user="ana", thread="t", kept="k")
        store.create_workspace("third", owner="ana")
        outer.put([prepare(node("a", "after"), CharacterCounter())])
        outer.add_user("ben")
    with store.view(WORKSPACE, "ben") as view:
        assert [each.text for each in view.nodes(["a", "b"])] == ["after"]
    with store.view("other", "ana") as view:
        assert [each.text for each in view.nodes(["a", "b"])] == ["between"]


def test_a_view_that_is_closed_answers_nothing_on_a_connection_that_is_anothers_now(store):
    put(opened(store, "ben"), node("a", "quince", access=frozenset({"ana"})))
    with store.view(WORKSPACE, "ana") as view:
        later = partial(view.search_words, "quince", limit=5)
        assert len(later()) == 1
    with store.view(WORKSPACE, "ben"):
        for late in (later, partial(view.nodes, ["a"]), partial(view.siblings, "a", 1)):
            with pytest.raises(StoreError, match="view is closed"):
                late()


def test_look_ups_keep_their_plans_from_view_to_view(server, store):
    put(opened(store), node("a", "quince"))
    plans = "SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements WHERE statement LIKE '%nodes n%'"
    own = store_at(server.url(weftwork_pool=1))
    for _ in range(6):
        assert ids(own, "a") == ["a"]
    (kept, made_anew) = own._connections.ask(lambda connection: connection.execute(plans).fetchone())
    own.close()
    assert kept >= 3
    assert made_anew == 0


def test_what_a_passage_is_shown_with_takes_one_round_trip(traced):
    store, statements = traced
    put(opened(store), node("up", "above"), node("a", "quince", parent="up"))
    with store.view(WORKSPACE, "ana") as view:
        (keys,) = view.passages(["a"]).values()
        statements.clear()
        (record,) = view.load(keys)
        begin, *_, end = statements
    assert (record.trail, begin, end) == (("up",), "-- pipelined", "-- end")


def test_text_and_numbers_come_back_as_they_were_whatever_the_address_asks_for(server, store):
    asked = "-c%20client_encoding%3Dlatin1%20-c%20extra_float_digits%3D0"
    other = store_at(f"{server.url(**SMALL)}&options={asked}")
    put(opened(store), node("a", "one", title="Café €", confidence=0.1 + 0.2))
    put(other, node("b", "two", title="Café €", confidence=0.1 + 0.2))
    for each in (store, other):
        with each.view(WORKSPACE, "ana") as view:
            found = [(node.title, node.confidence) for node in view.nodes(["a", "b"])]
        assert found == [("Café €", 0.1 + 0.2)] * 2
    other.close()


def test_what_is_postgresqls_in_an_address_is_left_as_it_is_and_ours_is_checked():
    address = parse(
        "postgresql://ana@db/notes?weftwork_pool=2&options=-c%20geqo%3Doff&application_name=a+b&weftwork_files=/a%20b"
    )
    assert address.server == "postgresql://ana@db/notes?options=-c%20geqo%3Doff&application_name=a+b"
    assert (address.pool, address.files) == (2, Path("/a b/notes"))
    with pytest.raises(InvalidInput, match=r"weftwork_timeout .* from 1 to 1,000,000, got '3000000'"):
        parse("postgresql://db/notes?weftwork_timeout=3000000")


@pytest.mark.parametrize("limit", ["idle_in_transaction_session_timeout", "transaction_timeout"])
def test_a_transaction_that_the_server_ends_for_its_length_is_told_as_a_lost_one(server, store, limit):
    opened(store)
    hasty = store_at(f"{server.url(**SMALL)}&application_name=hasty&options=-c%20{limit}%3D400")
    with pytest.raises(StoreUnavailable, match="timeout"), hasty.view(WORKSPACE, "ana") as view:
        until_no_transaction_is_open(server, "hasty")
        view.nodes(["a"])
    with pytest.raises(StoreUnavailable), hasty.atomic(WORKSPACE) as batch:
        batch.put([prepare(node("a"), CharacterCounter())])
        until_no_transaction_is_open(server, "hasty")
    assert ids(store, "a") == []
    hasty.close()


def test_two_batches_that_wait_for_each_other_end_with_a_clear_error(store):
    opened(store).create_workspace("other", owner="ana")
    both, caught = threading.Barrier(2, timeout=20), []

    def write(first, second):
        try:
            with store.atomic(first) as batch:
                batch.add_user("ben")
                both.wait()
                with store.atomic(second) as inner:
                    inner.add_user("ben")
        except StoreBusy as error:
            caught.append(error)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, (WORKSPACE, "other"), ("other", WORKSPACE)))
    (error,) = caught
    assert "try again" in str(error)
    assert {"ben" in store.users(name) for name in (WORKSPACE, "other")} == {True}


def test_reads_and_writes_go_on_after_all_connections_were_ended(store, server):
    put(opened(store), node("a", "before"))
    end_all_others(server)
    assert ids(store, "a") == ["a"]
    end_all_others(server)
    put(store, node("b", "after"))
    assert ids(store, "a", "b") == ["a", "b"]


def test_a_batch_that_loses_its_connection_leaves_nothing_and_says_so(store, server):
    opened(store)
    with pytest.raises(StoreUnavailable), store.atomic(WORKSPACE) as batch:
        batch.put([prepare(node("lost"), CharacterCounter())])
        end_all_others(server)
        batch.put([prepare(node("lost too"), CharacterCounter())])
    with pytest.raises(StoreUnavailable, match="nothing of it is there"), store.atomic(WORKSPACE) as batch:
        batch.put([prepare(node("lost"), CharacterCounter())])
        end_all_others(server)
    assert ids(store, "lost", "lost too") == []


def test_a_write_whose_answer_is_lost_is_looked_up_and_not_repeated(store, server):
    opened(store)
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        proxy = Proxy(server.folder, Path(folder))
        url = server.url(**SMALL).replace(str(server.folder).replace("/", "%2F"), folder.replace("/", "%2F"))
        through = store_at(url)
        before = store.version(WORKSPACE)
        with through.atomic(WORKSPACE) as batch:
            batch.put([prepare(node("kept"), CharacterCounter())])
            proxy.lose_commit = True
        assert not proxy.lose_commit
        assert ids(store, "kept") == ["kept"]
        assert store.version(WORKSPACE) == before + 1
        through.close()
        proxy.close()


def test_a_statement_that_takes_too_long_is_given_up(server, store):
    slow = store_at(server.url(weftwork_timeout=1, weftwork_pool=1, **SMALL))
    with psycopg.connect(server.url()) as owner:
        owner.execute("LOCK TABLE weftwork.directory IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreBusy, match="weftwork_timeout"):
            slow.workspaces()
    assert slow.workspaces() == []
    slow.close()


def test_a_tracer_is_told_each_statement_with_its_values(traced):
    store, statements = traced
    put(opened(store), node("a", "quince", tags=("o'clock",)))
    for part in ("BEGIN", "INSERT INTO tags", "o''clock", "COMMIT"):
        assert any(part in statement for statement in statements), part
    statements.clear()
    with store.view(WORKSPACE, "ana") as view:
        view.search_words("quince", limit=5)
    assert any("FROM words w" in statement and "quinc" in statement for statement in statements)
    assert not any("%(" in statement for statement in statements)


def test_a_pool_that_is_used_up_says_what_to_raise(server, store):
    opened(store)
    small = store_at(server.url(weftwork_pool=1, weftwork_wait=1))
    with small.view(WORKSPACE, "ana"), pytest.raises(StoreUnavailable, match="weftwork_pool"):
        small.version(WORKSPACE)
    small.close()


def test_what_was_acknowledged_is_there_after_the_server_was_killed():
    server = Server(LASTING)
    try:
        store = store_at(server.start().url(weftwork_wait=2))
        put(opened(store), node("a", "before"))
        server.kill()
        with pytest.raises(StoreUnavailable, match="server runs"):
            ids(store, "a")
        with pytest.raises(StoreUnavailable):
            put(store, node("b"))
        server.start()
        assert ids(store, "a", "b") == ["a"]
        put(store, node("b"))
        assert ids(store, "a", "b") == ["a", "b"]
        store.close()
    finally:
        server.close()
