"""Behind PgBouncer in transaction mode, where each transaction may be on another connection of the server."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import closing
from typing import Any

import psycopg
import pytest

from weftwork import Weft, sample
from weftwork.errors import InvalidInput
from weftwork.store.contract.access import AccessContract
from weftwork.store.contract.kit import NOW, WORKSPACE, node, opened, put
from weftwork.store.open import open_store
from weftwork.store.postgres.address import parse

pytestmark = pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="pgbouncer is not installed")


@pytest.fixture(scope="module")
def url(server, tmp_path_factory):
    """The address of a database behind the pooler."""
    folder = tmp_path_factory.mktemp("pooler")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute("CREATE DATABASE pooled")
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
        f"unix_socket_dir =\nauth_type = any\nauth_file = {folder / 'users'}\npool_mode = transaction\n"
        "default_pool_size = 3\nignore_startup_parameters = extra_float_digits\n"
        f"[databases]\npooled = host={server.folder} user=postgres dbname=pooled\n"
    )
    shutil.copytree(folder, server.folder / "pooler")
    os.chmod(server.folder / "pooler", 0o755)
    words = ["pgbouncer", "-q", str(server.folder / "pooler" / "pgbouncer.ini")]
    as_nobody: dict[str, Any] = {"user": "nobody", "extra_groups": []} if os.geteuid() == 0 else {}
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, **as_nobody) as process:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        assert process.poll() is None
        files = tmp_path_factory.mktemp("files")
        yield f"postgresql://postgres@127.0.0.1:{port}/pooled?weftwork_pooler=transaction&weftwork_files={files}"
        process.terminate()


@pytest.fixture(scope="module")
def shared(url):
    """A store behind the pooler."""
    with closing(open_store(url, clock=lambda: NOW)) as store:
        yield store


@pytest.fixture
def store(shared):
    """An empty store."""
    yield shared
    for name in shared.workspaces():
        shared.drop_workspace(name)


class TestPooled(AccessContract):
    """Permissions hold whichever connection a transaction has."""


def test_contexts_are_those_of_a_file_although_another_client_disturbs_each_connection(url, store, tmp_path):
    with (
        Weft.open(tmp_path / "sample.weft", clock=lambda: sample.NOW) as file,
        Weft.open(url, clock=lambda: sample.NOW) as database,
    ):
        sample.load(file)
        sample.load(database)
        for question in ("Where do the mirror coatings stand?", "telescpoe mirorr", "overdue tasks last week"):
            with psycopg.connect(parse(url).server, autocommit=True) as other:
                other.execute("SET search_path TO pg_catalog")
                other.execute("SET timezone TO 'Asia/Tokyo'")
            for user in ("ana", "ben"):
                texts = [
                    weft.context(question, user=user, workspace=sample.WORKSPACE, budget=1500).text
                    for weft in (file, database)
                ]
                assert texts[0] == texts[1]


def test_writes_and_reads_of_several_stores_share_three_connections(url, store):
    put(opened(store), node("a", "tart"))
    with closing(open_store(url, clock=lambda: NOW)) as other, store.view(WORKSPACE, "ana") as view:
        put(other, node("b", "tart"))
        with other.view(WORKSPACE, "ana") as later:
            assert [len(reading.nodes(["a", "b"])) for reading in (view, later)] == [1, 2]


def test_another_mode_is_refused():
    with pytest.raises(InvalidInput, match="must be 'transaction'"):
        parse("postgresql://host/notes?weftwork_pooler=session")
