"""Several servers behind one coordinator: what goes where, what moves, and what happens when one stops."""

import threading

import psycopg
import pytest

from weft.errors import InvalidInput, NotFound, StoreBusy, StoreUnavailable
from weft.store.contract.kit import EMBEDDER, node, put
from weft.store.postgres.cluster import layout, moving, opened
from weft.store.postgres.cluster.servers import Servers
from weft.store.postgres.codec import vector_text
from weft.store.postgres.schema import PARTITIONED
from weft.types import Edge

from .sharded import PARTS, Shards

HERE = layout.HERE


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """A store with workspaces that was on one server and then is on two; the third one is there, and has no part."""
    made = Shards(tmp_path_factory.mktemp("files"))
    try:
        with made.open() as store:
            for number in range(6):
                fill(store, f"w{number}")
        made.apply("one", "two")
        yield made
    finally:
        made.close()


@pytest.fixture
def store(shards):
    with shards.open() as store:
        yield store


def fill(store, name):
    """A workspace with something in most of its tables."""
    store.create_workspace(name, owner="ana")
    put(
        store,
        node("a", f"quince jam of {name}", tags=("sweet",), fields={"k": "v"}),
        node("b", "a tart", parent="a", access=frozenset({"ana"})),
        edges=(Edge(source="a", target="b"),),
        workspace=name,
    )
    store.keep_context(name, "c", user="ana", thread="", kept=name)


def texts(store, name):
    with store.view(name, "ana") as view:
        return {each.id: each.text for each in view.nodes(["a", "b"])}


def places(shards):
    """The server of each workspace."""
    with Servers(shards.url) as servers:
        rows = servers.here.execute("SELECT name, COALESCE(place, id) FROM directory").fetchall()
        return {name: moving._server(servers, number) for name, number in rows}


def rows_on(shards, server):
    """How many rows of each workspace's number a server has in all tables."""
    found = {}
    with psycopg.connect(shards.servers[server].url("shard")) as connection:
        for table in PARTITIONED:
            for number, count in connection.execute(f"SELECT workspace, count(*) FROM weft.{table} GROUP BY 1"):
                found[number] = found.get(number, 0) + count
    return found


@pytest.mark.parametrize(
    ("before", "nodes", "after"),
    [
        ("....", "a", "aaaa"),
        ("....", "ab", "abab"),
        ("aaaa", "ab", "aabb"),
        ("aabb", "abc", "aabc"),
        ("aabbcc", "ac", "aaaccc"),
        ("aabbc", "abc", "aabbc"),
    ],
)
def test_servers_get_equal_shares_with_as_few_moves_as_that_takes(before, nodes, after):
    parts = {number: name.replace(".", HERE) for number, name in enumerate(before)}
    found = layout.spread(parts, nodes)
    counts = [list(found.values()).count(name) for name in nodes]
    assert max(counts) - min(counts) <= 1 and "".join(found.values()) == after


def test_more_servers_than_parts_are_refused():
    with pytest.raises(InvalidInput, match="2 servers cannot share 1 parts"):
        layout.spread({0: HERE}, ["a", "b"])


def test_what_was_on_one_server_is_there_when_its_parts_are_on_two(shards, store):
    assert set(places(shards).values()) == {"one", "two"}
    for name in store.workspaces():
        assert texts(store, name) == {"a": f"quince jam of {name}", "b": "a tart"}
        assert store.kept_context(name, "c", user="ana", thread="") == name
    assert store.check() == []
    with Servers(shards.url) as servers:
        local = servers.here.execute(
            """SELECT count(*) FROM pg_class
               WHERE relispartition AND relkind = 'r' AND relnamespace = 'weft'::regnamespace"""
        ).fetchone()
    assert local == (0,)


def test_filters_and_the_order_of_vectors_are_left_to_the_server_that_has_the_rows(shards, store):
    number = store._rows("SELECT id FROM directory WHERE name = 'w0'")[0][0]
    put(store, *(node(f"v{each}", f"word{each}") for each in range(150)), workspace="w0")
    with psycopg.connect(shards.servers[places(shards)["w0"]].url("shard"), autocommit=True) as shard:
        shard.execute("ANALYZE weft.embeddings")

    def explain(connection):
        connection.execute("SELECT * FROM weft_open('w0', 'ana')")
        query = f"""EXPLAIN (VERBOSE, COSTS OFF) SELECT e.key FROM embeddings e
            WHERE e.workspace = {number} AND e.model = 1 AND e.acl = ANY ('{{1}}'::bigint[])
            ORDER BY e.vector <=> '{vector_text(EMBEDDER.embed("jam"))}'::vector, e.key LIMIT 5"""
        return [row[0] for row in connection.execute(query)]

    plan = store._connections.ask(explain)
    assert sum("Foreign Scan on" in line for line in plan) == 1 and not any("Sort" in line for line in plan)
    (remote,) = (line for line in plan if "Remote SQL" in line)
    wanted, order = remote.split(" ORDER BY ")
    assert f"(workspace = {number})" in wanted and "acl = ANY" in wanted
    assert order.startswith("(vector OPERATOR(public.<=>) ")


