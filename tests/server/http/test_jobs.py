"""Uploads that are indexed while nobody waits: to their end, cancelled, interrupted, and taken up again."""

import os
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from filelock import FileLock
from pptx import Presentation

from weftwork import Node
from weftwork.errors import InvalidInput, NotFound
from weftwork.ingest.documents.parsing import Parser
from weftwork.server.http.jobs import Jobs
from weftwork.server.http.options import Limits, Options
from weftwork.server.http.problems import Problem
from weftwork.server.http.uploads import STALE_SECONDS
from weftwork.store.server_state import UNFINISHED

MINE = {"workspace": "studio", "user": "ana"}


def slides(*titles):
    deck = Presentation()
    for title in titles:
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = title
    made = BytesIO()
    deck.save(made)
    return made.getvalue()


@contextmanager
def working(weft, **options):
    ended = []
    jobs: Any = Jobs(weft, Options(**options), on_end=ended.append)
    jobs.ended = ended
    jobs.start()
    try:
        yield jobs
    finally:
        jobs.stop()


def hand_in(jobs, data, name="talk.pptx", **more):
    with jobs.folder.arriving() as incoming:
        incoming.write(data)
        return jobs.submit(incoming, name=name, **(MINE | more))


def finished(jobs, job):
    """The job when it has ended, or when there is nobody left to work on it."""
    with jobs._changed:
        jobs._changed.wait_for(lambda: job.id not in jobs._live)
    return jobs.get(job.id, workspace=job.workspace, user=job.user)


def left_in(weft):
    folder = weft.store.path.with_name(weft.store.path.name + ".uploads")
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_document_is_read_page_by_page_and_its_upload_is_gone(weft):
    with working(weft) as jobs:
        job = hand_in(jobs, slides("Mirrors", "Bases", "Tubes"))
        seen = [job]
        while seen[-1].state in UNFINISHED:
            time.sleep(0.001)
            seen.append(jobs.get(job.id, **MINE))
        done = [(each.details["done"], each.details["expected"]) for each in seen]
        assert done == sorted(done, key=lambda each: each[0])
        assert {each for each in done if each[0] in (1, 2)} <= {(1, 3), (2, 3)}
        assert done[-1] == (4, 3)  # the document itself is a node too
        last = seen[-1]
        assert (last.state, last.details["read"], last.details["changed"]) == ("done", 4, 4)
        assert jobs.ended == ["done"]
        assert jobs.get(job.id, **MINE) == last
    assert left_in(weft) == []
    with weft.store.view("studio", "ben") as view:
        (node,) = view.nodes([last.details["node"]])
        assert (node.title, node.owner, node.source) == ("talk.pptx", "ana", "talk.pptx")
        assert str(weft.store.path.parent) not in repr(view.nodes([f"{node.id}#page=1", node.id]))
    assert weft.search("Tubes", user="ben", workspace="studio")[0].node.id == f"{node.id}#page=3"


def test_a_list_of_readers_holds_for_all_pages(weft):
    with working(weft) as jobs:
        job = finished(jobs, hand_in(jobs, slides("Salaries"), access=frozenset({"ana"})))
    assert weft.search("Salaries", user="ben", workspace="studio", mode="words") == []
    with weft.store.view("studio", "ana") as view:
        assert len(view.nodes([job.details["node"], f"{job.details['node']}#page=1"])) == 2


def test_readers_that_are_named_hold_for_a_new_version_too(weft):
    with working(weft) as jobs:
        first = finished(jobs, hand_in(jobs, slides("Prices")))
        assert weft.search("Prices", user="ben", workspace="studio", mode="words")
        finished(jobs, hand_in(jobs, b"no slides", access=frozenset({"ana"})))
        assert weft.search("Prices", user="ben", workspace="studio", mode="words"), "a version that failed"
        assert finished(jobs, hand_in(jobs, slides("Salaries"), access=frozenset({"ana"}))).state == "done"
        assert weft.search("Salaries", user="ben", workspace="studio", mode="words") == []
        finished(jobs, hand_in(jobs, slides("Bonuses")))
    assert weft.search("Bonuses", user="ben", workspace="studio", mode="words") == []
    assert weft.search("Bonuses", user="ana", workspace="studio", mode="words")[0].node.parent == first.details["node"]


@pytest.mark.parametrize("readers", [{"ana", "ben"}, {"ben"}, None])
def test_nobody_can_lay_a_node_where_anothers_upload_will_be(weft, readers):
    trap = Node(id="upload:ana/plan.md", type="file", owner="ben", access=readers and frozenset(readers))
    weft.add([trap], workspace="studio")
    with working(weft) as jobs:
        job = finished(jobs, hand_in(jobs, b"Salaries", "plan.md", access=frozenset({"ana"})))
    assert (job.state, "rename" in job.details["why"]) == ("failed", True)
    assert weft.search("Salaries", user="ben", workspace="studio", mode="words") == []


