"""Several processes on one database: they write and read together, and embed together; one is killed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.depth import DEEP, some

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.store.postgres.schema import MIGRATIONS

HERE = Path(__file__).parent
WRITES = os.environ.get("WEFTWORK_TOGETHER_WRITES", str(some(60, part=6)))
"""Writes of each process beside the others; set the variable for more or less."""
AT_ONCE = 10 if DEEP else 4
"""Processes that begin together."""
NAMES = ("ana", "ben", "cem", "dora")


@pytest.fixture
def address(server):
    """The address of a new database, which is gone after the test."""
    name = f"together_{os.urandom(4).hex()}"
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {name}")
    yield server.url(name, weftwork_pool=4)
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"DROP DATABASE {name} WITH (FORCE)")


def start(*words, **more):
    own = {name: value for name, value in os.environ.items() if not name.startswith("WEFTWORK_")}
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        "env": own | {"WEFTWORK_EMBEDDER": "hashing"},
    }
    return subprocess.Popen([sys.executable, *map(str, words)], **(pipes | more))


def asked(address, query):
    with psycopg.connect(address.partition("&weftwork")[0], autocommit=True) as owner:
        return owner.execute(query).fetchall()


def test_four_processes_lose_no_write_and_see_each_others_at_once(address):
    with Weft.open(address, embedder="hashing") as weft:
        weft.add([Node(id=name, title=name) for name in ("shared", *NAMES)])
        version = weft.store.version("main")
        processes = [start(HERE / "taking_part.py", address, name, WRITES) for name in NAMES]
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        told = [json.loads(process.communicate()[0]) for process in processes]
        assert [each["errors"] for each in told] == [[], [], [], []]
        assert sum(each["seen"] for each in told) > len(NAMES)
        written = sum(each["written"] for each in told)
        assert weft.store.version("main") == version + 2 * written
        with weft.store.view("main", "me") as view:
            assert view.usage(["shared"])["shared"].used == written
            for each in told:
                assert len(view.children(each["name"], 10_000)) == each["written"]
        assert weft.store.check() == []


def test_processes_that_start_at_once_on_an_empty_database_all_find_it_ready(address, tmp_path):
    words = ("-m", "weftwork.cli", "init", address)
    processes = [start(*words, stdin=subprocess.DEVNULL, cwd=tmp_path) for _ in range(AT_ONCE)]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0] * AT_ONCE
    done = asked(address, "SELECT name FROM weftwork.migrations ORDER BY name")
    assert [row[0] for row in done] == sorted(MIGRATIONS)
    assert asked(address, "SELECT name FROM weftwork.directory") == [("main",)]


def test_workers_share_the_texts_and_take_over_what_a_killed_one_had(address, tmp_path):
    for number in range(60):
        words = " ".join(f"word{number}x{each}" for each in range(20))
        (tmp_path / f"{number:02}.md").write_text(f"# Note {number}\n\n{words}\n", encoding="utf-8")
    (tmp_path / "60.md").write_text((tmp_path / "00.md").read_text(encoding="utf-8"), encoding="utf-8")
    Weft.open(address, embedder=None).close()
    added = start("-m", "weftwork.cli", "add", "--embed", "later", "--no-mentions", tmp_path, "--store", address)
    added.communicate()
    assert added.returncode == 0
    with Weft.open(address, embedder="hashing") as weft:
        assert asked(address, "SELECT count(*) FROM weftwork.embeddings") == [(0,)]
        assert weft.search("word7x3", mode="words")[0].passage.text.startswith("word7x0")
        model = HashingEmbedder().model
        texts = weft.store.waiting("main", model)
        worker = (
            "-m",
            "weftwork.cli",
            "worker",
            "--once",
            "--batch",
            "5",
            "--poll",
            "0.05",
            "--json",
            "--store",
            address,
        )
        with psycopg.connect(address.partition("&weftwork")[0]) as owner:
            # Whoever has embedded a batch waits for this before it can write: the one that is killed has a batch then.
            owner.execute("SELECT 1 FROM weftwork.directory FOR UPDATE")
            doomed = start(*worker)
            while not asked(address, "SELECT 1 FROM pg_locks WHERE NOT granted"):
                assert doomed.poll() is None
                time.sleep(0.02)
            free = asked(address, "SELECT digest FROM weftwork.waiting FOR UPDATE SKIP LOCKED")
            assert len(free) == texts - 5
            doomed.kill()
            doomed.communicate()
        assert weft.store.waiting("main", model) == texts
        others = [start(*worker) for _ in range(2)]
        lines = [json.loads(line) for each in others for line in each.communicate()[0].splitlines()]
        assert [each.returncode for each in others] == [0, 0]
        assert sum(line.get("embedded", 0) for line in lines) == texts
        assert weft.store.waiting("main", model) == 0
        bare = "SELECT key FROM weftwork.passages EXCEPT SELECT key FROM weftwork.embeddings"
        assert asked(address, bare) == []
        query = (tmp_path / "07.md").read_text(encoding="utf-8").partition("\n\n")[2]
        assert weft.search(query, mode="vector")[0].passage.text.startswith("word7x0")
        assert weft.store.check() == []
