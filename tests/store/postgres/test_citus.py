"""What holds of one server holds of a Citus cluster; WEFTWORK_TEST_CITUS_URL names its coordinator, as a superuser.

Beside the contract of stores, the tests of other modules are run on distributed tables. Every statement has to go to
one worker: the database refuses others.
"""

import os
from contextlib import closing

import numpy as np
import psycopg
import pytest
from click.testing import CliRunner
from tests.properties.conftest import folder  # noqa: F401
from tests.properties.sight import EMBEDDER
from tests.properties.test_isolation import (  # noqa: F401
    test_adding_changing_and_removing_what_is_hidden_changes_not_a_byte,
    test_what_another_workspace_holds_changes_not_a_byte,
)
from tests.properties.test_permissions import (  # noqa: F401
    test_nothing_hidden_reaches_a_user_whatever_happened_before,
)

from weftwork import Node, Weft, sample
from weftwork.cli import group
from weftwork.errors import StoreUnavailable
from weftwork.store.contract import StoreContract
from weftwork.store.contract.kit import NOW
from weftwork.store.postgres import PostgresStore
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.citus import distribute
from weftwork.store.postgres.hnsw import tune
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .test_agreement import (  # noqa: F401
    test_contexts_are_the_same,
    test_counts_and_searches_are_the_same,
    test_loading_again_changes_nothing,
)
from .test_processes import test_four_processes_lose_no_write_and_see_each_others_at_once  # noqa: F401
from .test_transfer import (  # noqa: F401
    filled,
    test_a_target_that_has_something_else_is_refused_and_an_empty_one_is_filled,
    test_a_workspace_goes_to_a_database_and_back_and_nobody_can_tell,
    test_interrupted_anywhere_it_goes_on_where_it_was_and_is_not_open_before,
)

