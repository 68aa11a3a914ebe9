import os
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.ingest.events import Skipped
from weftwork.ingest.files import LARGEST, identity, read_files
from weftwork.types import Node


def tree(root, files):
    """Write files by their paths."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def read(path):
    pieces = list(read_files(path))
    nodes = [each for each in pieces if isinstance(each, Node)]
    return nodes, {each.what: each.why for each in pieces if isinstance(each, Skipped)}


def test_a_file_becomes_a_node_with_its_text_its_path_and_its_time(tmp_path):
    path = tmp_path / "plan.md"
    path.write_text("# Plan\n\nShip it — soon.\n", encoding="utf-8")
    os.utime(path, (1_760_000_000, 1_760_000_000))
    assert list(read_files(path)) == [
        Node(
            id=f"file:{path}",
            type="file",
            title="plan.md",
            text="# Plan\n\nShip it — soon.\n",
            source=str(path),
            updated_at=datetime.fromtimestamp(1_760_000_000, UTC),
        )
    ]


def test_a_folder_becomes_the_tree_above_its_files(tmp_path):
    root = tmp_path / "notes"
    tree(root, {"b.md": "b", "a.md": "a", "sub/deep/c.md": "c", "sub/d.md": "d"})
    nodes, skipped = read(root)
    assert skipped == {}
    assert [(each.id, each.type, each.parent) for each in nodes] == [
        ("folder:notes", "folder", None),
        ("file:notes/a.md", "file", "folder:notes"),
        ("file:notes/b.md", "file", "folder:notes"),
        ("folder:notes/sub", "folder", "folder:notes"),
        ("file:notes/sub/d.md", "file", "folder:notes/sub"),
        ("folder:notes/sub/deep", "folder", "folder:notes/sub"),
        ("file:notes/sub/deep/c.md", "file", "folder:notes/sub/deep"),
    ]
    assert [each.title for each in nodes] == ["notes", "a.md", "b.md", "sub", "d.md", "deep", "c.md"]


def test_positions_follow_the_names(tmp_path):
    tree(tmp_path, {"c.md": "", "a.md": "", "b.md": ""})
    nodes, _ = read(tmp_path)
    files = {each.title: each.position for each in nodes if each.type == "file"}
    assert sorted(files, key=files.get) == ["a.md", "b.md", "c.md"]


def test_ids_do_not_depend_on_where_the_folder_is_seen_from(tmp_path, monkeypatch):
    root = tmp_path / "notes"
    tree(root, {"a.md": "a"})
    monkeypatch.chdir(root)
    here, _ = read(root.__class__("."))
    there, _ = read(root)
    assert [each.id for each in here] == [each.id for each in there]


def test_hidden_files_and_installed_packages_are_passed_over(tmp_path):
    root = tmp_path / "p"
    tree(root, {"a.py": "a", "node_modules/x.js": "x"})
    tree(root, {".git/config": "x", ".env": "x", "__pycache__/a.txt": "x", "venv/b.py": "x"})
    nodes, skipped = read(root)
    assert [each.id for each in nodes] == ["folder:p", "file:p/a.py"]
    assert skipped == {}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x89PNG\r\n\0\0\0", "is not text"),
        (b"caf\xe9 au lait", "is not UTF-8 text (byte 3)"),
        ("utf-16".encode("utf-16"), "is not text"),
    ],
)
def test_what_is_not_text_is_reported_with_the_reason(tmp_path, content, why):
    path = tmp_path / "x.bin"
    path.write_bytes(content)
    assert list(read_files(path)) == [Skipped(str(path), why)]


def test_a_mark_of_the_byte_order_is_no_text(tmp_path):
    path = tmp_path / "x.md"
    path.write_bytes(b"\xef\xbb\xbfText")
    (node,) = read_files(path)
    assert node.text == "Text"


def test_a_file_that_is_too_large_is_reported(tmp_path):
    path = tmp_path / "x.log"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    assert list(read_files(path)) == [Skipped(str(path), "is larger than 20 MB")]


def test_links_in_circles_and_broken_links_are_reported(tmp_path):
    root = tmp_path / "p"
    tree(root, {"sub/a.md": "a"})
    (root / "sub" / "up").symlink_to(root)
    (root / "gone").symlink_to(root / "nowhere")
    nodes, skipped = read(root)
    assert [each.id for each in nodes] == ["folder:p", "folder:p/sub", "file:p/sub/a.md"]
    assert skipped == {
        str(root / "gone"): "cannot be read (No such file or directory)",
        str(root / "sub" / "up"): "leads back to a folder above it",
    }


def test_two_links_to_one_folder_are_both_followed(tmp_path):
    root = tmp_path / "p"
    tree(root, {"real/a.md": "a"})
    (root / "other").symlink_to(root / "real")
    nodes, skipped = read(root)
    assert {each.id for each in nodes if each.type == "file"} == {"file:p/other/a.md", "file:p/real/a.md"}
    assert skipped == {}


def test_a_pipe_is_reported_and_not_waited_for(tmp_path):
    root = tmp_path / "p"
    root.mkdir()
    os.mkfifo(root / "pipe")
    _, skipped = read(root)
    assert skipped == {str(root / "pipe"): "is not a regular file"}


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_what_may_not_be_read_is_reported(tmp_path):
    root = tmp_path / "p"
    tree(root, {"a.md": "a", "sub/b.md": "b"})
    (root / "a.md").chmod(0)
    (root / "sub").chmod(0)
    try:
        _, skipped = read(root)
    finally:
        (root / "sub").chmod(0o700)
    assert skipped == {
        str(root / "a.md"): "cannot be read (Permission denied)",
        str(root / "sub"): "cannot be listed (Permission denied)",
    }


def odd_named(folder):
    """A folder and a file whose names are Latin-1, not UTF-8."""
    top = os.fsencode(folder) + b"/caf\xe9"
    os.mkdir(top)
    with open(top + b"/men\xfc.md", "wb") as file:
        file.write(b"the menu")
    with open(top + b"/gr\xf6\xdfe.bin", "wb") as file:
        file.write(b"\0")
    return os.fsdecode(top)


def test_no_two_names_have_one_id():
    names = [
        "a\nb", "a\\nb", "a\\\nb", "a\\\\nb", "a\\x85b", "a\x85b", os.fsdecode(b"a\x85b"), "a\\u0085b",
        "a\ue0001b", "a\U000e0001b", "a\tb", "a\xa0b", "a b",
    ]  # fmt: skip
    ids = [identity("file", name) for name in names]
    assert len(set(ids)) == len(names)
    assert all(each.isprintable() for each in ids)
    assert identity("file", "notes/Müller, 2024 (1).md") == "file:notes/Müller, 2024 (1).md"


@given(st.text(max_size=6), st.text(max_size=6))
def test_ids_tell_any_two_names_apart(one, other):
    assert (identity("file", one) == identity("file", other)) == (one == other)


def test_names_that_are_not_utf_8_are_written_with_escapes_everywhere(tmp_path):
    root = tmp_path.__class__(odd_named(tmp_path))
    nodes, skipped = read(root)
    assert [(each.id, each.title, each.parent) for each in nodes] == [
        ("folder:caf\\xe9", "caf\\xe9", None),
        ("file:caf\\xe9/men\\xfc.md", "men\\xfc.md", "folder:caf\\xe9"),
    ]
    assert nodes[0].source == f"{tmp_path}/caf\\xe9"
    assert skipped == {f"{tmp_path}/caf\\xe9/gr\\xf6\\xdfe.bin": "is not text"}
    for text in (*skipped, *(each.id + each.title + each.source for each in nodes)):
        text.encode("utf-8")


def test_an_empty_folder_is_a_node_alone(tmp_path):
    root = tmp_path / "empty"
    root.mkdir()
    assert [each.id for each in read(root)[0]] == ["folder:empty"]


def test_two_files_of_one_name_stay_two(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.md").write_text(folder)
    ids = {each.id for folder in ("a", "b") for each in read_files(tmp_path / folder / "notes.md")}
    assert len(ids) == 2
