import os
from datetime import UTC, datetime

import pytest

from weftwork import Edge, Node
from weftwork.errors import NotFound
from weftwork.ingest.documents.formats import missing_packages
from weftwork.ingest.sync import sync


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    for name, text in {"a.md": "The mirror.", "sub/b.md": "The base of steel.", "sub/c.md": "The dome."}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def counts(report):
    return {
        name: getattr(report, name)
        for name in ("added", "changed", "moved", "removed", "unchanged")
        if getattr(report, name)
    }


def found(weft, query):
    return [result.node.id for result in weft.search(query, mode="words")]


def citations(weft, node):
    with weft.store.view("main", "me") as view:
        return [record.passage.citation for record in view.load(view.passages([node], limit=9).get(node, []))]


def test_a_folder_is_added_and_then_left_alone(weft, notes):
    assert counts(sync(weft, notes)) == {"added": 5}
    version = weft.store.version("main")
    assert counts(sync(weft, notes)) == {"unchanged": 5}
    assert weft.store.version("main") == version


def test_a_file_that_was_only_touched_is_left_alone(weft, notes):
    sync(weft, notes)
    os.utime(notes / "a.md", (1, 1))
    assert counts(sync(weft, notes)) == {"unchanged": 5}


def test_what_changed_is_indexed_again_and_its_old_passages_are_gone(weft, notes):
    sync(weft, notes)
    (old,) = citations(weft, "file:notes/a.md")
    (notes / "a.md").write_text("The lens.")
    os.utime(notes / "a.md", (1_760_000_000, 1_760_000_000))
    assert counts(sync(weft, notes)) == {"changed": 1, "unchanged": 4}
    assert found(weft, "mirror") == []
    assert found(weft, "lens") == ["file:notes/a.md"]
    assert weft.node("file:notes/a.md").updated_at == datetime.fromtimestamp(1_760_000_000, UTC)
    with pytest.raises(NotFound):
        weft.node(old)


def test_what_is_gone_is_removed_with_its_folder(weft, notes):
    sync(weft, notes)
    for name in ("sub/b.md", "sub/c.md"):
        (notes / name).unlink()
    (notes / "sub").rmdir()
    assert counts(sync(weft, notes)) == {"removed": 3, "unchanged": 2}
    assert found(weft, "steel dome") == []


def test_what_was_renamed_keeps_its_id_its_links_its_list_and_what_was_said_of_it(weft, notes):
    sync(weft, notes)
    weft.add_user("ben")
    weft.add([Node(id="thread", type="thread")], [Edge(source="thread", target="file:notes/sub/b.md")])
    weft.feedback("file:notes/sub/b.md", True)
    with weft.atomic() as batch:
        batch.set_access("file:notes/sub/b.md", frozenset({"me"}))
    (notes / "sub" / "b.md").rename(notes / "base.md")
    assert counts(sync(weft, notes)) == {"moved": 1, "unchanged": 4}
    node = weft.node("file:notes/sub/b.md")
    assert (node.title, node.parent, node.source) == ("base", "folder:notes", str(notes / "base.md"))
    assert node.access == {"me"}
    with weft.store.view("main", "me") as view:
        assert [other.id for _, other in view.neighbours("thread")] == ["file:notes/sub/b.md"]
        assert [(vote.node, vote.useful) for vote in view.votes(9)] == [(node.id, True)]
    with weft.store.view("main", "ben") as view:
        assert view.nodes([node.id]) == []
    # and from then on it is known in its new place
    (notes / "base.md").write_text("The base of wood.")
    assert counts(sync(weft, notes)) == {"changed": 1, "unchanged": 4}
    assert found(weft, "wood") == ["file:notes/sub/b.md"]


def test_a_new_file_in_the_place_of_a_renamed_one_is_another_file(weft, notes):
    sync(weft, notes)
    (notes / "a.md").rename(notes / "z.md")
    sync(weft, notes)
    (notes / "a.md").write_text("Something else.")
    assert counts(sync(weft, notes)) == {"added": 1, "unchanged": 5}
    assert found(weft, "mirror") == ["file:notes/a.md"]
    assert found(weft, "something") == ["file:notes/a.md#2"]
    assert counts(sync(weft, notes)) == {"unchanged": 6}