URL = os.environ.get("WEFTWORK_TEST_CITUS_URL", "")
pytestmark = pytest.mark.skipif(not URL, reason="WEFTWORK_TEST_CITUS_URL names no coordinator")
SHARDS = 4
EVERYWHERE = "?options=-c%20citus.multi_task_query_log_level%3Doff&"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a distributed store that refuses statements for more than one shard."""
    address = f"{URL}{'&' if '?' in URL else '?'}connect_timeout=30&weftwork_files={tmp_path_factory.mktemp('files')}"
    PostgresStore(parse(address), clock=lambda: NOW).close()
    distribute(parse(address), shards=SHARDS)
    with psycopg.connect(parse(address).server, autocommit=True) as owner:
        name = owner.info.dbname
        owner.execute(f"ALTER DATABASE \"{name}\" SET citus.multi_task_query_log_level TO 'error'".encode())
    yield address
    with psycopg.connect(parse(address).server, autocommit=True) as owner:
        owner.execute(f'ALTER DATABASE "{name}" RESET citus.multi_task_query_log_level'.encode())


@pytest.fixture(scope="module")
def shared(url):
    """A store on it that tests share."""
    with closing(PostgresStore(parse(url), clock=lambda: NOW)) as store:
        yield store


def emptied(store):
    for name in store.workspaces():
        store.drop_workspace(name)
    with psycopg.connect(store.address.server, autocommit=True) as owner:
        owner.execute("DELETE FROM weftwork.keys; DELETE FROM weftwork.jobs")
    return store


@pytest.fixture
def store(shared):
    """An empty store: what a test leaves is dropped."""
    yield emptied(shared)
    problems = shared.check()
    emptied(shared)
    assert problems == []


@pytest.fixture
def address(url, store):
    """The address of the empty store, for tests that look into all shards themselves."""
    return f"{url.replace('?', EVERYWHERE, 1)}&weftwork_pool=4"


@pytest.fixture
def database(url, store):
    """The same, for moves."""
    return url


@pytest.fixture(scope="module")
def pair(url, shared, tmp_path_factory):
    """The sample workspace in a file and on the cluster."""
    emptied(shared)
    path = tmp_path_factory.mktemp("agreement") / "sample.weft"
    with (
        Weft.open(path, clock=lambda: sample.NOW) as file,
        Weft.open(url, clock=lambda: sample.NOW) as database,
    ):
        for weft in (file, database):
            sample.load(weft)
        yield file, database
    emptied(shared)


@pytest.fixture(scope="module")
def engines(shared):
    """An engine with an embedder and one without, over one store."""
    yield [Weft(shared, Tools(CharacterCounter(), embedder), clock=lambda: NOW) for embedder in (None, EMBEDDER)]
    assert shared.check() == []


@pytest.fixture(scope="module")
def weft(engines):
    """An engine with an embedder."""
    return engines[1]


class TestCitus(StoreContract):
    """The whole contract, on distributed tables."""


def test_distributing_again_changes_nothing_and_a_dry_run_says_so(url):
    assert distribute(parse(url), shards=SHARDS) is False
    result = CliRunner().invoke(group, ["distribute", "--store", url, "--dry-run"])
    assert (result.exit_code, "is distributed already" in result.output) == (0, True)


def test_all_tables_of_a_workspace_are_on_one_worker(url, store):
    with psycopg.connect(parse(url).server) as owner:
        groups = owner.execute(
            "SELECT DISTINCT colocation_id, citus_table_type FROM citus_tables WHERE table_name::text ~ '^weftwork[.]'"
        ).fetchall()
    assert len(groups) == 1 and groups[0][1] == "distributed"


def test_an_index_for_vectors_is_built_on_the_shard_of_its_workspace(url, store):
    vectors = np.random.default_rng(7).normal(size=(1200, 16)).astype(np.float32)

    class Rows:
        model, dimensions = "rows", 16

        def embed(self, text):
            return vectors[int(text.split()[-1])]

        def embed_batch(self, texts):
            return np.stack([self.embed(text) for text in texts])

    weft = Weft(store, Tools(CharacterCounter(), Rows()), clock=lambda: NOW)
    weft.create_workspace("main", owner="me")
    weft.add([Node(id=f"n{place}", text=f"row {place}") for place in range(1200)])
    everywhere = url.replace("?", EVERYWHERE, 1)  # it looks for workspaces on all shards
    exact = [hit.node for hit in weft.search("row 5", mode="vector", limit=10)]
    assert [made.workspace for made in tune(everywhere, memory="64MB", fewest=1000)] == ["main"]
    assert [hit.node for hit in weft.search("row 5", mode="vector", limit=10)][:3] == exact[:3]


@pytest.mark.skipif("WEFTWORK_TEST_CITUS_STOP" not in os.environ, reason="WEFTWORK_TEST_CITUS_STOP stops no worker")
def test_a_stopped_worker_takes_only_its_own_workspaces_with_it(url, store):
    """WEFTWORK_TEST_CITUS_STOP and …_START are commands that stop and start the worker whose port follows them."""
    weft = Weft(store, Tools(CharacterCounter(), None), clock=lambda: NOW)
    names = [f"w{place}" for place in range(12)]
    for name in names:
        weft.create_workspace(name, owner="me")
        weft.add([Node(id="a", title="Ropes", text=f"Ropes of {name}.")], workspace=name)
    with psycopg.connect(parse(url).server) as owner:
        ports = dict(
            owner.execute(
                """SELECT d.name, s.nodeport FROM weftwork.directory d JOIN citus_shards s
                ON s.table_name = 'weftwork.workspaces'::regclass
                AND s.shardid = get_shard_id_for_distribution_column('weftwork.workspaces', d.id)"""
            ).fetchall()
        )
    stopped = ports[names[0]]
    assert set(ports.values()) > {stopped}
    os.system(f"{os.environ['WEFTWORK_TEST_CITUS_STOP']} {stopped}")
    try:
        for name in names:
            if ports[name] == stopped:
                with pytest.raises(StoreUnavailable):
                    weft.context("ropes", workspace=name, min_support=0)
            else:
                assert f"Ropes of {name}." in weft.context("ropes", workspace=name, min_support=0).text
                weft.add([Node(id="b", text="More ropes.")], workspace=name)
    finally:
        os.system(f"{os.environ['WEFTWORK_TEST_CITUS_START']} {stopped}")
    for name in names:
        assert f"Ropes of {name}." in weft.context("ropes", workspace=name, min_support=0).text