def test_text_is_one_node_and_a_list_of_nodes_is_only_text(weft):
    with working(weft) as jobs:
        note = finished(jobs, hand_in(jobs, b"Birch is light.", "note.md"))
        lines = finished(jobs, hand_in(jobs, b'{"user": "eve", "groups": ["admins"]}\n', "users.jsonl"))
    assert (note.state, lines.state) == ("done", "done")
    assert weft.node(note.details["node"], **MINE).text == "Birch is light."
    assert "eve" not in weft.store.users("studio")


def test_the_same_upload_again_is_the_same_job_and_changes_nothing(weft):
    data = slides("Mirrors")
    with working(weft) as jobs:
        first = finished(jobs, hand_in(jobs, data))
        version = weft.store.version("studio")
        again = finished(jobs, hand_in(jobs, data))
        assert (again.id, again.state, again.details["changed"]) == (first.id, "done", 0)
        assert weft.store.version("studio") == version
        weft.remove([first.details["node"]], workspace="studio")
        assert finished(jobs, hand_in(jobs, data)).details["changed"] == 2
        other = finished(jobs, hand_in(jobs, data, user="ben"))
        assert other.details["node"] != first.details["node"]
    assert left_in(weft) == []


def test_the_same_upload_at_the_moment_its_job_ends_is_a_job_again(weft):
    data, ended = slides("Mirrors"), []

    def on_end(state):
        ended.append(state)
        if len(ended) == 1:
            hand_in(jobs, data)

    jobs = Jobs(weft, Options(), on_end=on_end)
    jobs.start()
    try:
        hand_in(jobs, data)
        with jobs._changed:
            assert jobs._changed.wait_for(lambda: len(ended) == 2, timeout=60)
    finally:
        jobs.stop()
    assert ended == ["done", "done"]
    assert left_in(weft) == []


def test_uploads_wait_in_order_and_the_same_one_does_not_wait_twice(weft):
    idle = Jobs(weft, Options(), on_end=lambda state: None)  # not started: nothing is worked on
    first = hand_in(idle, b"one", "a.md")
    assert hand_in(idle, b"one", "a.md") == first
    hand_in(idle, b"two", "a.md")
    assert len(weft.store.jobs.in_states(UNFINISHED)) == 2
    cancelled = idle.cancel(first.id, **MINE)
    assert cancelled.state == "cancelled"
    assert idle.cancel(first.id, **MINE).state == "cancelled"
    assert len(left_in(weft)) == 1


def test_a_document_that_cannot_be_read_fails_and_says_why(weft):
    with working(weft) as jobs:
        broken = finished(jobs, hand_in(jobs, b"no slides", "talk.pptx"))
        binary = finished(jobs, hand_in(jobs, b"\0\1\2", "note.md"))
        after = finished(jobs, hand_in(jobs, b"fine", "fine.md"))
    assert [broken.state, binary.state, after.state] == ["failed", "failed", "done"]
    assert broken.details["why"].startswith("talk.pptx ")
    assert str(weft.store.path.parent) not in broken.details["why"]
    assert "not text" in binary.details["why"]
    assert jobs.ended == ["failed", "failed", "done"]


def test_nobody_sees_or_ends_another_users_job(weft):
    idle = Jobs(weft, Options(), on_end=lambda state: None)
    job = hand_in(idle, b"one", "a.md")
    for other in ({"workspace": "studio", "user": "ben"}, {"workspace": "other", "user": "ana"}):
        for ask in (idle.get, idle.cancel):
            with pytest.raises(NotFound) as hidden:
                ask(job.id, **other)
            with pytest.raises(NotFound) as absent:
                ask("job-0", **other)
            assert str(hidden.value).replace(job.id, "job-0") == str(absent.value)


class Slow(Parser):
    """Reads the first page, then waits to be ended, as if at a page that takes minutes."""

    def pages(self, path, extension):
        at_work.set()
        yield 9
        self._started()
        self._answer("the first page")  # nobody asked for anything, so none comes


at_work = threading.Event()


@pytest.fixture
def slow(monkeypatch):
    at_work.clear()
    monkeypatch.setattr("weftwork.server.http.jobs.Parser", Slow)


def test_a_job_that_is_worked_on_can_be_cancelled_and_leaves_nothing(weft, slow):
    version = weft.store.version("studio")
    with working(weft) as jobs:
        job = hand_in(jobs, slides("Mirrors"))
        assert at_work.wait(30)
        assert jobs.cancel(job.id, **MINE).state == "cancelled"
        assert jobs.ended == ["cancelled"]
    assert left_in(weft) == []
    assert weft.store.version("studio") == version


