"""The command under rough conditions: interrupted, cut off, and given files that nobody could read."""

import json
import os
import signal
import socket
import time

import pytest
from tests.command import run, succeed

from weftwork.ingest.files import LARGEST
from weftwork.ingest.load import BATCH

from .making import contents, opened, pages, start, values, write_lines


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store.weft"
    succeed("init", path)
    return path


def report(store, *sources):
    """What the command says of these sources: how many nodes it read, and why it left out what."""
    told = json.loads(succeed("add", *sources, "--json", "--store", store))
    return told["read"], {each["what"].rsplit("/", 1)[-1]: each["why"] for each in told["skipped"]}


def _interruptible():
    """A test run in the background of a shell ignores interrupts, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupted_add_keeps_whole_batches_and_says_how_to_go_on(store, tmp_path):
    source = write_lines(tmp_path / "source.jsonl", values(20 * BATCH))
    with start("add", source, "--store", store, preexec_fn=_interruptible) as process, opened(store) as weft:
        while process.poll() is None and not weft.stats()["nodes"]:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out) == (130, ""), err
        assert err.strip() == "interrupted: what was written so far is kept, run the command again to go on"
        kept = len(contents(weft))
        assert 0 < kept < 20 * BATCH
        assert kept % BATCH == 0
        assert weft.store.check() == []
    out = succeed("add", source, "--store", store)
    assert out == f"read {20 * BATCH} nodes: {20 * BATCH - kept} new or changed, 0 edges, 0 skipped\n"


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_reader_that_goes_away_causes_no_traceback(store, form):
    with opened(store) as weft:
        weft.add([*pages(600, words=80)])
    # More than a pipe holds, so that the command is still writing when nobody reads any more.
    with start("search", "amberstone birchwater", "--limit", "600", *form, "--store", store) as process:
        assert process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert err == ""


def test_what_cannot_be_read_is_in_the_report_and_everything_else_is_added(store, tmp_path):
    folder = tmp_path / "notes"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "good.md").write_text("a good note")
    (folder / "deep" / "er" / "also good.txt").write_text("another good note")
    (folder / "empty.md").touch()
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("a name that is no text")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\0\0" + os.urandom(300))
    (folder / "latin.txt").write_bytes("Überschrift".encode("latin-1"))
    (folder / "utf16.txt").write_bytes("wide".encode("utf-16"))
    with (folder / "huge.log").open("wb") as huge:
        huge.truncate(LARGEST + 1)
    (folder / "dangling.md").symlink_to(folder / "nowhere.md")
    (folder / "itself.md").symlink_to(folder / "itself.md")
    (folder / "deep" / "er" / "up").symlink_to(folder, target_is_directory=True)
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "socket"))
        read, left_out = report(store, folder)
    assert left_out.keys() == {
        "image.png", "huge.log", "dangling.md", "itself.md", "up", "pipe", "socket",
    }  # fmt: skip
    reasons = {
        "image.png": "no picture", "huge.log": "larger than 20 MB",
        "dangling.md": "No such file", "itself.md": "symbolic links", "up": "leads back", "pipe": "not a regular file",
        "socket": "not a regular file",
    }  # fmt: skip
    assert {name: why for name, why in left_out.items() if reasons[name] not in why} == {}
    with opened(store) as weft:
        nodes = contents(weft)
        assert read == len(nodes)
        assert {node.text for node in nodes.values()} >= {
            "a good note", "another good note", "a name that is no text", "Überschrift", "wide",
        }  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_files_and_folders_without_permission_are_in_the_report(store, tmp_path):
    folder = tmp_path / "notes"
    (folder / "closed").mkdir(parents=True)
    (folder / "good.md").write_text("a good note")
    (folder / "secret.md").write_text("nobody may read this")
    (folder / "secret.md").chmod(0)
    (folder / "closed").chmod(0)
    try:
        _, left_out = report(store, folder)
    finally:
        (folder / "closed").chmod(0o700)
    assert left_out.keys() == {"secret.md", "closed"}


def test_bad_lines_are_reported_with_their_numbers_and_the_good_ones_are_added(store, tmp_path):
    lines = [
        b'{"id": "first", "title": "good"}',
        b"not JSON at all",
        b'{"id": "cut off", "title": "',
        b"[1, 2]",
        b'{"title": "no id"}',
        b'{"id": "odd", "colour": "red"}',
        b'{"id": "sure", "confidence": 7}',
        b'{"id": "late", "updated_at": "tomorrow"}',
        b'{"id": "far", "position": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"source": "first", "target": "last", "weight": NaN}',
        b"",
        b'{"id": "half", "owner": "\\ud800"}',
        b'{"id": "orphan", "parent": "nobody"}',
        b'{"user": "*"}',
        b'{"source": "first", "target": "nobody"}',
        b'{"id": "mended", "title": "caf\xe9"}',
        b'{"user": "ana", "groups": ["core"]}',
        b'{"source": "first", "target": "last", "type": "reference"}',
        b'{"id": "last", "title": "good too"}',
    ]
    source = tmp_path / "lines.jsonl"
    source.write_bytes(b"\n".join(lines))
    read, left_out = report(store, source)
    numbered = {name for name in left_out if name.startswith("lines.jsonl:")}
    assert numbered == {f"lines.jsonl:{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11)}
    assert len(left_out) == len(numbered) + 4
    assert "nobody" in left_out["orphan"] and "correct" in left_out["half"]
    assert all(left_out.values())
    with opened(store) as weft:
        assert contents(weft).keys() == {"first", "mended", "last"}
        assert read == 3
        assert weft.stats()["edges"] == 1
        assert weft.store.users("main") == {"ana": ("core",), "me": ()}


def test_a_source_that_disappears_or_is_no_file_is_told_before_anything_is_added(store, tmp_path):
    good = write_lines(tmp_path / "good.jsonl", values(3))
    code, out, err = run("add", good, tmp_path / "missing.md", "--store", store)
    assert (code, out) == (1, "")
    assert "missing.md does not exist" in err
    with opened(store) as weft:
        assert weft.stats()["nodes"] == 0


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\xef\xbb\xbf\n"], ids=["empty", "blank lines", "a byte order mark"]
)
def test_a_source_with_nothing_in_it_is_no_error(store, tmp_path, content):
    source = tmp_path / "nothing.jsonl"
    source.write_bytes(content)
    assert report(store, source)[0] == 0


def test_a_byte_order_mark_is_no_part_of_the_first_line(store, tmp_path):
    source = tmp_path / "marked.jsonl"
    source.write_bytes(b'\xef\xbb\xbf{"id": "a", "text": "A note."}\n')
    assert report(store, source) == (1, {})
