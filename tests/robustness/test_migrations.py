"""Opening files that are new, old, newer, half made, or no stores at all."""

import hashlib
import os
import re
import sqlite3
from typing import Any

import pytest
from tests.command import run

from weftwork.errors import StoreError
from weftwork.store.sqlite.schema import APPLICATION_ID, MIGRATIONS, migrate

from .making import EMBEDDER, opened, pages, state


def rows(path, query):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def write(path, *statements):
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()


def tables(path):
    return {row[0] for row in rows(path, "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store.weft"
    with opened(path) as weft:
        weft.add(pages(10))
        weft.catch_up()
    return path


def test_a_new_store_has_each_migration_on_record(store):
    assert [row[0] for row in rows(store, "SELECT name FROM migrations ORDER BY name")] == sorted(MIGRATIONS)
    assert rows(store, "PRAGMA application_id") == [(APPLICATION_ID,)]


@pytest.mark.parametrize("known", [0, 1], ids=["a new file", "a file of the first release"])
def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path, monkeypatch, known):
    path = tmp_path / "half.weft"
    monkeypatch.setitem(MIGRATIONS, "0002_later", "CREATE TABLE later (x);\nCREATE INDEX later_x ON later (x);")
    order = list(MIGRATIONS)
    last = re.findall(r"CREATE (?:TABLE|INDEX) (\w+)", MIGRATIONS[order[known]])[-1]
    # Something with the name of the last thing that it makes is in its way: all of the migration is undone.
    before = order[:known]
    made(path, before)
    write(path, f"CREATE TABLE {last} (in_the_way)")
    found = tables(path)
    with pytest.raises(StoreError, match=f"half.weft.*{last}"):
        opened(path)
    assert tables(path) == found
    assert [row[0] for row in rows(path, "SELECT name FROM migrations ORDER BY name")] == before
    write(path, f"DROP TABLE {last}")
    with opened(path) as weft:
        assert weft.store.check() == []
    assert [row[0] for row in rows(path, "SELECT name FROM migrations ORDER BY name")] == order


def test_a_later_migration_keeps_what_is_stored(store, monkeypatch):
    monkeypatch.setitem(MIGRATIONS, "0002_later", "ALTER TABLE nodes ADD COLUMN later INTEGER;")
    with opened(store) as weft:
        assert weft.add(pages(10)).nodes == 0
        assert weft.store.check() == []
    assert rows(store, "SELECT DISTINCT later FROM nodes") == [(None,)]


def made(path, names):
    """A store as an earlier Weftwork left it, which knew only these migrations."""
    write(
        path,
        f"PRAGMA application_id = {APPLICATION_ID}",
        "CREATE TABLE migrations (name TEXT PRIMARY KEY) STRICT",
    )
    connection = sqlite3.connect(path)
    try:
        for name in names:
            connection.executescript(MIGRATIONS[name])
            connection.execute("INSERT INTO migrations VALUES (?)", (name,))
        connection.commit()
    finally:
        connection.close()


def test_a_file_that_was_left_before_its_first_table_is_used(tmp_path):
    path = tmp_path / "begun.weft"
    made(path, [])
    with opened(path) as weft:
        weft.add(pages(3))
        assert [each.node.id for each in weft.search("n00002", mode="words")] == ["n00002"]


def test_migrating_twice_changes_nothing(store):
    before = state(store)
    connection = sqlite3.connect(store, isolation_level=None)
    try:
        migrate(connection, str(store))
    finally:
        connection.close()
    assert state(store) == before


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(store):
    write(store, "INSERT INTO migrations VALUES ('9999_from_the_future')")
    before = state(store)
    with pytest.raises(
        StoreError, match=r"newer version of Weftwork \(9999_from_the_future\): upgrade with  pip install"
    ):
        opened(store)
    for command in (["search", "x"], ["add", store.parent], ["init", store], ["doctor"]):
        code, out, err = run(*command, *(() if command[0] == "init" else ("--store", store)))
        assert (code, out) == (1, "")
        assert "9999_from_the_future" in err and "pip install -U weftwork" in err and "Traceback" not in err
    assert state(store) == before


DAMAGED = {
    "random bytes": lambda store: os.urandom(20_000),
    "a few bytes": lambda store: b"weftwork!",
    "a text": lambda store: b"# Notes\n\nNothing here is a database.\n" * 40,
    "half of a store": lambda store: store[: len(store) // 2],
    "the first page of a store": lambda store: store[:4096],
    "a store with a garbled beginning": lambda store: b"\0" * 64 + store[64:],
    "a store with a garbled schema": lambda store: store[:100] + b"\xff" * 3996 + store[4096:],
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_file_is_refused_and_left_as_it_is(store, kind):
    path = store.with_name("damaged.weft")
    path.write_bytes(DAMAGED[kind](store.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(
        StoreError, match=r"damaged\.weft is damaged or not a Weftwork store .*: restore it from a backup"
    ):
        opened(path)
    code, out, err = run("search", "x", "--store", path)
    assert (code, out) == (1, "")
    assert "restore it from a backup" in err and "Traceback" not in err
    assert path.read_bytes() == before
    assert not path.with_name("damaged.weft-wal").exists()


def test_the_database_of_another_program_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "other.db"
    write(path, "CREATE TABLE albums (title)", "INSERT INTO albums VALUES ('Blue')")
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(StoreError, match=r"other\.db is a database of another program: choose another file"):
        opened(path)
    code, out, err = run("init", path)
    assert (code, out) == (1, "")
    assert "another program" in err and "Traceback" not in err
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert rows(path, "PRAGMA journal_mode") == [("delete",)]
    assert [each.name for each in tmp_path.iterdir()] == ["other.db"]


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "empty.weft"
    path.touch()
    with opened(path) as weft:
        assert weft.store.workspaces() == ["main"]


@pytest.mark.parametrize("place", ["", "no/such/folder/notes.weft"], ids=["a folder", "in a folder that is missing"])
def test_a_place_where_no_file_can_be_is_told(tmp_path, place):
    with pytest.raises(StoreError, match="check that the folder exists and may be written to"):
        opened(tmp_path / place)
    code, out, err = run("init", tmp_path / place)
    assert (code, out) == (1, "")
    assert "check that the folder exists" in err and "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_file_that_may_not_be_written_to_is_told(store):
    store.chmod(0o400)
    store.parent.chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"store\.weft"), opened(store) as weft:
            weft.add(pages(1))
    finally:
        store.parent.chmod(0o700)


def test_a_store_that_is_not_there_is_not_made_by_a_search(tmp_path):
    path = tmp_path / "missing.weft"
    code, out, err = run("search", "x", "--store", path)
    assert (code, out) == (1, "")
    assert "missing.weft does not exist: create it with  weftwork init" in err
    assert list(tmp_path.iterdir()) == []


def test_settings_that_are_wrong_make_no_store(tmp_path):
    from weftwork import Weft
    from weftwork.errors import UnknownName

    wrongs: tuple[dict[str, Any], ...] = ({"tokenizer": "abacus"}, {"embedder": "oracle"})
    for wrong in wrongs:
        with pytest.raises(UnknownName, match="use one of"):
            Weft.open(tmp_path / "new.weft", **({"embedder": EMBEDDER} | wrong))
    assert list(tmp_path.iterdir()) == []
