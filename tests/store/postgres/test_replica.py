"""A streaming replica: what is read there, what a process finds of its own writes, and what is without the primary."""

from contextlib import closing

import psycopg
import pytest

from weftwork import Weft
from weftwork.config import load_config
from weftwork.errors import InvalidInput, StoreUnavailable
from weftwork.store.contract.kit import NOW, node, put
from weftwork.store.open import open_store, shown, with_replica
from weftwork.store.postgres.address import parse

from .server import Server

NAME = "main"


@pytest.fixture(scope="module")
def servers():
    """A primary with a workspace, and its replica."""
    primary = Server().start()
    replica = None
    try:
        with closing(open_store(primary.url(), clock=lambda: NOW)) as store:
            store.create_workspace(NAME, owner="me")
            put(store, node("a", "quince jam"), workspace=NAME)
        replica = Server(replica_of=primary).start()
        yield primary, replica
    finally:
        primary.close()
        if replica is not None:
            replica.close()


@pytest.fixture
def url(servers, tmp_path):
    primary, replica = servers
    return primary.url(weftwork_wait=1, weftwork_read=replica.url(), weftwork_files=tmp_path)


@pytest.fixture
def store(url):
    with closing(open_store(url, clock=lambda: NOW)) as store:
        yield store


def seen(store, *names):
    """The nodes that a view has of these, and whether it is one of the replica."""
    with store.view(NAME, "me") as view:
        standby = view._reader.connection.execute("SELECT pg_is_in_recovery()").fetchone()[0]
        return [each.id for each in view.nodes(names)], standby


@pytest.fixture
def replaying(servers):
    """The switch by which the replica stops to follow; it follows again at the end."""
    with psycopg.connect(servers[1].url(), autocommit=True) as connection:
        yield connection
        connection.execute("SELECT pg_wal_replay_resume()")


def test_views_are_of_the_replica_and_have_each_write_of_their_process_at_once(store):
    assert seen(store, "a") == (["a"], True)
    for number in range(10):
        put(store, node(f"n{number}", "tart"), workspace=NAME)
        assert seen(store, f"n{number}") == ([f"n{number}"], True)


def test_who_wrote_is_sent_to_the_primary_while_the_replica_is_behind_and_who_did_not_write_is_not(
    store, url, replaying
):
    replaying.execute("SELECT pg_wal_replay_pause()")
    put(store, node("late", "tart"), workspace=NAME)
    assert seen(store, "late") == (["late"], False)
    with closing(open_store(url, clock=lambda: NOW)) as other:
        assert seen(other, "late") == ([], True)
    assert store.unchecked_nodes(NAME, ["late"]) == {"late"}
    replaying.execute("SELECT pg_wal_replay_resume()")
    put(store, node("later", "tart"), workspace=NAME)
    assert seen(store, "late", "later") == (["late", "later"], True)


def test_with_the_primary_stopped_reads_go_on_and_writes_say_so(servers, url):
    primary, _ = servers
    with Weft.open(url, embedder="hashing", create=False) as weft:
        put(weft.store, node("kept", "marmalade of oranges"), workspace=NAME)
        assert seen(weft.store, "kept") == (["kept"], True)
        primary.stop("fast")
        try:
            assert "marmalade" in weft.context("marmalade", budget=500).text
            assert seen(weft.store, "kept") == (["kept"], True)
            assert weft.store.workspaces() == [NAME] and set(weft.store.users(NAME)) == {"me"}
            with pytest.raises(StoreUnavailable, match="check that the server runs"):
                put(weft.store, node("lost", "tart"), workspace=NAME)
            with closing(open_store(url, clock=lambda: NOW, create=False)) as started_now:
                assert seen(started_now, "kept") == (["kept"], True)
        finally:
            primary.start()
        put(weft.store, node("found", "tart"), workspace=NAME)
        assert seen(weft.store, "found", "lost")[0] == ["found"]


def test_with_the_replica_stopped_reads_go_to_the_primary(servers, url):
    _, replica = servers
    with closing(open_store(url, clock=lambda: NOW)) as store:
        assert seen(store, "a") == (["a"], True)
        replica.stop("immediate")
        try:
            assert seen(store, "a") == (["a"], False)
            put(store, node("b", "tart"), workspace=NAME)
            assert seen(store, "b") == (["b"], False)
        finally:
            replica.start()


def test_the_settings_name_a_replica_by_its_own_address(tmp_path):
    (tmp_path / "weftwork.toml").write_text(
        'store = "postgresql://db1/weftwork?weftwork_pool=3"\nread_url = "postgresql://db2/weftwork"\n'
    )
    trusted = {"WEFTWORK_TRUST": "1"}
    config = load_config(tmp_path, trusted)
    address = parse(with_replica(config.store, config.read_url))
    assert (address.server, address.read, address.pool) == ("postgresql://db1/weftwork", "postgresql://db2/weftwork", 3)
    other = {"WEFTWORK_READ_URL": "postgresql://db3/weftwork"}
    assert load_config(tmp_path, trusted | other).read_url == "postgresql://db3/weftwork"
    assert with_replica("notes.weft", "") == "notes.weft"
    with pytest.raises(InvalidInput, match="is a file and has no replica"):
        with_replica("notes.weft", "postgresql://db2/weftwork")


def test_a_password_of_the_replica_is_not_shown():
    told = shown(
        "postgresql://me:secret-a@db/weft?weftwork_read=postgresql%3A%2F%2Fme%3Asecret-b%40db2%2Fweft&weftwork_pool=3"
    )
    assert "secret" not in told and "db2" in told and "weftwork_pool=3" in told
