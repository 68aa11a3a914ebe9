"""Several servers behind one coordinator: what goes where, what moves, and what happens when one stops."""

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import psycopg
import pytest
from click.testing import CliRunner

from weftwork.cli import group
from weftwork.errors import InvalidInput, NotFound, StoreBusy, StoreUnavailable
from weftwork.store.contract.kit import EMBEDDER, node, put
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.cluster import layout, moving, opened
from weftwork.store.postgres.cluster.servers import Servers
from weftwork.store.postgres.codec import vector_text
from weftwork.store.postgres.hnsw import tune
from weftwork.store.postgres.policies import APPLICATION
from weftwork.store.postgres.schema import PARTITIONED
from weftwork.types import Edge

from .sharded import PARTS, Shards

HERE = layout.HERE
OTHER = {"one": "two", "two": "one"}


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
    with Servers(parse(shards.url)) as servers:
        rows = servers.here.execute("SELECT name, COALESCE(place, id) FROM directory").fetchall()
        return {name: moving._server(servers, number) for name, number in rows}


def rows_on(shards, server):
    """The number of rows of each workspace on a server, in all tables."""
    found = {}
    with psycopg.connect(shards.servers[server].url("shard")) as connection:
        for table in PARTITIONED:
            for number, count in connection.execute(f"SELECT workspace, count(*) FROM weftwork.{table} GROUP BY 1"):
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
    with Servers(parse(shards.url)) as servers:
        local = servers.here.execute(
            """SELECT count(*) FROM pg_class
               WHERE relispartition AND relkind = 'r' AND relnamespace = 'weftwork'::regnamespace"""
        ).fetchone()
    assert local == (0,)


def test_a_view_is_asked_of_the_server_that_has_the_rows_and_the_second_wall_stands_there(shards, store):
    for name, server in places(shards).items():
        with store.view(name, "ana") as view:
            connection = view._reader.connection
            assert connection.info.host == str(shards.servers[server].folder) and connection.info.dbname == "shard"
            assert connection.execute("SELECT count(DISTINCT workspace) FROM nodes").fetchone() == (1,)
            assert connection.execute("SELECT row_security_active('tags')").fetchone() == (True,)
    with shards.open(weftwork_route="coordinator") as through, through.view("w0", "ana") as view:
        assert view._reader.connection.info.dbname == "postgres"


def test_filters_and_the_order_of_vectors_are_left_to_the_server_that_has_the_rows(shards, store):
    number = shards.ask("SELECT id FROM directory WHERE name = 'w0'")[0][0]
    put(store, *(node(f"v{each}", f"word{each}") for each in range(150)), workspace="w0")
    with psycopg.connect(shards.servers[places(shards)["w0"]].url("shard"), autocommit=True) as shard:
        shard.execute("ANALYZE weftwork.embeddings")

    rows = shards.ask(
        f"""SET ROLE {APPLICATION}; SELECT * FROM weftwork_open('w0', 'ana');
            EXPLAIN (VERBOSE, COSTS OFF) SELECT e.key FROM embeddings e
            WHERE e.workspace = {number} AND e.model = 1 AND e.acl = ANY ('{{1}}'::bigint[])
            ORDER BY e.vector <=> '{vector_text(EMBEDDER.embed("jam"))}'::vector, e.key LIMIT 5"""
    )
    plan = [row[0] for row in rows]
    assert sum("Foreign Scan on" in line for line in plan) == 1 and not any("Sort" in line for line in plan)
    (remote,) = (line for line in plan if "Remote SQL" in line)
    wanted, order = remote.split(" ORDER BY ")
    assert f"(workspace = {number})" in wanted and "acl = ANY" in wanted
    assert order.startswith("(vector OPERATOR(public.<=>) ")


def test_what_resembles_a_word_is_looked_for_where_the_rows_are(shards, store):
    rows = shards.ask("SELECT pg_get_functiondef('weftwork_alike'::regproc)")
    assert "similarity(n.title, wanted) >= minimum" in rows[0][0] and " % " not in rows[0][0]
    with shards.open(weftwork_route="coordinator") as through, through.view("w0", "ana") as view:
        hits = view.search_fuzzy("quinze", limit=5)
        assert [record.node.id for record in view.load([hit.key for hit in hits])][:1] == ["a"]


