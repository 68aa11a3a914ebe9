"""Many processes and many threads on one store."""

import json
import os
import random
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.command import run
from tests.depth import DEEP, some

from weftwork import Node, Weft

from .making import EMBEDDER, answers, contents, opened, start

ROUNDS = os.environ.get("WEFTWORK_SOAK_ROUNDS", str(some(1200, part=8)))
"""Writes of each of two processes, beside which others read."""
AT_ONCE = 10 if DEEP else 4
"""Processes that begin together."""
PRIVATE = ("closed-a", "closed-b")


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "busy.weft"
    with opened(path) as weft:
        for user, groups in (("ana", ("crew",)), ("ben", ("crew",)), ("guest", ())):
            weft.add_user(user, groups=groups)
        closed = frozenset({"ana"})
        weft.add(
            [Node(id=name, title=name, type="folder") for name in ("open-a", "open-b")]
            + [Node(id=name, title=name, type="folder", access=closed) for name in PRIVATE]
            + [Node(id="anchor", title="anchorage", text="harbour plans anchorage " * 8, type="page")]
        )
    return path


def test_two_writers_and_four_readers_lose_nothing_and_show_nothing_private(store):
    done = store.with_name("done")
    readers = [start("reading.py", store, user, done) for user in ("ana", "ben", "guest", "guest")]
    writers = [start("writing.py", store, name, ROUNDS) for name in ("one", "two")]
    ended = [(process.args[2:], *process.communicate(), process.returncode) for process in writers]
    done.touch()
    ended += [(process.args[2:], *process.communicate(), process.returncode) for process in readers]
    failed = [f"{args}: exit code {code}\n{err}" for args, _, err, code in ended if code or err]
    assert not failed, "\n\n".join(failed)
    written = [json.loads(out) for _, out, _, _ in ended[:2]]
    looked = {tuple(args): tuple(map(int, out.split())) for args, out, _, _ in ended[2:]}
    assert all(rounds > 0 for rounds, _ in looked.values())
    assert all(len(each["nodes"]) > 5 and each["removed"] for each in written)
    with opened(store) as weft:
        assert weft.store.check() == []
        for each in written:
            assert_kept(weft, each)
        assert set(contents(weft, "ana")) == {"anchor", "open-a", "open-b", *PRIVATE}.union(
            *(each["nodes"] for each in written)
        )
        before = answers(weft, ["harbour plans", "sealed-mark"])
    shutil.rmtree(store.with_name(store.name + ".index"))
    with opened(store) as weft:
        assert answers(weft, ["harbour plans", "sealed-mark"]) == before


def assert_kept(weft, written):
    """What a writer was told is written is there, is found by words and by vector, and is seen by whom it may."""
    nodes, removed = written["nodes"], written["removed"]
    assert written["users"] and set(written["users"]) <= weft.store.users("main").keys()
    with weft.store.view("main", "ana") as view:
        kept = {node.id: [node.parent, node.text, node.access and sorted(node.access)] for node in view.nodes([*nodes])}
        assert kept == nodes
        assert view.nodes(removed) == []
        for name in nodes:
            assert found(view, view.search_words(name.replace("-", ""), limit=1)) == [name]
            vector = EMBEDDER.embed(f"Plan {name.replace('-', '')}\n{nodes[name][1]}")
            (key,) = view.passages([name])[name]
            assert view.similarities(vector, [key], model=EMBEDDER.model)[key] > 0.9999
        # Many plans share a vector of 64 dimensions: only as many hits as there are plans are sure to hold each.
        everyone = view.search_vector(vector, model=EMBEDDER.model, limit=10**6, threshold=-1.0)
        assert set(nodes) <= set(found(view, everyone))
        for name in removed:
            assert name not in found(view, view.search_words(name.replace("-", ""), limit=3))
    assert visible(weft, "guest", nodes) == {
        name for name, (parent, _, access) in nodes.items() if access is None and parent not in PRIVATE
    }
    assert visible(weft, "ben", nodes) == {
        name for name, (parent, _, access) in nodes.items() if access != ["ana"] and parent not in PRIVATE
    }


