"""Moving workspaces between a file and a database, to its end or interrupted anywhere."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta

import numpy as np
import psycopg
import pytest
from click.testing import CliRunner

from weftwork import Edge, Node, Weft, sample
from weftwork.cli import group
from weftwork.errors import InvalidInput, NotFound, StoreBusy, StoreError
from weftwork.store import transfer
from weftwork.store.open import open_store
from weftwork.store.receipts import ReceiptRow
from weftwork.store.server_state import Job, Key
from weftwork.store.transfer import COLUMNS, INCOMPLETE, movable, move

QUESTIONS = ("Where do the mirror coatings stand?", "telescpoe mirorr", '"mirror cell" coating', "")
KEY = Key(id="key-1", digest="d" * 64, user="ana", workspaces=frozenset({"studio", "other"}), scope="write",
          created_at=sample.NOW, expires_at=sample.NOW + timedelta(days=90))  # fmt: skip

RECEIPT = ReceiptRow("rec-1", "ana", "t", sample.NOW, "{}")


def opened(target):
    return Weft.open(target, clock=lambda: sample.NOW, embedder="hashing")


def store_at(target):
    return open_store(target, clock=lambda: sample.NOW)


def publish(weft, node):
    """A page with a picture, which its fields name."""
    files = weft.store.files("studio")
    with files.incoming(node) as incoming:
        incoming.write("page.jpg", b"picture " + node.encode())
        with files.published(node, "1", incoming):
            named = {"image_path": files.relative(node, "1", "page.jpg"), "page": 3, "_unseen": ("image_path",)}
            page = Node(id=node, type="document_page", title=node, text="A picture of a mirror.", fields=named)
            weft.add([page], workspace="studio")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A file with two workspaces that have everything a workspace can have."""
    path = tmp_path_factory.mktemp("source") / "notes.weft"
    with opened(path) as weft:
        weft.create_workspace("other", owner="ana", access=("ana",))
        weft.add([Node(id="x", title="x", text="first of all, so that no number begins at one")], workspace="other")
        sample.load(weft)
        publish(weft, "page-1")
        late = Node(id="late", title="NUL \0 and \x1a", text="It holds from now on. " * 200, owner="ben",
                    access=frozenset({"ben", "group:workshop"}), tags=("a", "b", "a"), valid_from=sample.NOW,
                    fields={"n": 3, "l": ("x", "y"), "path": "\0files"})  # fmt: skip
        weft.add(
            [late, Node(id="gone", title="gone", text="gone soon")],
            [Edge(source="late", target="gone", type="refers")],
            workspace="studio",
        )
        with weft.atomic("studio") as batch:
            batch.move("late", "gone")  # a parent that comes after its child
            batch.move("late", None)
            batch.remove(["gone"])
            batch.mark("notes", {"a.md": "[1]"})
            batch.put_page_vectors("looks", {"page-1": np.eye(4, dtype=np.float32)}, weft.store.version("studio"))
            batch.move("finch", "late")
        weft.store.keep_context("studio", "ctx-1", user="ana", thread="t", kept="{}")
        weft.store.receipts.put("studio", [RECEIPT], most=10)
        weft.store.given.put("studio", "late", user="ana", given="{}", at=sample.NOW)
        weft.store.keys.put(KEY)
        weft.store.jobs.put(Job(id="job-1", workspace="studio", user="ana", state="done", created_at=sample.NOW,
                               updated_at=sample.NOW, details={"file": "a.pdf"}))  # fmt: skip
    return path


@pytest.fixture
def database(server, tmp_path):
    """The address of an empty database."""
    name = f"moved_{os.urandom(4).hex()}"
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {name}")
    yield server.url(name, weftwork_files=tmp_path / "files")
    with psycopg.connect(server.url(), autocommit=True) as owner:
        owner.execute(f"DROP DATABASE {name} WITH (FORCE)")


def moved(source, target, *names):
    """Move workspaces; what is in them."""
    one, two = store_at(source), store_at(target)
    try:
        return {name: move(one, two, name) for name in names or movable(one, None)}
    finally:
        one.close()
        two.close()


