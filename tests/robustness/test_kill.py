"""A process that is killed at any moment loses at most the batch that it was writing."""

import random
import shutil
import signal
import sqlite3
import time
from contextlib import closing

import pytest
from tests.command import run, succeed
from tests.depth import some

from weftwork.ingest.load import BATCH

from .making import answers, contents, opened, start, values, write_lines

KILLS, KILLS_OF_INDEXES = some(30, part=10), some(6)
TOTAL = 20 * BATCH
IDS = [each["id"] for each in values(TOTAL)]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("kill") / "big.jsonl", values(TOTAL))


@pytest.fixture(scope="module")
def empty(source):
    path = source.with_name("empty.weft")
    succeed("init", path)
    return path


@pytest.fixture(scope="module")
def whole(source, empty):
    """A store whose writing was never interrupted, and how long that took: only to know when to kill."""
    path = source.with_name("whole.weft")
    shutil.copy(empty, path)
    begun = time.monotonic()
    with start("add", source, "--store", path) as process:
        _, err = process.communicate()
    assert process.returncode == 0, err
    with opened(path) as weft:
        return contents(weft), answers(weft, ["n00000", *IDS[::500], "amberstone birchwater"]), time.monotonic() - begun


def kill_once(source, path, wait):
    """Start adding, and kill it when `wait` returns; False if it had ended before."""
    process = start("add", source, "--store", path)
    try:
        wait(process)
        process.send_signal(signal.SIGKILL)
    finally:
        _, err = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), err
    return process.returncode == -signal.SIGKILL


def written(path):
    """How many nodes another process has committed so far."""
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM nodes").fetchone()
    return int(count)


def first_nodes(path, whole):
    """Check a store that was left behind, and count its nodes: the first ones of the file, unharmed."""
    with opened(path) as weft:
        assert weft.store.check() == []
        found = contents(weft)
        count = len(found)
        assert count % BATCH == 0
        assert found == {name: whole[name] for name in IDS[:count]}
        with weft.store.view("main", "me") as view:
            keys = view.passages(IDS, limit=100)
            assert keys.keys() == found.keys()
            digests = [record.passage.digest for record in view.load([key for each in keys.values() for key in each])]
            assert view.counts()["passages"] == len(digests)
        assert weft.store.unchecked_vectors("main", weft.tools.embedder.model, digests) == set(digests)
    return count


def test_kills_leave_whole_batches_and_the_next_run_completes_them(source, empty, whole, tmp_path):
    nodes, found, seconds = whole
    chosen, path = random.Random(30), tmp_path / "killed.weft"
    shutil.copy(empty, path)
    kills, counts, attempts, count = 0, set(), 0, 0
    while kills < KILLS:
        attempts += 1
        assert attempts < 10 * KILLS, "the command ends before it can be killed"
        if attempts % 3 == 0:  # at any moment, the first ones before anything is written
            wait = moment(chosen.uniform(0.0, 0.5) * seconds)
        else:  # soon after a commit, so that many states are hit however fast the machine is
            wait = commits(path, count + chosen.randint(1, 3) * BATCH, chosen.uniform(0.0, 0.02) * seconds)
        killed = kill_once(source, path, wait)
        count = first_nodes(path, nodes)
        counts.add(count)
        kills += killed
        if not killed or count == TOTAL:
            restart(empty, path)
            count = 0
    assert len(counts) > min(5, KILLS // 3), f"kills hit only these states: {counts}"
    complete(source, path, nodes, found)


def moment(delay):
    return lambda _: time.sleep(delay)


def commits(path, target, delay):
    """Wait until `target` nodes are committed, and a moment more."""

    def wait(process):
        while process.poll() is None and written(path) < target:
            time.sleep(0.002)
        time.sleep(delay)

    return wait


def test_kills_while_the_indexes_are_written_leave_indexes_that_the_next_search_completes(source, whole, tmp_path):
    nodes, found, seconds = whole
    unindexed = source.with_name("whole.weft")
    chosen, path = random.Random(31), tmp_path / "indexed.weft"
    words = tmp_path / "indexed.weft.index" / "1" / "words"
    kills, attempts = 0, 0
    while kills < KILLS_OF_INDEXES:
        attempts += 1
        assert attempts < 40, "the command ends before it can be killed"
        restart(unindexed, path)

        delay = chosen.uniform(0.0, 0.25) * seconds

        def wait(process, delay=delay):
            while process.poll() is None and not words.exists():
                time.sleep(0.002)
            time.sleep(delay)

        kills += kill_once(source, path, wait)
        assert first_nodes(path, nodes) == TOTAL
        with opened(path) as weft:
            assert answers(weft, [query for query, _ in found]) == found
    complete(source, path, nodes, found)


def restart(store, path):
    """Begin again with a copy of a closed store, without its indexes."""
    shutil.rmtree(path.with_name(path.name + ".index"), ignore_errors=True)
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.copy(store, path)


def complete(source, path, nodes, found):
    """Run to the end: everything is there once, and is found as in a store that was never interrupted."""
    succeed("add", source, "--store", path)
    with opened(path) as weft:
        assert weft.store.check() == []
        assert contents(weft) == nodes
        assert weft.stats()["nodes"] == TOTAL
        assert answers(weft, [query for query, _ in found]) == found
    code, out, _ = run("add", source, "--store", path)
    assert (code, out) == (0, f"read {TOTAL} nodes: 0 new or changed, 0 edges, 0 skipped\n")