class Writer(threading.Thread):
    """Writes to workspaces in turn, through a store of its own, and notes what was acknowledged."""

    def __init__(self, shards, name, workspaces):
        super().__init__()
        self.shards, self.prefix, self.workspaces = shards, name, workspaces
        self.acknowledged, self.failures, self.stopped = [], [], threading.Event()

    def run(self):
        with self.shards.open() as store:
            while not self.stopped.is_set() and not self.failures:
                number = len(self.acknowledged)
                workspace, name = self.workspaces[number % len(self.workspaces)], f"{self.prefix}{number}"
                try:
                    put(store, node(name, f"word{name}"), workspace=workspace)
                    store.keep_context(workspace, name, user="ana", thread="", kept=name)
                except StoreBusy:
                    continue
                except Exception as error:
                    self.failures.append(error)
                self.acknowledged.append((workspace, name))
                time.sleep(0.02)  # two are load enough for who shares the machine


@contextmanager
def writing(shards, *workspaces):
    """Two that write while the block runs; at its end, all that was acknowledged has to be there."""
    writers = [Writer(shards, name, workspaces) for name in ("p", "q")]
    for writer in writers:
        writer.start()
    try:
        yield writers
    finally:
        for writer in writers:
            writer.stopped.set()
        for writer in writers:
            writer.join()
    assert [writer.failures for writer in writers] == [[], []]
    with shards.open() as store:
        for workspace in workspaces:
            names = [name for writer in writers for where, name in writer.acknowledged if where == workspace]
            assert names
            with store.view(workspace, "ana") as view:
                assert [each.id for each in view.nodes(names)] == names
                assert [len(view.search_words(f"word{name}", limit=5)) for name in names[-3:]] == [1] * len(names[-3:])
            assert store.kept_context(workspace, names[-1], user="ana", thread="") == names[-1]
        assert store.check() == []


def test_a_workspace_moves_under_load_and_no_acknowledged_write_is_lost(shards):
    before = places(shards)["w1"]
    to = OTHER[before]
    with writing(shards, "w1") as writers, opened(shards.url) as cluster:
        for target in (to, before, to):
            done = len(writers[0].acknowledged)
            while len(writers[0].acknowledged) < done + 2 and not writers[0].failures:
                time.sleep(0.01)
            cluster.move("w1", target, lambda line: None)
    assert places(shards)["w1"] == to


KILLED = """
import os, signal
from weftwork.store.postgres.cluster import moving, opened

calls = []
true = moving.{step}

def killed(*given, **more):
    calls.append(given)
    if len(calls) == {call}:
        os.kill(os.getpid(), signal.SIGKILL)
    return true(*given, **more)

moving.{step} = killed
with opened({url!r}) as cluster:
    {command}
"""


def kill_at(shards, step, call, command):
    """Run something with a cluster in a process that ends at a call of a step, as if the machine were switched off."""
    script = KILLED.format(step=step, call=call, url=shards.url, command=command)
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize(("step", "call"), [("_stream", 4), ("_wait_for_readers", 1), ("_clear", 1)])
def test_a_move_that_is_killed_leaves_all_in_force_and_is_brought_to_its_end_by_the_next(shards, store, step, call):
    to = OTHER[places(shards)["w2"]]
    found = texts(store, "w2")
    kill_at(shards, step, call, f"cluster.move('w2', {to!r}, print)")
    assert texts(store, "w2") == found
    put(store, node("late", f"after {step}"), workspace="w2")
    with opened(shards.url) as cluster:
        cluster.move("w2", to, print)
    assert places(shards)["w2"] == to and texts(store, "w2") == found
    with store.view("w2", "ana") as view:
        assert view.nodes(["late"])[0].text == f"after {step}"
    numbers = {row[0] for row in shards.ask("SELECT COALESCE(place, id) FROM directory")}
    assert {*rows_on(shards, "one"), *rows_on(shards, "two")} == numbers
    assert shards.ask("SELECT 1 FROM directory WHERE other IS NOT NULL") == []


def test_who_writes_to_a_workspace_that_is_moving_is_told_to_try_again(shards):
    with Servers(parse(shards.url)) as servers, shards.open(weftwork_wait=1) as store:
        number = servers.here.execute("SELECT id FROM directory WHERE name = 'w3'").fetchone()[0]
        with moving._held(servers.here, [number]):
            with pytest.raises(StoreBusy, match="on its way to another server"):
                put(store, node("x", "y"), workspace="w3")
            assert texts(store, "w3")["b"] == "a tart"
            put(store, node("x", "y"), workspace="w4")
        put(store, node("x", "y"), workspace="w3")