def shown(target):
    """Everything that users can tell: contexts with every decision, citations, counts, changes, usage, versions."""
    with opened(target) as weft:
        found: dict[str, object] = {}
        for user in ("ana", "ben"):
            asked = {"user": user, "workspace": "studio"}
            contexts = [weft.context(question, budget=1500, **asked) for question in QUESTIONS]
            found[user] = [(each.text, [replace(one) for one in each.trace]) for each in contexts]
            with weft.store.view("studio", user) as view:
                changes = view.changes(0)
                nodes = view.nodes([change.node for change in changes])
                found[f"view of {user}"] = (
                    view.counts(), changes, [replace(node, fields={}) for node in nodes],
                    view.usage([node.id for node in nodes]),
                    [(each.node, each.at) for each in view.events("view", limit=99)],
                    view.search_pages(np.eye(4, dtype=np.float32), model="looks", limit=5)[0].score,
                )  # fmt: skip
        with weft.store.view("studio", "ana") as view:
            (page,) = view.nodes(["page-1"])
        found["picture"] = weft.store.files("studio").path(page, "image_path").read_bytes()
        found["rest"] = (
            weft.store.version("studio"), weft.store.users("studio"), weft.store.marks("studio", "notes"),
            weft.store.kept_context("studio", "ctx-1", user="ana", thread="t"), weft.store.jobs.get("job-1"),
            weft.store.receipts.get("studio", RECEIPT.id), weft.store.given.get("studio", "late", user="ana"),
        )  # fmt: skip
        assert weft.store.check() == []
        return found


def test_a_workspace_goes_to_a_database_and_back_and_nobody_can_tell(filled, database, tmp_path):
    wanted = shown(filled)
    there = moved(filled, database)
    assert set(there) == {"main", "other", "studio"}
    assert set(there["studio"].kinds) == {*COLUMNS, "files"}
    assert all(summary.rows for summary in there["studio"].kinds.values())
    assert shown(database) == wanted
    back = tmp_path / "back.weft"
    store_at(back).close()
    assert moved(database, back, "studio", "other") == {name: there[name] for name in ("studio", "other")}
    assert shown(back) == wanted
    for target in (database, back):
        store = store_at(target)
        assert store.keys.get(KEY.digest) == KEY
        assert store.workspaces() == (["main", "other", "studio"] if target == database else ["other", "studio"])
        store.close()


def test_what_was_moved_goes_on_with_the_numbers_that_it_had(filled, database, tmp_path):
    moved(filled, database, "studio")
    back = tmp_path / "back.weft"
    moved(database, back, "studio")
    for target in (database, back):
        with opened(target) as weft:
            before = weft.store.version("studio")
            with weft.store.view("studio", "ana") as view:
                old = view.fingerprint
            weft.add([Node(id="new", title="new", text="something new")], workspace="studio")
            assert weft.store.version("studio") == before + 1
            with weft.store.view("studio", "ana") as view:
                assert view.fingerprint != old
                assert [change.node for change in view.changes(before)] == ["new"]
                assert {change.node for change in view.changes(0) if change.deleted} == {"gone"}
            assert weft.search("something new", workspace="studio", user="ana")[0].node.id == "new"
            assert weft.store.check() == []


@pytest.mark.parametrize("way", ["to the database", "to the file"])
def test_interrupted_anywhere_it_goes_on_where_it_was_and_is_not_open_before(
    filled, database, tmp_path, monkeypatch, way
):
    source, target = filled, database
    if way == "to the file":
        moved(filled, database, "studio")
        source, target = database, tmp_path / "other.weft"
    monkeypatch.setattr(transfer, "PORTION", 25)
    one, two = store_at(source), store_at(target)
    written = two.workspaces()
    steps = runs = 0

    def stop(rows):
        nonlocal steps
        steps += 1
        if steps == 5 * runs:
            raise KeyboardInterrupt

    while True:
        steps, runs = 0, runs + 1
        try:
            result = move(one, two, "studio", stop)
            break
        except KeyboardInterrupt:
            assert two.workspaces() in (written, sorted([*written, "studio" + INCOMPLETE]))
            assert movable(two, None) == written
            if len(two.workspaces()) > len(written):
                with pytest.raises(NotFound), two.view("studio" + INCOMPLETE, "ana"):
                    pass
        monkeypatch.setattr(transfer, "PORTION", 25 + runs)  # what is written already does not depend on it
    assert runs > 3
    assert result.kinds == move(one, two, "studio").kinds
    assert two.workspaces() == sorted([*written, "studio"])
    one.close()
    two.close()
    assert shown(target) == shown(source)