def found(view, hits):
    return [record.node.id for record in view.load([hit.key for hit in hits])]


def visible(weft, user, names):
    with weft.store.view("main", user) as view:
        return {node.id for node in view.nodes([*names])}


def test_eight_threads_share_one_weft(store):
    with opened(store) as weft:

        def work(number):
            chosen, kept = random.Random(number), {}
            for step in range(12):
                name, word = f"t{number}-{step}", f"t{number}s{step}"
                node = Node(id=name, title=f"Thread {word}", text=f"harbour {word}", type="page", parent="open-a")
                weft.add([node])
                kept[name] = word
                assert [each.node.id for each in weft.search(word, user="guest", mode="words")][:1] == [name]
                assert weft.context(f"harbour {word}", user="ben", budget=300).tokens <= 300
                assert weft.node(name).text == node.text
                if chosen.random() < 0.3:
                    gone = chosen.choice(sorted(kept))
                    assert weft.remove([gone]) == 1
                    del kept[gone]
                elif chosen.random() < 0.5:
                    with weft.atomic() as batch:
                        batch.move(chosen.choice(sorted(kept)), "open-b")
                weft.stats(user="ana")
            return kept

        with ThreadPoolExecutor(8) as pool:
            kept = {name: word for each in pool.map(work, range(8)) for name, word in each.items()}
        assert weft.store.check() == []
        assert {name for name in contents(weft) if name.startswith("t")} == kept.keys()
        for name, word in kept.items():
            assert [each.node.id for each in weft.search(word, mode="words")] == [name]
            assert name in {each.node.id for each in weft.search(f"Thread {word}\nharbour {word}", mode="vector")}


def test_a_text_that_another_writer_removes_while_it_is_added_keeps_its_vector(store):
    class RemovesMeanwhile:
        """Another process that removes the only node with the same text while this one embeds."""

        model, dimensions = EMBEDDER.model, EMBEDDER.dimensions

        def embed(self, text):
            return EMBEDDER.embed(text)

        def embed_batch(self, texts):
            with opened(store) as other:
                other.remove(["first"])
            return EMBEDDER.embed_batch(texts)

    with opened(store) as weft:
        weft.add([Node(id="first", title="Shared", text="the very same text")])
    with Weft.open(store, embedder=RemovesMeanwhile()) as weft:
        weft.add([Node(id="second", title="Shared", text="the very same text"), Node(id="third", title="x", text="y")])
        found = weft.search("Shared the very same text", mode="vector", limit=1)
    assert [each.node.id for each in found] == ["second"]


def test_a_store_opens_while_another_process_makes_it(tmp_path):
    path = tmp_path / "new.weft"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as threads:
        opening = threads.submit(opened, path)
        with pytest.raises(TimeoutError):
            opening.result(timeout=0.2)
        other.execute("COMMIT")
        with opening.result() as weft:
            assert weft.store.workspaces() == ["main"]
    other.close()


def test_many_processes_open_a_new_store_at_once(tmp_path):
    for attempt in range(some(3)):
        path, gate = tmp_path / f"new{attempt}.weft", tmp_path / f"gate{attempt}"
        openers = [start("opening.py", path, gate) for _ in range(AT_ONCE)]
        for opener in openers:
            assert opener.stdout.readline() == "ready\n"
        gate.touch()
        ended = [(*opener.communicate(), opener.returncode) for opener in openers]
        assert [each for each in ended if each[1] or each[2]] == []
        with opened(path) as weft:
            assert weft.store.workspaces() == ["main"]
            assert weft.store.users("main") == {"me": ()}
            assert weft.store.check() == []


def test_many_commands_create_a_store_at_once(tmp_path):
    path = tmp_path / "new.weft"
    commands = [start("init", path) for _ in range(AT_ONCE)]
    ended = [(*command.communicate(), command.returncode) for command in commands]
    assert [each for each in ended if each[1] or each[2]] == []
    assert run("doctor", "--store", path)[0] == 0
