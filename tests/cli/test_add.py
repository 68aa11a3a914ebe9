import json
import subprocess

import pytest

from weftwork import Weft
from weftwork.ingest.documents.formats import missing_packages


@pytest.fixture
def ready(weft, here):
    weft("init")
    return here


def test_files_and_folders_are_added(weft, ready):
    (ready / "notes").mkdir()
    (ready / "notes" / "a.md").write_text("The mirror.")
    (ready / "b.md").write_text("The base.")
    ran = weft("add", "notes", "b.md")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "notes: 2 added, 0 changed, 0 moved, 0 removed, 0 unchanged, 0 skipped\n"
        "b.md: 1 added, 0 changed, 0 moved, 0 removed, 0 unchanged, 0 skipped\n"
    )
    assert weft("search", "mirror", "--json").json[0]["node"] == "file:notes/a.md"


def test_adding_again_changes_only_what_differs(weft, ready):
    (ready / "a.md").write_text("The mirror.")
    weft("add", "a.md")
    assert weft("add", "a.md").out.startswith("0 added, 0 changed, 0 moved, 0 removed, 1 unchanged")
    (ready / "a.md").write_text("Another mirror.")
    assert weft("add", "a.md").out.startswith("0 added, 1 changed")


def test_what_was_skipped_is_named_on_standard_error(weft, ready):
    (ready / "x.bin").write_bytes(b"\0")
    ran = weft("add", "x.bin")
    assert ran.code == 1, "nothing was added"
    assert ran.out == "0 added, 0 changed, 0 moved, 0 removed, 0 unchanged, 1 skipped\n"
    assert ran.err == "  skipped x.bin: is not text\n"


def test_many_skipped_lines_are_shortened_but_not_for_scripts(weft, ready):
    (ready / "x.jsonl").write_text('{"id": 5}\n' * 25)
    ran = weft("add", "x.jsonl")
    assert ran.err.count("skipped x.jsonl:") == 20
    assert ran.err.endswith("  … and 5 more: use --json to see all\n")
    output = weft("add", "x.jsonl", "--json")
    assert output.err == ""
    assert len(output.json["skipped"]) == 25
    assert output.json["skipped"][24] == {"what": "x.jsonl:25", "why": "id must be text, got 5"}


def test_a_first_report_counts_what_is_alike_and_names_three_of_it(weft, ready):
    (ready / "notes").mkdir()
    for name in "abcde":
        (ready / "notes" / f"{name}.bin").write_bytes(b"\0")
        (ready / "notes" / f"{name}.md").write_text(f"---\n[\n---\n[[gone {name}]] ![](picture-{name}.png)")
    lines = weft("add", "notes").err.splitlines()
    assert [line.partition(":")[0] for line in lines[:4]] == [
        *(f"  skipped {ready / 'notes' / name}.bin".replace(f"{ready}/", "") for name in "abc"), "  skipped 2 more",
    ]  # fmt: skip
    assert sum("note on" in line for line in lines) == 4
    assert lines[-4:] == [
        "  a.md links to gone a, which is not there", "  a.md links to picture-a.png, which is not there",
        "  b.md links to gone b, which is not there",
        "  … and 7 more links to what is not there: use --json to see all",
    ]  # fmt: skip
    assert len(weft("add", "notes", "--json").json["unresolved"]) == 10


def test_json_counts_everything(weft, ready):
    lines = [{"id": "a"}, {"id": "b"}, {"source": "a", "target": "b"}, {"user": "ana"}]
    (ready / "x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert weft("add", "--json", "x.jsonl").json == {
        "added": 0, "changed": 0, "connectors": [], "dry_run": False, "edges": 1, "files": [], "links": 0,
        "mentions": 0, "moved": 0,
        "nodes": 2, "notes": [], "read": 2, "removed": 0, "skipped": [], "unchanged": 0, "unresolved": [], "users": 1,
    }  # fmt: skip
    assert weft("add", "x.jsonl").out == "read 2 nodes: 0 new or changed, 0 edges, 1 users, 0 skipped\n"


def test_a_path_that_does_not_exist_is_an_error(weft, ready):
    ran = weft("add", "gone.md")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "error: gone.md does not exist: give a file or a folder\n"


def test_a_path_is_required(weft, ready):
    ran = weft("add")
    assert (ran.code, ran.out) == (2, "")
    assert "Missing argument 'PATHS...'" in ran.err


def test_documents_are_added_page_by_page_by_one_process(weft, ready, monkeypatch):
    if missing_packages():
        pytest.skip("documents are not read here: run  pip install 'weftwork[documents]'")
    started, start = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **more: started.append(given) or start(*given, **more))
    (ready / "a.html").write_text("<h1>One</h1><p>The mirror.</p><h1>Two</h1><p>The base.</p>")
    (ready / "b.html").write_text("<p>The dome.</p>")
    ran = weft("add", "a.html", "b.html")
    assert (ran.code, ran.err) == (0, "")
    counts = "1 added, 0 changed, 0 moved, 0 removed, 0 unchanged, 0 skipped\n"
    assert ran.out == f"a.html: {counts}b.html: {counts}"
    assert len(started) == 1
    assert weft("search", "base", "--json").json[0]["node"] == f"document:{ready}/a.html#page=2"
    assert weft("add", "a.html", "b.html").out.count("0 added, 0 changed, 0 moved, 0 removed, 1 unchanged") == 2


def test_what_a_file_is_called_cannot_forge_a_line_of_the_report(weft, ready):
    (ready / "notes").mkdir()
    (ready / "notes" / "x\nread 9 nodes\x1b[2J.bin").write_bytes(b"\0")
    ran = weft("add", "notes")
    assert ran.err.splitlines() == ["  skipped notes/x\\nread 9 nodes\\x1b[2J.bin: is not text"]


def test_another_workspace_can_be_filled(weft, ready):
    weft("init", "--workspace", "other")
    (ready / "a.md").write_text("The mirror.")
    assert weft("add", "a.md", "--workspace", "other").code == 0
    assert weft("stats", "--json", "--workspace", "other").json["nodes"] == 1
    assert weft("stats", "--json").json["nodes"] == 0


def test_adding_a_changed_file_again_does_not_undo_its_access_list(weft, ready):
    (ready / "pay.md").write_text("Salaries.")
    weft("add", "pay.md")
    with Weft.open(ready / "notes.weft", embedder=None) as engine:
        engine.add_user("ben")
        node = engine.search("salaries", mode="words")[0].node.id
        with engine.atomic() as batch:
            batch.set_access(node, frozenset({"me"}))
        (ready / "pay.md").write_text("Salaries of March.")
        weft("add", "pay.md")
        assert engine.search("march", mode="words")[0].node.access == frozenset({"me"})
        assert engine.search("march", mode="words", user="ben") == []


def test_add_names_each_file_and_what_became_of_it(here, weft):
    weft("init")
    (here / "boat").mkdir()
    (here / "boat" / "Care.md").write_text("Dry it.")
    listed = weft("add", "--list", "boat").out.splitlines()[1:]
    assert [line.split() for line in listed] == [["added", "boat"], ["added", "boat/Care.md"]]
    files = weft("add", "--json", "boat").json["files"]
    assert [(file["became"], file["what"]) for file in files] == [("unchanged", "boat"), ("unchanged", "boat/Care.md")]