def test_one_command_at_a_time_changes_the_cluster(shards):
    with Servers(parse(shards.url)) as servers, moving.alone(servers.here), opened(shards.url) as cluster:
        assert cluster.plan({}) == {}
        with pytest.raises(StoreBusy, match="another weftwork cluster command is at work"):
            cluster.move("w1", "one", print)
        with pytest.raises(StoreBusy, match="another weftwork cluster command is at work"):
            cluster.apply({}, (), print)


def test_a_server_is_added_under_load_by_a_command_that_is_killed_and_run_again(shards, store):
    before = {name: texts(store, name) for name in store.workspaces()}
    with writing(shards, "w1", "w3", "w4"):
        kill_at(shards, "hand_over", 2, f"cluster.apply({shards.nodes('three')!r}, (), print)")
        shards.apply("three")
    with opened(shards.url) as cluster:
        assert {each.name: len(each.parts) for each in cluster.status()} == dict.fromkeys(shards.servers, PARTS / 3)
        assert cluster.plan({}) == {}
    assert {name: texts(store, name) for name in store.workspaces()} == before


def test_a_server_that_is_taken_out_of_use_is_empty(shards, store):
    shards.apply("three")
    before = {name: texts(store, name) for name in store.workspaces()}
    with opened(shards.url) as cluster:
        assert {where for where, _ in cluster.plan({}, without=["three"]).values()} == {"three"}
    shards.apply(without=("three",))
    assert rows_on(shards, "three") == {}
    assert {name: texts(store, name) for name in store.workspaces()} == before
    with opened(shards.url) as cluster, pytest.raises(NotFound, match="'three' is no server of the cluster: use one"):
        cluster.move("w1", "three", print)


def test_the_command_plans_and_tells_how_it_stands_and_moves(shards):
    def run(*arguments):
        return CliRunner().invoke(group, ["cluster", *arguments, "--store", shards.url])

    three = f"three={shards.nodes('three')['three']}"
    planned = run("plan", "--node", three).output
    assert "-> three" in planned and planned.endswith("2 parts would move\n")
    assert run("status").output.startswith("one  3 parts  ")
    to = OTHER[places(shards)["w5"]]
    assert run("move", "w5", "--to", to).output == f"w5 is on {to}, its rows were compared\n"
    assert run("move", "w5", "--to", to).output == f"w5 is on {to}\n"
    assert run("apply", "--node", three).output.endswith("all parts are where they belong\n")
    assert {len(each["parts"]) for each in json.loads(run("status", "--json").output)} == {PARTS / 3}
    for wrong, told in (("plan --node four", "has no address"), ("move nothing --to one", "'nothing' does not exist")):
        assert told in str(run(*wrong.split()).exception)


def test_a_server_that_stops_takes_its_own_workspaces_with_it_and_no_others(shards, store):
    found = places(shards)
    down = "two"
    lost = [name for name, server in found.items() if server == down]
    others = [name for name, server in found.items() if server != down]
    assert lost and others
    shards.servers[down].stop("immediate")
    try:
        for name in lost:
            with pytest.raises(StoreUnavailable, match="server 'two' of the cluster"):
                texts(store, name)
            with pytest.raises(StoreUnavailable, match=r'a server of the cluster does not answer .*"weftwork_two"'):
                store.version(name)
            with pytest.raises(StoreUnavailable, match="all others can now"):
                put(store, node("z", "zeal"), workspace=name)
        for name in others:
            assert "b" in texts(store, name)
            put(store, node("z", "zeal"), workspace=name)
            assert store.version(name) and store.users(name)
            assert store.unchecked_nodes(name, ["z", "-"]) == {"z"}
            assert store.kept_context(name, "c", user="ana", thread="t") is None
            with store.leaving(name):
                pass
        with opened(shards.url) as cluster:
            (problem,) = (each for each in cluster.status() if each.problem)
            assert problem.name == down and "server 'two' of the cluster" in problem.problem
        with pytest.raises(StoreUnavailable, match="server 'two' of the cluster"):
            list(tune(shards.url, memory="64MB"))
    finally:
        shards.servers[down].start()
    for name in lost:
        put(store, node("z", "zeal"), workspace=name)
        assert "b" in texts(store, name)
