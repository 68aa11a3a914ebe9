"""Loss and hindrance around a store: each is told, and what can be read is read."""

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from filelock import FileLock

from weftwork import Node, Weft
from weftwork.errors import StoreError
from weftwork.faces.memory import Memories
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import connection, index_sync


def opened(path):
    return Weft.open(path, embedder="hashing", clock=lambda: NOW)


@pytest.fixture
def store(tmp_path):
    """A store whose indexes are up to date."""
    with opened(tmp_path / "notes.weft") as weft:
        weft.add([Node(id="n1", title="Quince", text="Quince jam.")])
        weft.catch_up()
    return tmp_path / "notes.weft"


def lose_the_log(store):
    """Write more, index it, and lose the write-ahead log in a crash."""
    with opened(store) as weft:
        weft.add([Node(id="n2", title="Plum", text="Plum jam.")])
        weft.catch_up()
        lost = store.with_name("lost")
        shutil.copytree(store.parent, lost, ignore=shutil.ignore_patterns("*-wal", "*-shm", "lost"))
    return lost / store.name


@pytest.mark.parametrize("searched_first", [False, True])
def test_a_lost_log_is_told_until_it_is_accepted(store, monkeypatch, searched_first):
    monkeypatch.setattr("weftwork.store.sqlite.connection.CHECKPOINT_SECONDS", 3600)
    with opened(lose_the_log(store)) as weft:
        assert [hit.node.id for hit in weft.search("jam")] == ["n1"] if searched_first else True
        (problem,) = weft.store.check()
        assert "-wal was lost" in problem
        weft.catch_up()
        assert weft.store.check() == [problem]
        weft.add([Node(id="n3", text="Pear jam.")])
        assert weft.store.check() == [problem]
        weft.store.accept_loss()
        assert weft.store.check() == []
        assert {hit.node.id for hit in weft.search("jam")} == {"n1", "n3"}


def test_an_index_that_another_process_holds_does_not_stop_reads(store, monkeypatch, caplog):
    monkeypatch.setattr(index_sync, "LOCK_SECONDS", 0.05)
    with FileLock(store.with_name("notes.weft.index") / "1" / "lock"), opened(store) as weft:
        assert [hit.node.id for hit in weft.search("jam")] == ["n1"]
        weft.add([Node(id="n2", text="Plum jam.")])
        assert {hit.node.id for hit in weft.search("jam")} == {"n1", "n2"}
        assert "others are made for now" in caplog.text


def test_a_full_disk_refuses_writes_in_clear_words_loses_nothing_and_does_not_stop_reads(store, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr(connection, "PRAGMAS", (*connection.PRAGMAS, "max_page_count = 1"))  # the pages it has
        with opened(store) as weft:
            with pytest.raises(StoreError, match="full"):
                weft.add([Node(id="n2", title="Plum", text="Plum jam. " * 20_000)])
            assert [hit.node.id for hit in weft.search("jam")] == ["n1"]
            assert "Quince jam" in weft.context("jam").text
    with opened(store) as weft:
        weft.add([Node(id="n2", title="Plum", text="Plum jam.")])
        assert {hit.node.id for hit in weft.search("jam")} == {"n1", "n2"}
        assert weft.store.check() == []


def test_an_index_folder_that_cannot_be_written_does_not_stop_reads(store):
    folder = store.with_name("notes.weft.index")
    shutil.rmtree(folder)
    folder.write_text("in the way")
    with opened(store) as weft:
        assert [hit.node.id for hit in weft.search("jam")] == ["n1"]
        assert "Quince jam" in weft.context("jam").text


def test_a_process_that_is_open_does_not_write_into_newer_tables(store):
    with opened(store) as weft:
        with closing(sqlite3.connect(store)) as newer, newer:
            newer.execute("CREATE TABLE later (x)")
            newer.execute("INSERT INTO migrations VALUES ('0009_later')")
        with pytest.raises(StoreError, match="newer version"):
            weft.add([Node(id="n2")])
        assert [hit.node.id for hit in weft.search("jam")] == ["n1"]


def test_a_clock_that_goes_back_loses_nothing_and_is_right_again_later(tmp_path):
    moment = [NOW]
    where: Any = {"user": "me", "workspace": "main"}
    with Weft.open(tmp_path / "notes.weft", embedder="hashing", clock=lambda: moment[0]) as weft:
        memories = Memories(weft)
        tea = memories.remember("I like green tea.", **where)
        thread = weft.threads.create("Talk", **where).id
        weft.turn(thread, "which tea do I like?", budget=800, **where)
        before = weft.context("tea", **where).text
        moment[0] = NOW - timedelta(days=400)
        weft.add([Node(id="n", type="page", title="Pot", text="The tea pot leaks.")])
        memories.revise(tea.id, "I like black tea.", **where)
        weft.reply(thread, "Black tea.", **where)
        weft.feedback("n", True, **where)
        assert "leaks" in weft.context("tea pot", **where).text
        assert weft.store.check() == []
        moment[0] = NOW + timedelta(days=1)
        assert [memory.content for memory in memories.list(**where)] == ["I like black tea."]
        assert [said.text for said in weft.threads.messages(thread, **where)] == ["which tea do I like?", "Black tea."]
        after = weft.context("tea", **where).text
        assert "green" in before and "green" not in after and "black" in after and "leaks" in after
