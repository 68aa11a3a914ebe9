"""Indexes can be behind, deleted or damaged at any time: a search gives what it always gave."""

import os
import shutil
import signal
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.command import succeed
from tests.depth import DEEP

from weftwork import Node
from weftwork.errors import DimensionError

from .making import EMBEDDER, MODES, QUERIES, answers, opened, pages, start

DAMAGE = {
    "deleted": lambda path, size: path.unlink(),
    "cut in half": lambda path, size: os.truncate(path, size // 2),
    "overwritten with garbage": lambda path, size: path.write_bytes(b"\xa5garbage\x00" * (size // 9 + 2)),
    "replaced by garbage": lambda path, size: replaced(path, b"\xa5garbage\x00" * (size // 9 + 2)),
}
WHILE_CLOSED = ("deleted", "cut in half", "overwritten with garbage")
WHILE_OPEN = ("deleted", "replaced by garbage")
"""Not in place: the kernel kills a process that reads a mapped file behind its new end, whatever is done."""


def replaced(path, data):
    fresh = path.with_name("fresh")
    fresh.write_bytes(data)
    os.replace(fresh, path)


def index_of(path):
    return path.with_name(path.name + ".index")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A closed store with both indexes on disk, and what searches in it give."""
    path = tmp_path_factory.mktemp("indexes") / "store.weft"
    with opened(path) as weft:
        nodes = pages(2_400)
        for first in range(0, len(nodes), 800):
            weft.add(nodes[first : first + 800])
            weft.catch_up()
        found = answers(weft)
        assert all(found.values())
    assert list(index_of(path).rglob("CURRENT")) and list(index_of(path).rglob("meta.json"))
    return path, found


@pytest.fixture
def copied(original, tmp_path):
    """Makes a fresh copy of the store with its indexes, and names all files of these."""

    def copy():
        # In a new folder each time: threads of the index before may still write to theirs.
        path = Path(tempfile.mkdtemp(dir=tmp_path)) / "store.weft"
        shutil.copy(original[0], path)
        shutil.copytree(index_of(original[0]), index_of(path))
        files = (file for file in index_of(path).rglob("*") if file.is_file() and "lock" not in file.name)
        return path, sorted(files)

    return copy


def assert_sound(weft, found):
    """Searches give the same as ever, a new write is found, and its removal is seen."""
    assert answers(weft) == found
    weft.add([Node(id="new", title="zyzzyva", text="zyzzyva")])
    assert all("new" in ids(weft, "zyzzyva", mode) for mode in MODES)
    weft.remove(["new"])
    assert answers(weft) == found


def ids(weft, query, mode="words"):
    return [each.node.id for each in weft.search(query, mode=mode)]


def chosen(count, turn):
    """The files to damage: all of them where there is time, otherwise others for each kind of damage."""
    return range(count) if DEEP else range(turn, count, 5)


@pytest.mark.parametrize("damage", WHILE_CLOSED)
def test_any_file_of_an_index_may_be_damaged_while_the_store_is_closed(original, copied, damage):
    for number in chosen(len(copied()[1]), WHILE_CLOSED.index(damage)):
        path, files = copied()
        DAMAGE[damage](files[number], files[number].stat().st_size)
        with opened(path) as weft:
            assert_answers(weft, original[1], f"{files[number].name} was {damage}")


@pytest.mark.parametrize("damage", WHILE_OPEN)
def test_any_file_of_an_index_may_be_damaged_while_the_store_is_open(original, copied, damage):
    for number in chosen(len(copied()[1]), WHILE_OPEN.index(damage)):
        path, files = copied()
        with opened(path) as weft:
            assert_answers(weft, original[1], "before")
            DAMAGE[damage](files[number], files[number].stat().st_size)
            assert_answers(weft, original[1], f"{files[number].name} was {damage}")
            weft.add([Node(id="new", title="zyzzyva", text="zyzzyva")])
            assert [ids(weft, "zyzzyva", mode)[:1] for mode in MODES] == [["new"]] * 3


def assert_answers(weft, found, when):
    """A few searches, for tests with many rounds."""
    wanted = {key: value for key, value in found.items() if key[0] == QUERIES[0]}
    assert answers(weft, QUERIES[:1]) == wanted, when


@pytest.mark.parametrize("what", ["", "1", "1/words", "1/vectors-hashing-64"])
@pytest.mark.parametrize("is_open", [False, True])
def test_a_folder_of_indexes_may_be_deleted(original, copied, what, is_open):
    path, _ = copied()
    if not is_open:
        shutil.rmtree(index_of(path) / what)
    with opened(path) as weft:
        assert answers(weft) == original[1]
        if is_open:
            shutil.rmtree(index_of(path) / what)
        assert_sound(weft, original[1])


def test_indexes_that_cannot_be_written_are_told_with_what_to_do_and_reads_go_on(original, copied):
    path, _ = copied()
    shutil.rmtree(index_of(path))
    index_of(path).write_text("a file where the folder should be")
    with opened(path) as weft:
        assert weft.search("n00007")[0].node.id == "n00007"
    with start("search", "n00007", "--store", path) as process:
        out, err = process.communicate()
    assert (process.returncode, "n00007" in out) == (0, True)
    assert "store.weft.index" in err and "check that the folder" in err and "Traceback" not in err


def test_several_processes_repair_damaged_indexes_at_once(original, copied):
    path, _ = copied()
    names = ("words/meta.json", "vectors-hashing-64/CURRENT", "words/.managed.json")
    with ExitStack() as stack:
        others = [stack.enter_context(start("answering.py", path, stdin=-1)) for _ in range(4)]
        for turn in range(9):
            replaced(index_of(path) / "1" / names[turn % 3], b"garbage")
            for number, other in enumerate(others):
                other.stdin.write(f"n0000{turn} by{number}turn{turn}\n")
                other.stdin.flush()
            for other in others:
                assert other.stdout.readline().split()[0] == f"n0000{turn}", other.stderr.read()
        for other in others:
            other.stdin.close()
            assert other.wait() == 0, other.stderr.read()
    with opened(path) as weft:
        for word in (f"by{number}turn{turn}" for number in range(4) for turn in range(9)):
            assert ids(weft, word) == [word]


def test_all_files_are_damaged_at_once_and_the_command_says_nothing_of_it(original, copied):
    path, files = copied()
    for file in files:
        replaced(file, b"garbage")
    assert "n00007" in succeed("search", "n00007", "--mode", "words", "--store", path)
    with opened(path) as weft:
        assert answers(weft) == original[1]


def test_a_write_without_its_index_is_found_after_the_store_is_opened_again(tmp_path):
    path = tmp_path / "store.weft"
    with opened(path) as weft:
        weft.add(pages(300))
        weft.catch_up()
    with opened(path) as weft:
        weft.add([Node(id="late", title="zyzzyva", text="zyzzyva")])
        weft.remove(["n00007"])
    with opened(path) as weft:
        assert all("late" in ids(weft, "zyzzyva", mode) for mode in MODES)
        assert "n00007" not in ids(weft, "n00007")


def test_a_write_is_found_after_its_process_was_killed_between_the_commit_and_the_indexes(tmp_path):
    path = tmp_path / "store.weft"
    with opened(path) as weft:
        weft.add(pages(300))
        weft.catch_up()
    process = start("dying.py", path)
    _, err = process.communicate()
    assert process.returncode == -signal.SIGKILL, err
    with opened(path) as weft:
        assert weft.store.check() == []
        assert all("late" in ids(weft, "zyzzyva", mode) for mode in MODES)
        assert "n00007" not in ids(weft, "n00007")


def test_each_process_sees_what_the_other_wrote_in_its_next_search(tmp_path):
    path = tmp_path / "store.weft"
    with opened(path) as weft, start("answering.py", path, stdin=-1) as other:
        for number in range(8):
            here, there = f"here{number}", f"there{number}"
            weft.add([Node(id=here, title=here, text="written here")])
            other.stdin.write(f"{here} {there}\n")
            other.stdin.flush()
            assert other.stdout.readline().split() == [here, here, here]
            assert [ids(weft, there, mode)[0] for mode in MODES] == [there] * 3
        other.stdin.close()
        assert other.wait() == 0, other.stderr.read()


def test_the_order_of_writes_and_catching_up_changes_no_result(tmp_path):
    found = []
    for step in (10, 45, 300):
        with opened(tmp_path / f"by{step}.weft") as weft:
            nodes = pages(300)
            for first in range(0, 300, step):
                weft.add(nodes[first : first + step])
                weft.catch_up()
            found.append(answers(weft))
    assert found[0] == found[1] == found[2]


def test_a_store_that_was_made_anew_does_not_use_the_indexes_of_the_old_one(tmp_path):
    path = tmp_path / "store.weft"
    with opened(path) as weft:
        for node in pages(20):
            weft.add([node])
        weft.catch_up()
    path.unlink()
    with opened(path) as weft:
        weft.add([Node(id="new", title="zyzzyva", text="zyzzyva")])
        assert [ids(weft, "zyzzyva", mode) for mode in MODES] == [["new"]] * 3


@pytest.mark.parametrize("writes", [1, 30], ids=lambda writes: f"{writes} writes later")
def test_a_store_that_was_restored_from_a_backup_does_not_use_newer_indexes(tmp_path, writes):
    path, backup, never = (tmp_path / name for name in ("store.weft", "backup.weft", "never.weft"))
    nodes, later = pages(30), [Node(id=f"x{n}", title=f"x{n}", text="zyzzyva") for n in range(30)]
    with opened(path) as weft:
        weft.add(nodes)
    shutil.copy(path, backup)
    with opened(path) as weft:
        for n in range(10):
            weft.add([Node(id=f"lost{n}", title=f"lost{n}", text="zyzzyva")])
            weft.catch_up()
    shutil.copy(backup, path)
    shutil.copy(backup, never)
    found = []
    for each in (path, never):
        with opened(each) as weft:
            for node in later[:writes]:
                weft.add([node])
            found.append(answers(weft, ["zyzzyva", "x0", "n00007"]))
    assert found[0] == found[1]


def test_a_view_keeps_finding_what_it_sees_while_others_change_it(tmp_path):
    with opened(tmp_path / "store.weft") as weft:
        weft.add([Node(id="a", title="apple", text="apple")])
        with weft.store.view("main", "me") as view:
            weft.remove(["a"])
            weft.search("apple")
            vector = EMBEDDER.embed("apple\napple")
            hits = view.search_words("apple", limit=5) + view.search_vector(vector, model=EMBEDDER.model, limit=5)
            assert {record.node.id for record in view.load([hit.key for hit in hits])} <= {"a"}
            assert [node.id for node in view.nodes(["a"])] == ["a"]


def test_a_vector_of_another_length_spoils_no_later_search(tmp_path):
    path = tmp_path / "store.weft"
    short = EMBEDDER.embed("apple")[:10]
    with opened(path) as weft:
        with weft.store.view("main", "me") as view:
            assert view.search_vector(short, model=EMBEDDER.model, limit=1) == []
        weft.add([Node(id="a", title="apple", text="apple")])
        assert ids(weft, "apple", "vector") == ["a"]
    with opened(path) as weft:
        with weft.store.view("main", "me") as view, pytest.raises(DimensionError):
            view.search_vector(short, model=EMBEDDER.model, limit=1)
        assert ids(weft, "apple", "vector") == ["a"]


@pytest.mark.parametrize("name", ["key.i64", "vectors.f32"])
def test_a_file_of_the_checkpoint_that_keeps_its_size_but_not_its_content_is_noticed(original, copied, name):
    path, files = copied()
    (file,) = (each for each in files if each.name == name)
    data = bytearray(file.read_bytes())
    data[len(data) // 3 : len(data) // 2] = b"\x25" * (len(data) // 2 - len(data) // 3)
    file.write_bytes(data)
    with opened(path) as weft:
        assert answers(weft) == original[1]
