"""A folder is watched for real: by the system where it tells of changes, and by looking again where it does not."""

import threading

import pytest

from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow
from weftwork.ingest.watch import changes

PATIENCE = 30
"""Seconds after which a test gives up; nothing is asserted about time."""


@pytest.fixture(params=[False, True], ids=["told", "polled"])
def watched(request, weft, tmp_path):
    """A folder that a thread follows; `wait` returns when its words are found."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "before.md").write_text("Written while nobody watched.")
    stop, turned = threading.Event(), threading.Condition()
    seen, runs = set(), []

    def watch():
        for _ in changes(vault, [tmp_path / "vault" / "own.weft"], stop=stop, polling=request.param):
            runs.append(follow(weft, vault, get_connector("obsidian")))
            with turned, weft.store.view("main", "me") as view:
                pages = [child.id for child in view.children("folder:vault", 100)]
                seen.clear()
                seen.update((node.title, node.text) for node in view.nodes(pages))
                turned.notify_all()

    def wait(*expected):
        with turned:
            assert turned.wait_for(lambda: seen == set(expected), PATIENCE), seen

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield vault, wait, runs
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def test_what_happens_to_a_watched_folder_is_followed(watched):
    vault, wait, runs = watched
    before = ("before", "Written while nobody watched.")
    wait(before)
    (vault / "a.md").write_text("one")
    wait(before, ("a", "one"))
    (vault / ".a.md.swp").write_text("hidden")
    (vault / "a.md.tmp").write_text("two")
    (vault / "a.md.tmp").rename(vault / "a.md")  # as careful editors write
    wait(before, ("a", "two"))
    (vault / "a.md").rename(vault / "b.md")
    wait(before, ("b", "two"))
    assert runs[-1].moved == 1
    (vault / "before.md").unlink()
    wait(("b", "two"))
    ran = len(runs)
    for number in range(50):
        (vault / "b.md").write_text(f"burst {number}")
    wait(("b", "burst 49"))
    assert len(runs) - ran < 10


def test_a_watched_folder_may_go_away_and_come_back(tmp_path):
    vault, away = tmp_path / "vault", tmp_path / "away"
    vault.mkdir()
    stop, turned, told = threading.Event(), threading.Condition(), []

    def watch():
        for _ in changes(vault, stop=stop):
            with turned:
                told.append(sorted(path.name for path in vault.iterdir()) if vault.exists() else None)
                turned.notify_all()

    def wait(expected):
        with turned:
            assert turned.wait_for(lambda: told and told[-1] == expected, PATIENCE), told

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        wait([])
        vault.rename(away)
        wait(None)
        away.rename(vault)
        wait([])
        (vault / "a.md").write_text("one")
        wait(["a.md"])
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_single_file_is_watched_through_its_folder(tmp_path):
    path, other = tmp_path / "a.md", tmp_path / "b.md"
    path.write_text("one")
    stop, told = threading.Event(), []
    turned = threading.Condition()

    def watch():
        for _ in changes(path, stop=stop):
            with turned:
                told.append(path.read_text())
                turned.notify_all()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        with turned:
            assert turned.wait_for(lambda: told == ["one"], PATIENCE)
        other.write_text("two")
        other.rename(path)
        with turned:
            assert turned.wait_for(lambda: told[-1] == "two", PATIENCE)
    finally:
        stop.set()
        thread.join(PATIENCE)
