"""An index of nearest vectors: made beside reads and writes, used where it is worth it, near enough to exact search."""

import json
from contextlib import closing

import numpy as np
import psycopg
import pytest
from click.testing import CliRunner

from weftwork.cli import group
from weftwork.errors import StoreBusy
from weftwork.store.contract.kit import NOW, WORKSPACE, node, opened
from weftwork.store.index.nearest import Effort
from weftwork.store.postgres import PostgresStore, embeddings
from weftwork.store.postgres.address import parse
from weftwork.store.postgres.hnsw import alone, tune
from weftwork.store.postgres.owner import owner_connection
from weftwork.store.postgres.policies import APPLICATION
from weftwork.text.tokens import CharacterCounter
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


@pytest.fixture
def little_effort(monkeypatch):
    """Searches compare few rows, and take an index as if there were more."""
    monkeypatch.setattr(embeddings, "EFFORT", EFFORT)
    monkeypatch.setattr(embeddings, "DEARER", 1)


def nearest(store, user, query):
    with store.view(WORKSPACE, user) as view:
        return {hit.key for hit in view.search_vector(query, model="cloud", limit=LIMIT, threshold=-1.0)}


def recall(store, user, queries, exact):
    shares = [len(nearest(store, user, query) & best) / LIMIT for query, best in zip(queries, exact, strict=True)]
    return sum(shares) / len(shares)


def through_the_index(statements):
    return [statement for statement in statements if "halfvec" in statement]


def test_an_index_finds_what_signs_would_miss_for_any_share_of_the_rows(cloud, traced, owner, server, request):
    (_, queries), (store, statements) = cloud, traced
    readers = {"ana": COUNT, "cleo": COUNT // 2, "ben": COUNT // 20}
    exact = {user: [nearest(store, user, query) for query in queries] for user in readers}
    request.getfixturevalue("little_effort")
    assert recall(store, "ana", queries, exact["ana"]) < 0.9
    (made,) = tune(server.url(), memory="64MB", fewest=1000)
    assert (made.dimensions, made.vectors, made.made) == (WIDTH, COUNT, True)
    for user, allowed in readers.items():
        statements.clear()
        with store.view(WORKSPACE, user) as view:
            assert view.counts()["passages"] == allowed
        assert recall(store, user, queries, exact[user]) >= 0.98
        # For few rows it costs more than it saves.
        assert len(through_the_index(statements)) == (0 if user == "ben" else len(queries)), user


@pytest.mark.usefixtures("little_effort")
def test_the_database_uses_the_index_behind_the_policies(cloud, traced, owner, server):
    (_, queries), (store, statements) = cloud, traced
    list(tune(server.url(), memory="64MB", fewest=1000))
    owner.execute("ANALYZE embeddings")
    nearest(store, "cleo", queries[0])
    (statement,) = through_the_index(statements)
    with owner.transaction():
        owner.execute(f"SET LOCAL ROLE {APPLICATION}")
        owner.execute("SELECT * FROM weftwork_open(%s, 'cleo')", (WORKSPACE,))
        plan = owner.execute(f"EXPLAIN {statement}").fetchall()
    assert any("embeddings_nearest_" in row[0] and "Index Scan" in row[0] for row in plan), plan


@pytest.mark.usefixtures("cloud")
def test_what_a_stopped_run_left_is_made_again_and_what_is_there_is_left_alone(owner, server):
    (made,) = tune(server.url(), memory="64MB", fewest=1000)
    (again,) = tune(server.url(), memory="64MB", fewest=1000)
    assert (made.made, again.made) == (True, False)
    ((name, _),) = owner.execute(INDEXES).fetchall()
    owner.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (name,))
    (mended,) = tune(server.url(), memory="64MB", fewest=1000)
    assert mended.made
    assert owner.execute(INDEXES).fetchall() == [(name, True)]


@pytest.mark.usefixtures("little_effort", "owner")
def test_a_vector_of_any_length_can_be_kept_beside_an_index_and_is_found_through_it(cloud, server):
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
    statements = []
    unsorted = f"{server.url()}&options=-c%20enable_sort%3Doff"  # so that it is the index that is asked
    with (
        closing(PostgresStore(parse(unsorted), clock=lambda: NOW, tracer=statements.append)) as other,
        other.view(WORKSPACE, "ana") as view,
    ):
        for scale, ray in rays.items():
            first, *_ = view.search_vector(ray / scale, model="cloud", limit=LIMIT, threshold=-1.0)
            assert view.nodes_of([first.key]) == [f"ray {scale}"]
            assert first.score == pytest.approx(1.0)
    assert len(through_the_index(statements)) == len(rays)


def test_two_do_not_make_the_same_index_at_once(store, server):
    with owner_connection(parse(server.url())) as other, alone(other), pytest.raises(StoreBusy, match="weftwork tune"):
        list(tune(server.url(), memory="64MB", fewest=1000))


@pytest.mark.usefixtures("cloud")
def test_small_workspaces_have_no_index_and_a_file_needs_none(owner, server, tmp_path, monkeypatch):
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
