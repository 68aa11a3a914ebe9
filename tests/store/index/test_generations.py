import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from weftwork.store.index.rows import IndexDamaged, Scope
from weftwork.store.index.vectors import VectorIndex
from weftwork.types import Filters

from .vector_rows import DIMENSIONS, PUBLIC, SECRET, SEES_PUBLIC, query, row, vectors

EVERYTHING = {"limit": 10_000, "threshold": -1.0}
FILES = [
    "acl.i32", "by_node.i64", "codes.u64", "confidence.f64", "conversation.i32", "key.i64", "labels.json",
    "node.i64", "tags.i32", "type.i32", "updated.i64", "valid_from.i64", "valid_until.i64", "vectors.f32",
]  # fmt: skip


def opened(folder, model="test", dimensions=DIMENSIONS):
    return VectorIndex(folder, model=model, dimensions=dimensions)


def stored(folder, count=30):
    """An index of so many rows with a checkpoint."""
    index = opened(folder)
    rows = [
        row(key, node=key // 2, type=f"type {key % 3}", tags=("t",) * (key % 2), confidence=key / 100, updated=key)
        for key in range(1, count + 1)
    ]
    index.apply(count, [], rows, vectors(rows))
    assert index.checkpoint()
    return index


def everything(index, scope=SEES_PUBLIC):
    return index.search(query(), scope, **EVERYTHING)


def generations(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_an_index_that_is_opened_again_answers_the_same(tmp_path):
    before = stored(tmp_path)
    before.apply(31, [3, 4], [row(50, node=3)], vectors([row(50)]))
    before.checkpoint()
    after = opened(tmp_path)
    assert (after.seq, len(after)) == (before.seq, len(before)) == (31, 27)
    filters = [
        Filters(),
        Filters(types=frozenset({"type 1"})),
        Filters(tags=frozenset("t")),
        Filters(min_confidence=0.2),
    ]
    for scope in (Scope(frozenset({PUBLIC}), each, frozenset({5})) for each in filters):
        assert everything(after, scope) == everything(before, scope) != []
    assert after.similarities(query(), range(60)) == before.similarities(query(), range(60))


def test_what_was_applied_after_the_checkpoint_is_not_on_disk(tmp_path):
    index = stored(tmp_path)
    index.apply(31, [1], [row(99)], vectors([row(99)]))
    assert (opened(tmp_path).seq, len(opened(tmp_path))) == (30, 30)


def test_an_empty_index_can_be_stored(tmp_path):
    index = stored(tmp_path)
    index.apply(31, range(100), [], {})
    index.checkpoint()
    again = opened(tmp_path)
    assert (len(again), again.seq, everything(again)) == (0, 31, [])
    again.apply(32, [], [row(1)], vectors([row(1)]))
    assert len(again) == 1


def test_labels_that_no_row_has_any_more_are_not_stored(tmp_path):
    index = stored(tmp_path)
    index.apply(31, range(100), [row(1, type="new", acl=SECRET)], vectors([row(1)]))
    index.checkpoint()
    labels = json.loads((tmp_path / "g2" / "labels.json").read_text())
    assert labels == {"acl": [SECRET], "type": ["new"], "conversation": [None], "tags": [[]]}
    assert everything(opened(tmp_path)) == []


@pytest.mark.parametrize(("model", "dimensions"), [("other", DIMENSIONS), ("test", DIMENSIONS + 1)])
def test_an_index_of_another_model_is_not_used_and_is_replaced_by_the_next_checkpoint(tmp_path, model, dimensions):
    stored(tmp_path)
    other = opened(tmp_path, model, dimensions)
    assert (other.seq, len(other)) == (0, 0)
    other.apply(5, [], [row(1)], vectors([row(1)], dimensions=dimensions))
    other.checkpoint()
    assert opened(tmp_path, model, dimensions).seq == 5
    assert opened(tmp_path).seq == 0


def test_an_index_of_another_format_is_not_used(tmp_path):
    stored(tmp_path)
    (tmp_path / "CURRENT").write_text('{"format": 99, "what": "the future holds"}')
    assert (opened(tmp_path).seq, len(opened(tmp_path))) == (0, 0)


# Damage


@pytest.mark.parametrize("name", FILES)
def test_a_missing_or_shortened_file_is_damage(tmp_path, name):
    stored(tmp_path)
    path = tmp_path / "g1" / name
    whole = path.read_bytes()
    for broken in (whole[:-1], whole + b"x", b""):
        path.write_bytes(broken)
        with pytest.raises(IndexDamaged, match=name):
            opened(tmp_path)
    path.unlink()
    with pytest.raises(IndexDamaged, match=name):
        opened(tmp_path)


def test_every_file_of_a_generation_is_checked(tmp_path):
    stored(tmp_path)
    assert sorted(path.name for path in (tmp_path / "g1").iterdir()) == FILES


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": 3}', '{"format": 3, "manifest": {}}', "\xff"])
def test_an_unreadable_current_file_is_damage(tmp_path, content):
    stored(tmp_path)
    (tmp_path / "CURRENT").write_text(content, encoding="latin-1")
    with pytest.raises(IndexDamaged, match="CURRENT"):
        opened(tmp_path)


def test_a_current_file_that_was_changed_is_damage(tmp_path):
    stored(tmp_path)
    current = tmp_path / "CURRENT"
    current.write_text(current.read_text().replace('"seq": 30', '"seq": 31'))
    with pytest.raises(IndexDamaged, match="checksum"):
        opened(tmp_path)


def test_a_generation_that_is_gone_is_damage(tmp_path):
    stored(tmp_path)
    shutil.rmtree(tmp_path / "g1")
    with pytest.raises(IndexDamaged):
        opened(tmp_path)


# Crashes


def test_only_the_current_generation_is_kept(tmp_path):
    index = stored(tmp_path)
    index.checkpoint()
    index.checkpoint()
    assert generations(tmp_path) == ["g3"]


def test_what_a_crash_left_behind_is_ignored_and_then_removed(tmp_path):
    expected = everything(stored(tmp_path))
    shutil.copytree(tmp_path / "g1", tmp_path / "g7")
    (tmp_path / "g7" / "vectors.f32").write_bytes(b"half")
    (tmp_path / "CURRENT.new").write_text("{")
    index = opened(tmp_path)
    assert everything(index) == expected
    index.checkpoint()
    assert generations(tmp_path) == ["g8"]
    assert everything(opened(tmp_path)) == expected


def test_a_checkpoint_that_fails_changes_nothing(tmp_path):
    index = stored(tmp_path)
    index.apply(31, [], [row(99)], vectors([row(99)]))
    (tmp_path / "CURRENT.new").mkdir()
    with pytest.raises(OSError, match=r"CURRENT\.new"):
        index.checkpoint()
    assert (index.seq, len(index), opened(tmp_path).seq) == (31, 31, 30)
    (tmp_path / "CURRENT.new").rmdir()
    assert index.checkpoint()
    assert (opened(tmp_path).seq, generations(tmp_path)) == (31, ["g3"])


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from vector_rows import DIMENSIONS, row, vectors
from weftwork.store.index.vectors import VectorIndex
index = VectorIndex(Path(sys.argv[1]), model="test", dimensions=DIMENSIONS)
while True:
    seq = index.seq + 1
    rows = [row(20 * seq + n, node=seq) for n in range(20)]
    index.apply(seq, [seq - 5], rows, vectors(rows))
    print("storing", seq, flush=True)
    index.checkpoint()
    print("stored", seq, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="kills with SIGKILL")
def test_a_process_that_is_killed_while_storing_leaves_a_whole_generation(tmp_path):
    known = 0
    for attempt in range(6):
        command = [sys.executable, "-c", CHILD, str(tmp_path), str(Path(__file__).parent)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            for _ in range(2 * attempt + 1):
                said, seq = child.stdout.readline().split()
                known = int(seq) if said == "stored" else known
            assert said == "storing"
            child.send_signal(signal.SIGKILL)
            told = [line.split() for line in child.stdout]
            known = max([known, *(int(seq) for said, seq in told if said == "stored")])
        index = opened(tmp_path)
        assert index.seq >= known
        nodes = range(max(index.seq - 4, 1), index.seq + 1)
        assert sorted(key for key, _ in everything(index)) == [20 * node + n for node in nodes for n in range(20)]


# Several processes and threads


def test_a_checkpoint_gives_way_to_another_process_that_is_storing(tmp_path):
    index = stored(tmp_path)
    index.apply(31, [], [row(99)], vectors([row(99)]))
    with FileLock(tmp_path / "lock"):
        assert not index.checkpoint()
    assert (index.seq, len(index), opened(tmp_path).seq) == (31, 31, 30)
    assert index.checkpoint()
    assert opened(tmp_path).seq == 31


@pytest.mark.skipif(os.name == "nt", reason="open maps cannot be removed there")
def test_an_open_index_works_on_after_its_generation_was_removed(tmp_path):
    reader = opened(tmp_path) if stored(tmp_path) else None
    expected = everything(reader)
    writer = opened(tmp_path)
    writer.apply(31, range(100), [], {})
    writer.checkpoint()
    assert generations(tmp_path) == ["g2"]
    assert everything(reader) == expected


def test_opening_while_another_index_is_stored_always_finds_a_whole_one(tmp_path):
    writer = stored(tmp_path)
    done = threading.Event()

    def reopen():
        seen = []
        while not done.is_set() or not seen:
            seen.append(len(opened(tmp_path)))
        return set(seen)

    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(reopen) for _ in range(2)]
        for _ in range(8):
            writer.checkpoint()
        done.set()
        assert [each.result() for each in found] == [{30}, {30}]


def test_a_search_sees_all_of_a_change_or_nothing_of_it(tmp_path):
    index = opened(tmp_path)
    done = threading.Event()

    def versions():
        seen = 0
        while not done.is_set():
            assert seen <= (seen := index.seq)
            found = [key for key, _ in everything(index)]
            assert len({key // 100 for key in found}) <= 1
            assert len(found) in (0, 10)
            assert len(index.similarities(query(), range(100, 6_200))) in (0, 10)

    def store():
        while not done.is_set():
            index.checkpoint()

    with ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(work) for work in (versions, versions, versions, store)]
        for version in range(1, 61):
            rows = [row(100 * version + n, node=n) for n in range(10)]
            index.apply(version, range(10), rows, vectors(rows))
        done.set()
        for task in tasks:
            task.result()
    assert sorted(key for key, _ in everything(index)) == list(range(6_000, 6_010))
    index.checkpoint()
    assert everything(opened(tmp_path)) == everything(index)


def test_nothing_that_is_applied_during_a_checkpoint_is_lost(tmp_path):
    index, expected = opened(tmp_path), opened(None)
    done = threading.Event()

    def store():
        while not done.is_set():
            index.checkpoint()

    with ThreadPoolExecutor(1) as pool:
        storing = pool.submit(store)
        for seq in range(1, 200):
            rows = [row(3 * seq + n, node=seq, acl=PUBLIC + seq % 2, type=f"type {seq}") for n in range(3)]
            for each in (index, expected):
                each.apply(seq, [seq * 7 % 50], rows, vectors(rows))
        done.set()
        storing.result()
    assert (everything(index), index.seq) == (everything(expected), 199)
    later = Scope(frozenset({PUBLIC, SECRET}), Filters(types=frozenset({"type 190", "type 191"})))
    assert everything(index, later) == everything(expected, later) != []


# When to store


def test_a_checkpoint_is_due_when_a_fifth_has_changed_and_two_thousand_rows_at_least(tmp_path):
    rows = [row(key, digest="same") for key in range(1, 12_001)]
    same = {"same": query()}
    index = opened(tmp_path)
    index.apply(1, [], rows[:2_000], same)
    assert not index.should_checkpoint
    index.apply(2, [], rows[2_000:], same)
    assert index.should_checkpoint
    index.checkpoint()
    assert not index.should_checkpoint
    index.apply(3, range(1, 2_201), rows[:200], same)
    assert not index.should_checkpoint
    index.apply(4, [2_201], [], {})
    assert index.should_checkpoint


def test_a_checkpoint_of_an_index_without_a_folder_drops_its_dead_rows():
    index = opened(None)
    index.apply(1, [], [row(key, digest="same") for key in range(1, 3_001)], {"same": query()})
    index.apply(2, range(1, 3_000), [], {})
    assert index.should_checkpoint
    assert index.checkpoint()
    assert not index.should_checkpoint
    assert (index.seq, everything(index)) == (2, [(3_000, 1.0)])
