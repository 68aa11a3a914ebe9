"""Backups of a store that is in use: whole or not there, verified, and put back."""

import json
import shutil
import sqlite3
import stat
import threading
from contextlib import closing

import pytest

from weftwork import Node, Weft
from weftwork.errors import InvalidInput, NotFound, StoreError
from weftwork.server.keys import make_key
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite.backup import back_up, read_manifest, restore, verify


@pytest.fixture
def weft(tmp_path):
    """An open store with a key, and a document whose page has a picture."""
    with Weft.open(tmp_path / "notes.weft", embedder="hashing", clock=lambda: NOW) as opened:
        opened.add([Node(id=f"n{n}", title=f"Note {n}", text=f"Quince jam number {n}.") for n in range(500)])
        make_key(opened.store, user="me", workspaces=["main"], scope="read", now=NOW)
        files = opened.store.files("main")
        with files.incoming("doc") as incoming:
            incoming.write("page-0001.jpg", b"picture")
            with files.published("doc", "1-a", incoming):
                page = files.relative("doc", "1-a", "page-0001.jpg")
                pages = [Node(id="doc", type="document"), Node(id="p1", type="document_page", parent="doc")]
                pages[1] = Node(id="p1", type="document_page", parent="doc", text="One.", fields={"image_path": page})
                opened.add(pages)
        yield opened


def names(store):
    with Weft.open(store, embedder="hashing", clock=lambda: NOW) as opened:
        found = [hit.node.id for hit in opened.search("jam 77", mode="words")]
        keys = len(opened.store.keys.all())
        with opened.store.view("main", "me") as view:
            picture = opened.store.files("main").path(view.nodes(["p1"])[0], "image_path").read_bytes()
        assert opened.store.check() == []
        return opened.stats()["nodes"], keys, picture, found[0]


def test_a_backup_of_an_open_store_holds_all_of_it_and_can_be_put_back(weft, tmp_path):
    made = back_up(tmp_path / "notes.weft", tmp_path / "copies" / "monday", NOW)
    assert made.counts["main"]["nodes"] == 502
    assert len(made.files) == 1
    assert verify(tmp_path / "copies" / "monday") == []
    assert [path.name for path in (tmp_path / "copies").iterdir()] == ["monday"]
    whole = (502, 1, b"picture", "n77")
    for place in (tmp_path / "elsewhere" / "notes.weft", tmp_path / "other" / "named.weft"):
        restore(tmp_path / "copies" / "monday", place)
        assert names(place) == whole
    shutil.copytree(tmp_path / "copies" / "monday", tmp_path / "opened")
    assert names(tmp_path / "opened" / "notes.weft") == whole


def test_backups_made_during_writes_are_each_a_state_that_was(weft, tmp_path):
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            with weft.atomic() as batch:
                batch.put(weft.writer.prepare([Node(id=f"w{number}a"), Node(id=f"w{number}b")]))
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts = [back_up(weft.store.path, tmp_path / f"b{n}", NOW).counts["main"]["nodes"] for n in range(5)]
    finally:
        stop.set()
        writer.join()
    assert all(count % 2 == 0 for count in counts)
    assert counts == sorted(counts)


def test_a_backup_that_is_interrupted_leaves_nothing_that_looks_like_one(weft, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("weftwork.store.sqlite.backup._copy_folder", full)
    with pytest.raises(StoreError, match="No space left"):
        back_up(weft.store.path, tmp_path / "monday", NOW)
    assert not [path for path in tmp_path.iterdir() if "monday" in path.name]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda b: (b / "notes.weft").write_bytes((b / "notes.weft").read_bytes()[:-4096]), "not what it was"),
        (lambda b: (b / "notes.weft").unlink(), "notes.weft is missing"),
        (lambda b: next((b / "notes.weft.files").glob("*/*/*/*")).unlink(), "is missing"),
        (lambda b: next((b / "notes.weft.files").glob("*/*/*/*")).write_bytes(b"other"), "not what it was"),
        (lambda b: _change(b, counts={"main": {"nodes": 9}}), "it holds"),
    ],
    ids=["truncated", "no database", "no file", "another file", "other counts"],
)
def test_a_damaged_backup_is_found_and_not_restored(weft, tmp_path, harm, said):
    backup = tmp_path / "monday"
    back_up(weft.store.path, backup, NOW)
    harm(backup)
    assert said in " ".join(verify(backup))
    with pytest.raises(StoreError, match="cannot be restored"):
        restore(backup, tmp_path / "again" / "notes.weft")
    assert not (tmp_path / "again" / "notes.weft").exists()