def test_what_resembles_a_word_is_looked_for_where_the_rows_are(store):
    rows = store._rows("SELECT pg_get_functiondef('weft_alike'::regproc)")
    assert "similarity(n.title, wanted) >= minimum" in rows[0][0] and " % " not in rows[0][0]
    with store.view("w0", "ana") as view:
        hits = view.search_fuzzy("quinze", limit=5)
        assert [record.node.id for record in view.load([hit.key for hit in hits])][:1] == ["a"]


def test_a_workspace_moves_under_load_and_no_acknowledged_write_is_lost(shards, store):
    before = places(shards)["w1"]
    to = {"one": "two", "two": "one"}[before]
    acknowledged, stop, failures = [], threading.Event(), []

    def write():
        with shards.open() as own:
            while not stop.is_set():
                name = f"n{len(acknowledged)}"
                try:
                    put(own, node(name, f"word{name}"), workspace="w1")
                    own.keep_context("w1", name, user="ana", thread="", kept=name)
                except StoreBusy:
                    continue
                except Exception as error:
                    failures.append(error)
                    return
                acknowledged.append(name)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with opened(shards.url) as cluster:
            for target in (to, before, to):
                done = len(acknowledged)
                while len(acknowledged) < done + 2 and not failures:
                    pass
                cluster.move("w1", target, lambda line: None)
    finally:
        stop.set()
        writer.join()
    assert failures == [] and places(shards)["w1"] == to
    with store.view("w1", "ana") as view:
        assert [each.id for each in view.nodes(acknowledged)] == acknowledged
        assert len(view.search_words("word" + acknowledged[0], limit=5)) == 1
    assert all(store.kept_context("w1", name, user="ana", thread="") == name for name in acknowledged[-5:])
    assert store.check() == []


class Killed(BaseException):
    """The end of a process."""


@pytest.mark.parametrize("step", ["copy", "_wait_for_readers", "_clear"])
def test_a_move_that_is_killed_leaves_all_in_force_and_is_brought_to_its_end_by_the_next(
    shards, store, monkeypatch, step
):
    before = places(shards)["w2"]
    to = {"one": "two", "two": "one"}[before]
    found = texts(store, "w2")

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(moving, step, killed)
        with pytest.raises(Killed), opened(shards.url) as cluster:
            cluster.move("w2", to, print)
    assert texts(store, "w2") == found
    put(store, node("late", "after all"), workspace="w2")
    with opened(shards.url) as cluster:
        cluster.move("w2", to, print)
    assert places(shards)["w2"] == to and texts(store, "w2") == found
    with store.view("w2", "ana") as view:
        assert view.nodes(["late"])
    numbers = {row[0] for row in store._rows("SELECT COALESCE(place, id) FROM directory")}
    assert {*rows_on(shards, "one"), *rows_on(shards, "two")} == numbers
    assert store._rows("SELECT 1 FROM directory WHERE other IS NOT NULL") == []


def test_who_writes_to_a_workspace_that_is_moving_is_told_to_try_again(shards):
    with Servers(shards.url) as servers, shards.open() as store:
        number = servers.here.execute("SELECT id FROM directory WHERE name = 'w3'").fetchone()[0]
        store._connections.address = store.address.__class__(
            **{**{name: getattr(store.address, name) for name in store.address.__slots__}, "wait": 0}
        )
        with moving._held(servers.here, [number]):
            with pytest.raises(StoreBusy, match="on its way to another server"):
                put(store, node("x", "y"), workspace="w3")
            assert texts(store, "w3")["b"] == "a tart"
            put(store, node("x", "y"), workspace="w4")
        put(store, node("x", "y"), workspace="w3")


def test_a_server_is_added_and_gets_its_share_and_can_be_taken_out_again(shards, store):
    before = {name: texts(store, name) for name in store.workspaces()}
    shards.apply("three")
    with opened(shards.url) as cluster:
        assert {each.name: len(each.parts) for each in cluster.status()} == dict.fromkeys(shards.servers, PARTS / 3)
        assert cluster.plan({}) == {}
        steps = cluster.plan({}, without=["three"])
    assert {where for where, _ in steps.values()} == {"three"}
    assert {name: texts(store, name) for name in store.workspaces()} == before
    shards.apply(without=("three",))
    assert {name: texts(store, name) for name in store.workspaces()} == before
    assert rows_on(shards, "three") == {}
    with (
        opened(shards.url) as cluster,
        pytest.raises(NotFound, match="'three' is no server"),
    ):
        cluster.move("w1", "three", print)
    shards.apply("three")


def test_a_server_that_stops_takes_its_own_workspaces_with_it_and_no_others(shards, store):
    found = places(shards)
    down = "two"
    lost = [name for name, server in found.items() if server == down]
    others = [name for name, server in found.items() if server != down]
    assert lost and others
    shards.servers[down].stop("immediate")
    try:
        for name in lost:
            with pytest.raises(StoreUnavailable, match=r'a server of the cluster does not answer .*"weft_two"'):
                texts(store, name)
            with pytest.raises(StoreUnavailable, match="all others can now"):
                put(store, node("z", "zeal"), workspace=name)
        for name in others:
            assert "b" in texts(store, name)
            put(store, node("z", "zeal"), workspace=name)
        with opened(shards.url) as cluster:
            assert [each.name for each in cluster.status() if each.problem] == [down]
    finally:
        shards.servers[down].start()
    for name in lost:
        put(store, node("z", "zeal"), workspace=name)
        assert "b" in texts(store, name)