def test_a_process_that_is_killed_is_followed_by_one_that_completes_it(filled, database, tmp_path):
    store_at(database).close()
    words = [sys.executable, "-m", "weftwork.cli", "migrate", str(filled), database, "--workspace", "studio", "--json"]
    with psycopg.connect(database.partition("&weftwork")[0]) as owner:
        owner.execute("LOCK TABLE weftwork.embeddings IN ACCESS EXCLUSIVE MODE")  # holds it up in the middle
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
            with psycopg.connect(database.partition("&weftwork")[0], autocommit=True) as other:
                blocked = "SELECT 1 FROM pg_locks WHERE NOT granted"
                while process.poll() is None and other.execute(blocked).fetchone() is None:
                    time.sleep(0.02)
            process.kill()
    store = store_at(database)
    assert store.workspaces() == ["studio" + INCOMPLETE]
    done = store.marks("studio" + INCOMPLETE, transfer.PROGRESS)
    assert int(done["passages"]) > 0
    assert "vectors" not in done
    store.close()
    result = subprocess.run(words, check=True, capture_output=True, text=True)
    (told,) = json.loads(result.stdout)["workspaces"]
    assert told["kinds"]["passages"]["rows"] == int(done["passages"])
    assert shown(database) == shown(filled)


def test_a_target_that_has_something_else_is_refused_and_an_empty_one_is_filled(filled, database):
    with opened(database) as weft:
        weft.create_workspace("studio", owner="eva")
        weft.create_workspace("other", owner="eva")
        weft.add([Node(id="mine", title="mine", text="mine")], workspace="other")
    with pytest.raises(InvalidInput, match="in the target already"):
        moved(filled, database, "other")
    assert not moved(filled, database, "studio")["studio"].already
    assert moved(filled, database, "studio")["studio"].already
    store = store_at(database)
    assert store.users("studio").keys() >= {"ana", "ben"}
    assert "eva" not in store.users("studio")
    with store.view("other", "eva") as view:
        assert view.counts()["passages"] == 1
    store.close()


def test_a_source_that_changed_begins_anew_and_a_second_process_is_refused(filled, database, tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "PORTION", 20)
    path = tmp_path / "copy.weft"
    moved(filled, path, "studio")
    one, two = store_at(path), store_at(database)

    def interrupt(rows):
        if (two.marks("studio" + INCOMPLETE, transfer.PROGRESS)).get("nodes", "0") != "0":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move(one, two, "studio", interrupt)
    with one.atomic("studio") as batch:
        batch.remove(["late"])

    def compete(rows):
        with two.arriving("studio" + INCOMPLETE) as arriving:
            arriving.mark(arriving.progress() | {"nodes": "1"})

    with pytest.raises(StoreBusy, match="another process"):
        move(one, two, "studio", compete)
    two.drop_workspace("studio" + INCOMPLETE)
    assert not move(one, two, "studio").written_meanwhile
    with two.view("studio", "ben") as view:
        assert view.nodes(["late"]) == []
    one.close()
    two.close()


def test_a_copy_that_differs_is_not_opened(filled, database):
    one, two = store_at(filled), store_at(database)

    def damage(rows):
        with psycopg.connect(database.partition("&weftwork")[0]) as owner:
            owner.execute("UPDATE weftwork.edges SET weight = weight + 1")

    with pytest.raises(StoreError, match=r"the edges of workspace 'studio'"):
        move(one, two, "studio", damage)
    assert two.workspaces() == ["studio" + INCOMPLETE]
    assert (two.users("studio" + INCOMPLETE), two.keys.all()) == ({}, [])
    move(one, two, "studio")
    assert two.workspaces() == ["studio"]
    one.close()
    two.close()


def test_the_command_says_what_it_did(filled, database, tmp_path):
    result = CliRunner().invoke(group, ["migrate", str(filled), database.replace("postgres@", "postgres:secret@")])
    assert result.exit_code == 0, result.output
    assert "studio is there, and is the same as in the source" in result.output
    again = CliRunner().invoke(group, ["migrate", str(filled), database, "--workspace", "studio", "--json"])
    (told,) = json.loads(again.stdout)["workspaces"]
    assert told["already_there"]
    assert f"{told['kinds']['nodes']['rows']}  nodes" in result.output
    assert told["kinds"]["nodes"]["checksum"] in result.output
    missing = CliRunner().invoke(group, ["migrate", str(filled), database, "--workspace", "nowhere"])
    assert isinstance(missing.exception, NotFound)
    assert "main, other, studio" in str(missing.exception)
    same = CliRunner().invoke(group, ["migrate", str(filled), str(filled)])
    assert isinstance(same.exception, InvalidInput)