def _change(backup, **values):
    manifest = backup / "backup.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | values))


@pytest.mark.parametrize("place", ["notes.weft.files", "notes.weft.files/1", "notes.weft.files/1/doc/evil"])
def test_a_backup_with_links_out_of_it_is_refused_and_nothing_is_copied(weft, tmp_path, place):
    secrets = tmp_path / "home" / "1" / "doc" / "evil"
    secrets.mkdir(parents=True)
    (secrets / "id_ed25519").write_text("a private key")
    backup = tmp_path / "monday"
    back_up(weft.store.path, backup, NOW)
    link = backup / place
    if link.is_dir():
        shutil.move(link, tmp_path / "away")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "home" / place.removeprefix("notes.weft.files").strip("/"))
    with pytest.raises(StoreError, match="leads out of the backup"):
        restore(backup, tmp_path / "again" / "notes.weft")
    assert not list(tmp_path.glob("again/**/id_ed25519"))


@pytest.mark.parametrize("name", ["../notes.weft", "/etc/passwd", "..", ""])
def test_a_backup_that_names_a_store_elsewhere_is_refused(weft, tmp_path, name):
    backup = tmp_path / "monday"
    back_up(weft.store.path, backup, NOW)
    _change(backup, store=name)
    with pytest.raises(StoreError, match="not in it"):
        restore(backup, tmp_path / "again.weft")


def test_nothing_is_overwritten(weft, tmp_path):
    backup = tmp_path / "monday"
    back_up(weft.store.path, backup, NOW)
    with pytest.raises(InvalidInput, match="exists already"):
        back_up(weft.store.path, backup, NOW)
    with pytest.raises(InvalidInput, match="move it away"):
        restore(backup, weft.store.path)
    assert weft.stats()["nodes"] == 502


def test_what_is_no_backup_is_said(tmp_path):
    with pytest.raises(NotFound, match="no backup"):
        verify(tmp_path)
    with pytest.raises(NotFound, match="does not exist"):
        back_up(tmp_path / "no.weft", tmp_path / "b", NOW)
    (tmp_path / "backup.json").write_text("{}")
    with pytest.raises(StoreError, match="another backup"):
        read_manifest(tmp_path)


def test_store_indexes_files_and_backups_are_for_their_owner_alone(weft, tmp_path):
    weft.catch_up()
    back_up(weft.store.path, tmp_path / "monday", NOW)
    restore(tmp_path / "monday", tmp_path / "again.weft")
    open_to_others = [
        path
        for path in (*tmp_path.glob("*.weft*"), *tmp_path.glob("*.weft.*/1"), tmp_path / "monday")
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ]
    assert [path for path in open_to_others if path.suffix not in (".index", ".files", ".claims")] == []


def test_what_was_written_is_soon_in_the_file_itself(weft, tmp_path):
    checkpointer = weft.store._connections.checkpointer
    assert checkpointer is not None
    checkpointer.join(60)
    shutil.copyfile(weft.store.path, tmp_path / "bare.weft")
    with closing(sqlite3.connect(tmp_path / "bare.weft")) as connection:
        assert connection.execute("SELECT COUNT(*) FROM nodes").fetchone()[0] == 502