def test_of_several_files_with_the_same_content_none_is_taken_for_another(weft, notes):
    (notes / "sub" / "d.md").write_text("The dome.")
    sync(weft, notes)
    (notes / "sub" / "c.md").rename(notes / "e.md")
    (notes / "sub" / "d.md").rename(notes / "f.md")
    assert counts(sync(weft, notes)) == {"added": 2, "removed": 2, "unchanged": 4}


def test_access_lists_and_tags_outlive_a_change(weft, notes):
    sync(weft, notes)
    node = weft.node("file:notes/a.md")
    weft.add([Node(id=node.id, type="file", title=node.title, text=node.text, parent=node.parent, tags=("keep",))])
    with weft.atomic() as batch:
        batch.set_access(node.id, frozenset({"me"}))
    (notes / "a.md").write_text("The lens.")
    sync(weft, notes)
    after = weft.node(node.id)
    assert (after.text, after.tags, after.access) == ("The lens.", ("keep",), {"me"})


def test_hidden_notes_of_the_same_names_take_no_links_and_mentions_from_visible_ones(weft, notes):
    def seen():
        with weft.store.view("main", "ben") as view:
            return [(edge.type, edge.target) for edge, _ in view.neighbours("file:notes/log.md", direction="out")]

    (notes / "log.md").write_text("See [[Roadmap]]. Apollo is late.")
    (notes / "Roadmap.md").write_text("Plans.")
    (notes / "Apollo.md").write_text("A dome.")
    weft.add_user("ben")
    sync(weft, notes)
    before = seen()
    assert {target for _, target in before} >= {"file:notes/Roadmap.md", "file:notes/Apollo.md"}
    with weft.atomic() as batch:
        batch.set_access(weft.node("file:notes/sub/b.md").parent, frozenset({"me"}))
    for name in ("Roadmap", "Apollo"):
        (notes / "sub" / f"{name}.md").write_text("Secret.")
    (notes / "log.md").write_text("See [[Roadmap]]. Apollo is late, again.")
    sync(weft, notes)
    assert seen() == before


def test_the_same_folder_by_another_spelling_is_the_same(weft, notes, monkeypatch):
    sync(weft, notes)
    monkeypatch.chdir(notes.parent)
    (notes / "a.md").rename(notes / "z.md")
    assert counts(sync(weft, notes.relative_to(notes.parent))) == {"moved": 1, "unchanged": 4}
    assert counts(sync(weft, notes)) == {"unchanged": 5}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_opened_is_not_taken_for_gone(weft, notes):
    sync(weft, notes)
    (notes / "a.md").chmod(0)
    (notes / "sub").chmod(0)
    try:
        report = sync(weft, notes)
    finally:
        (notes / "sub").chmod(0o755)
    assert counts(report).get("removed") is None
    assert len(report.skipped) == 2


def test_what_became_binary_is_gone(weft, notes):
    sync(weft, notes)
    (notes / "a.md").write_bytes(b"\0\1")
    report = sync(weft, notes)
    assert counts(report) == {"removed": 1, "unchanged": 4}
    assert [skipped.why for skipped in report.skipped] == ["is not text"]


def test_a_single_file_is_refused(weft, notes):
    with pytest.raises(NotFound, match="is no folder"):
        sync(weft, notes / "a.md")


@pytest.mark.skipif(bool(missing_packages()), reason="needs the extra  documents")
def test_documents_are_read_again_when_they_change_and_go_with_their_pages(weft, notes):
    (notes / "x.html").write_text("<h1>Plan</h1><p>The telescope.</p>")
    sync(weft, notes)
    assert counts(sync(weft, notes)) == {"unchanged": 6}
    (notes / "x.html").write_text("<h1>Plan</h1><p>The observatory.</p>")
    assert counts(sync(weft, notes)) == {"changed": 1, "unchanged": 5}
    assert (found(weft, "telescope"), found(weft, "observatory")) == ([], ["document:notes/x.html#page=1"])
    (notes / "x.html").rename(notes / "sub" / "y.html")
    assert counts(sync(weft, notes)) == {"moved": 1, "unchanged": 5}
    moved = weft.node("document:notes/x.html")
    assert (moved.title, moved.parent, moved.source) == ("y.html", "folder:notes/sub", str(notes / "sub" / "y.html"))
    (notes / "sub" / "y.html").unlink()
    assert counts(sync(weft, notes)) == {"removed": 1, "unchanged": 5}
    assert found(weft, "observatory") == []