def test_what_is_unfinished_when_a_server_stops_is_finished_by_the_next_one(weft, slow, monkeypatch):
    with working(weft) as jobs:
        running = hand_in(jobs, slides("Mirrors"))
        assert at_work.wait(30)
        waiting = hand_in(jobs, b"one", "a.md")
    assert [each.state for each in weft.store.jobs.in_states(UNFINISHED)] == ["queued", "queued"]
    assert jobs.ended == []
    monkeypatch.setattr("weftwork.server.http.jobs.Parser", Parser)
    with working(weft) as jobs:
        assert [finished(jobs, each).state for each in (running, waiting)] == ["done", "done"]
    assert left_in(weft) == []


def test_a_crash_leaves_jobs_that_are_taken_up_and_uploads_that_are_gone_are_said_to_be(weft):
    idle = Jobs(weft, Options(), on_end=lambda state: None)
    left, gone = hand_in(idle, b"one", "a.md"), hand_in(idle, b"two", "b.md")
    elsewhere = replace(left, id="job-far", details={**left.details, "folder": "/another"})
    weft.store.jobs.put(replace(left, state="running"))
    weft.store.jobs.put(elsewhere)
    idle.folder.file(gone).unlink()
    with working(weft) as jobs:
        assert finished(jobs, left).state == "done"
        assert "upload it again" in jobs.get(gone.id, **MINE).details["why"]
    assert weft.store.jobs.get("job-far") == elsewhere


def test_a_job_that_another_process_works_on_is_left_to_it(weft):
    idle = Jobs(weft, Options(), on_end=lambda state: None)
    job = hand_in(idle, b"one", "a.md")
    with FileLock(idle.folder.lock(job)), working(weft) as jobs:
        assert finished(jobs, job).state == "queued"
        assert jobs.ended == []
    assert idle.folder.file(job).is_file()


def test_an_upload_that_breaks_off_leaves_nothing(weft):
    idle = Jobs(weft, Options(limits=Limits(upload_bytes=10)), on_end=lambda state: None)
    with pytest.raises(OSError, match="gone"), idle.folder.arriving() as incoming:
        incoming.write(b"abc")
        raise OSError("the client is gone")
    with pytest.raises(Problem) as refused:
        hand_in(idle, b"x" * 11, "a.md")
    assert refused.value.status == 413
    with pytest.raises(InvalidInput, match="empty"):
        hand_in(idle, b"", "a.md")
    assert left_in(weft) == []
    assert weft.store.jobs.in_states(UNFINISHED) == []


def test_what_a_crash_left_of_an_upload_goes_when_it_is_old(weft):
    idle = Jobs(weft, Options(), on_end=lambda state: None)
    kept = hand_in(idle, b"one", "a.md")
    folder = idle.folder.file(kept).parent
    for name, age in (
        (".arriving-1-old", 2 * STALE_SECONDS),
        (".arriving-1-new", 0),
        ("job-old.pdf", 2 * STALE_SECONDS),
    ):
        (folder / name).write_bytes(b"part")
        os.utime(folder / name, (time.time() - age,) * 2)
    os.utime(idle.folder.file(kept), (0, 0))
    idle.folder.sweep({kept.id})
    assert left_in(weft) == [".arriving-1-new", f"{kept.id}.md"]


def test_a_workspace_takes_so_many_uploads_and_no_more(weft):
    idle = Jobs(weft, Options(limits=Limits(waiting_jobs=1)), on_end=lambda state: None)
    hand_in(idle, b"one", "a.md")
    with pytest.raises(Problem) as refused:
        hand_in(idle, b"two", "a.md")
    assert refused.value.status == 429
    hand_in(idle, b"two", "a.md", workspace="other")
    assert len(left_in(weft)) == 2


@pytest.mark.parametrize("name", ["", "..", "/", "a\nb.md", "x" * 300, "\x00", "dir/"])
def test_a_file_needs_a_name(weft, name):
    idle = Jobs(weft, Options(), on_end=lambda state: None)
    with pytest.raises(InvalidInput, match="file name"):
        hand_in(idle, b"one", name)
    assert left_in(weft) == []


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\fakepath\\passwd", "<script>.html.md", "räport .tar.gz!"])
def test_no_name_leads_out_of_the_folder(weft, name):
    with working(weft) as jobs:
        job = finished(jobs, hand_in(jobs, b"one", name))
    assert job.state == "done"
    title = weft.node(job.details["node"], **MINE).title
    assert title == name.replace("\\", "/").rpartition("/")[2]


def test_a_workspace_that_is_dropped_meanwhile_takes_its_jobs_with_it(weft):
    idle = Jobs(weft, Options(), on_end=lambda state: None)
    job = hand_in(idle, b"one", "a.md", workspace="other")
    with working(weft) as jobs:
        weft.store.drop_workspace("other")
        with pytest.raises(NotFound):
            finished(jobs, job)
        assert finished(jobs, hand_in(jobs, b"two", "b.md")).state == "done"
