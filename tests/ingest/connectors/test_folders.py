"""Folders of files: what becomes of each, what is passed over, and what is reported."""

import os
from datetime import UTC, datetime

import pytest

from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.events import Skipped
from weftwork.ingest.files import LARGEST
from weftwork.types import Node

from .reading import read


def tree(root, files):
    """Write files by their paths."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def read_files(path):
    return read(get_connector("files"), path)


def test_a_file_becomes_a_node_with_its_text_its_path_and_its_time(tmp_path):
    path = tmp_path / "plan.txt"
    path.write_text("Ship it — soon.\n", encoding="utf-8")
    os.utime(path, (1_760_000_000, 1_760_000_000))
    (node,) = read_files(path).nodes
    assert node == Node(
        id=f"file:{path}",
        type="file",
        title="plan.txt",
        text="Ship it — soon.\n",
        source=str(path),
        position=node.position,
        updated_at=datetime.fromtimestamp(1_760_000_000, UTC),
    )


def test_a_folder_becomes_the_tree_above_its_files_in_the_order_of_their_names(tmp_path):
    root = tmp_path / "notes"
    tree(root, {"b.txt": "b", "a.txt": "a", "sub/deep/c.txt": "c", "sub/d.txt": "d"})
    pieces = read_files(root)
    assert pieces.skipped == []
    assert [(node.id, node.type, node.title, node.parent) for node in pieces.nodes] == [
        ("folder:notes", "folder", "notes", None),
        ("file:notes/a.txt", "file", "a.txt", "folder:notes"),
        ("file:notes/b.txt", "file", "b.txt", "folder:notes"),
        ("folder:notes/sub", "folder", "sub", "folder:notes"),
        ("file:notes/sub/d.txt", "file", "d.txt", "folder:notes/sub"),
        ("folder:notes/sub/deep", "folder", "deep", "folder:notes/sub"),
        ("file:notes/sub/deep/c.txt", "file", "c.txt", "folder:notes/sub/deep"),
    ]
    assert [node.title for node in pieces.below(pieces.nodes[0])] == ["a.txt", "b.txt", "sub"]


def test_ids_do_not_depend_on_where_the_folder_is_seen_from(tmp_path, monkeypatch):
    root = tmp_path / "notes"
    tree(root, {"a.txt": "a"})
    monkeypatch.chdir(root)
    here, there = read_files(root.__class__(".")), read_files(root)
    assert [node.id for node in here.nodes] == [node.id for node in there.nodes]


def test_hidden_files_and_installed_packages_are_passed_over(tmp_path):
    root = tmp_path / "p"
    tree(root, {"a.txt": "a", "node_modules/x.js": "x"})
    tree(root, {".git/config": "x", ".env": "x", "__pycache__/a.txt": "x", "venv/b.txt": "x"})
    pieces = read_files(root)
    assert ([node.id for node in pieces.nodes], pieces.skipped) == (["folder:p", "file:p/a.txt"], [])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x89PNG\r\n\0\0\0", "is not text"),
        ("gr\u00fc\u00dfe".encode() + b" \xff\xfe", "is not UTF-8 text (byte 8)"),
        (b"\x81\x8d\x8f caf", "is not UTF-8 text (byte 0)"),
        (b"\xff\xfe\x00\xd8\x00\x00", "begins like UTF-16 text, but is none"),
        (b"PK\x03\x04", "is a zip archive: add it by itself if it is an export, or unpack it"),
    ],
)
def test_what_is_not_text_is_reported_with_the_reason(tmp_path, content, why):
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    assert read_files(path).skipped == [Skipped(str(path), why)]


def test_a_mark_of_the_byte_order_is_no_text(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"\xef\xbb\xbfText")
    assert read_files(path).nodes[0].text == "Text"


def test_a_file_that_is_too_large_is_reported(tmp_path):
    path = tmp_path / "x.log"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    assert read_files(path).skipped == [Skipped(str(path), "is larger than 20 MB")]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_what_may_not_be_read_is_reported(tmp_path):
    root = tmp_path / "p"
    tree(root, {"sub/b.txt": "b"})
    (root / "sub").chmod(0)
    try:
        (unread,) = read_files(root).unread
    finally:
        (root / "sub").chmod(0o700)
    assert (unread.what, unread.why) == (str(root / "sub"), "cannot be listed (Permission denied)")


def test_names_that_are_not_utf_8_are_written_with_escapes_everywhere(tmp_path):
    top = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(top)
    for name, content in ((b"men\xfc.txt", b"the menu"), (b"gr\xf6\xdfe.bin", b"\0")):
        with open(top + b"/" + name, "wb") as file:
            file.write(content)
    pieces = read_files(tmp_path.__class__(os.fsdecode(top)))
    assert [(node.id, node.title, node.parent) for node in pieces.nodes] == [
        ("folder:caf\\xe9", "caf\\xe9", None),
        ("file:caf\\xe9/men\\xfc.txt", "men\\xfc.txt", "folder:caf\\xe9"),
    ]
    assert pieces.skipped == [Skipped(f"{tmp_path}/caf\\xe9/gr\\xf6\\xdfe.bin", "is not text")]


def test_two_files_of_one_name_stay_two(tmp_path):
    tree(tmp_path, {"a/notes.txt": "a", "b/notes.txt": "b"})
    one, other = (read_files(tmp_path / folder / "notes.txt").nodes[0] for folder in "ab")
    assert one.id != other.id
