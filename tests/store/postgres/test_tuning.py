"""An index of nearest vectors: made beside reads and writes, used where it is worth it, near enough to exact search."""

import json

import numpy as np
import psycopg
import pytest
from click.testing import CliRunner

from weftwork.cli import group
from weftwork.errors import StoreBusy
from weftwork.store.contract.kit import WORKSPACE, node, opened
from weftwork.store.index.nearest import Effort
from weftwork.store.postgres import embeddings
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.cluster.moving import alone
from weftwork.store.postgres.cluster.servers import Servers
from weftwork.store.postgres.hnsw import tune
from weftwork.text.tokens import CharacterCounter
from weftwork.types import Filters
from weftwork.write.prepare import prepare

COUNT, WIDTH, LIMIT = 1500, 32, 10
EFFORT = Effort(exact=100, shortlist=20, per_result=1)
"""So little that the shortlist by signs would lose a lot."""
INDEXES = "SELECT indexrelid::regclass::text, indisvalid FROM pg_index WHERE indexrelid::regclass::text LIKE '%near%'"


@pytest.fixture
def owner(server):
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("SET search_path TO weftwork, public")
        yield connection
        for name, _ in connection.execute(INDEXES).fetchall():
            connection.execute(f"DROP INDEX {name}")


@pytest.fixture
def cloud(store):
    """Vectors of which ben may see one in twenty, and cleo every other one."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((COUNT, WIDTH)).astype(np.float32)
    readers = [{"ana", *(["ben"] if n % 20 == 0 else []), *(["cleo"] if n % 2 else [])} for n in range(COUNT)]
    entries = [prepare(node(f"n{n}", access=frozenset(readers[n])), CharacterCounter()) for n in range(COUNT)]
    opened(store, "ben", "cleo")
    with store.atomic(WORKSPACE) as batch:
        batch.put(entries)
        digests = [entry.passages[0].digest for entry in entries]
        batch.put_vectors("cloud", dict(zip(digests, vectors, strict=True)))
    return store, rng.standard_normal((20, WIDTH))


def recall(store, user, queries):
    asked = {"model": "cloud", "limit": LIMIT, "filters": Filters(), "threshold": -1.0}
    found = []
    with store.view(WORKSPACE, user) as view:
        for query in queries:
            exact = embeddings.search(view._reader, query, effort=Effort(), **asked)
            near = embeddings.search(view._reader, query, effort=EFFORT, **asked)
            found.append(len({hit.key for hit in exact} & {hit.key for hit in near}) / LIMIT)
    return sum(found) / len(found)


def test_an_index_finds_what_signs_would_miss_for_any_share_of_the_rows(cloud, owner, server, monkeypatch):
    monkeypatch.setattr(embeddings, "DEARER", 1)  # as if there were more rows
    store, queries = cloud
    assert recall(store, "ana", queries) < 0.9
    (made,) = tune(server.url(), memory="64MB", fewest=1000)
    assert (made.dimensions, made.vectors, made.made) == (WIDTH, COUNT, True)
    used = []
    monkeypatch.setattr(embeddings, "_by_graph", _noted(embeddings._by_graph, used))
    for user, allowed, through in (("ana", COUNT, 20), ("cleo", COUNT // 2, 20), ("ben", COUNT // 20, 0)):
        used.clear()
        with store.view(WORKSPACE, user) as view:
            assert view._reader.passages == allowed
        assert recall(store, user, queries) >= 0.98
        assert len(used) == through, f"{user} sees {allowed}"


def _noted(function, calls):
    def noting(*args):
        calls.append(args)
        return function(*args)

    return noting


def test_the_database_uses_the_index_behind_the_policies(cloud, owner, server):
    store, queries = cloud
    list(tune(server.url(), memory="64MB", fewest=1000))
    owner.execute("ANALYZE embeddings")
    text = embeddings._GRAPH.replace("{filters}", "").replace("{dimensions}", str(WIDTH))
    with store.view(WORKSPACE, "cleo") as view:
        given = {"model": 1, "query": str(queries[0].tolist()), "near": 5, "limit": 5}
        plan = view._reader.searched(f"EXPLAIN {text}", **given)
    assert any(f"nearest_{WIDTH}" in row[0] and "Index Scan" in row[0] for row in plan), plan


@pytest.mark.usefixtures("cloud")
def test_what_a_stopped_run_left_is_made_again_and_what_is_there_is_left_alone(owner, server):
    (made,) = tune(server.url(), memory="64MB", fewest=1000)
    (again,) = tune(server.url(), memory="64MB", fewest=1000)
    assert (made.made, again.made) == (True, False)
    name = f"{made.part}_nearest_{WIDTH}"
    owner.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (name,))
    (mended,) = tune(server.url(), memory="64MB", fewest=1000)
    assert mended.made
    assert owner.execute(INDEXES).fetchall() == [(name, True)]


def test_a_vector_of_any_length_can_be_kept_beside_an_index_and_is_found_through_it(cloud, owner, server, monkeypatch):
    monkeypatch.setattr(embeddings, "DEARER", 1)
    store, _ = cloud
    rays = {scale: np.eye(WIDTH, dtype=np.float32)[place] * scale for place, scale in enumerate((1e-20, 1e9))}
    entries = {scale: prepare(node(f"ray {scale}"), CharacterCounter()) for scale in rays}

    def keep(scale):
        with store.atomic(WORKSPACE) as batch:
            batch.put([entries[scale]])
            batch.put_vectors("cloud", {entries[scale].passages[0].digest: rays[scale]})

    keep(1e9)
    list(tune(server.url(), memory="64MB", fewest=1000))
    keep(1e-20)
    with store.view(WORKSPACE, "ana") as view:
        reader = view._reader
        reader.searched("SELECT set_config('enable_sort', 'off', true)")  # so that it is the index that is asked
        for scale, ray in rays.items():
            (first, *_) = embeddings._scored(ray / scale, _through_the_index(reader, ray / scale)).items()
            assert view.nodes_of([first[0]]) == [f"ray {scale}"]
            assert first[1] == pytest.approx(1.0)


def _through_the_index(reader, query):
    values = {"model": 1, "query": str(query.tolist()), "limit": LIMIT}
    return embeddings._by_graph(reader, reader.model("cloud"), LIMIT, "", values)


def test_two_do_not_make_the_same_index_at_once(store, server):
    with Servers(parse(server.url())) as servers, alone(servers.here), pytest.raises(StoreBusy, match="weftwork tune"):
        list(tune(server.url(), memory="64MB", fewest=1000))


@pytest.mark.usefixtures("cloud")
def test_small_parts_have_no_index_and_a_file_needs_none(owner, server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(group, ["tune", *arguments])

    assert run("--store", server.url()).output.startswith("nothing to do")
    assert json.loads(run("--store", server.url(), "--json").stdout) == []
    assert owner.execute(INDEXES).fetchall() == []
    for arguments, reason in (
        (("--store", str(tmp_path / "notes.weft")), "a file needs no tuning"),
        (("--store", server.url(), "--memory", "much"), "such as 2GB"),
    ):
        refused = run(*arguments)
        assert refused.exit_code != 0
        assert reason in str(refused.exception)
