"""Exports of note programs: Evernote, Keep, Bear, Apple Notes; and Mattermost's."""

import json
from zipfile import ZipFile

import pytest
from tests.ingest.connectors.reading import read, real, shown

from weftwork.ingest.connectors.registry import recognise

ENEX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">
<en-export export-date="20260101T000000Z" application="Evernote" version="10.0">
<note><title>Finch</title><content><![CDATA[<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd">
<en-note><h2>Parts</h2><div>Tube of birch, see <a href="evernote:///view/1/s1/a/a/">Mirror</a>.</div>
<div><en-todo checked="true"/>sand it</div><ul style="--en-todo:true;"><li style="--en-checked:false;"><div>paint
it</div></li></ul><div style="--en-codeblock:true;"><div>if x:</div>
<div>&nbsp;&nbsp;y</div></div></en-note>]]></content>
<created>20260310T101500Z</created><updated>20260311T081200Z</updated><tag>optics</tag>
<note-attributes><author>Ana</author><reminder-time>20260401T080000Z</reminder-time></note-attributes>
<task><title>call Calder</title><taskStatus>open</taskStatus><dueDate>20260402T000000Z</dueDate></task>
<resource><data encoding="base64">iVBORw0KGgo=</data><mime>image/png</mime>
<resource-attributes><file-name>tube.png</file-name></resource-attributes></resource></note>
<note><title>Mirror</title><content><![CDATA[<en-note>Coated in February.</en-note>]]></content></note>
</en-export>"""


def load(path):
    connector = recognise(path)
    return connector.name, read(connector, path)


def test_notes_of_evernote_have_sections_tasks_code_tags_dates_and_links(tmp_path):
    path = tmp_path / "Garage.enex"
    path.write_text(ENEX)
    name, found = load(path)
    assert name == "evernote"
    finch = found.node("Finch")
    assert (finch.tags, shown(finch)["due"], shown(finch)["attachments"]) == (
        ("optics",),
        "2026-04-01",
        ("tube.png",),
    )
    assert finch.created_at.isoformat() == "2026-03-10T10:15:00+00:00"
    assert [(node.title, node.fields["status"], node.fields.get("due")) for node in found.of("todo")] == [
        ("sand it", "done", None),
        ("paint it", "open", None),
        ("call Calder", "open", "2026-04-02"),
    ]
    said = found.said(finch)
    assert "Tube of birch, see Mirror." in said
    assert "if x:\n" in said and "\n  y\n```" in said
    assert "iVBOR" not in said
    assert [link.names for link in found.links] == [("Mirror",)]
    assert found.node("Mirror").text == "Coated in February."


def test_an_export_of_evernote_that_ends_in_the_middle_gives_what_is_whole(tmp_path):
    path = tmp_path / "Cut.enex"
    path.write_text(ENEX[: ENEX.index("Coated")])
    _, found = load(path)
    assert [node.title for node in found.of("page")] == ["Finch"]
    assert "is damaged" in found.unread[0].why


def keep_note(**members):
    return {"isTrashed": False, "userEditedTimestampUsec": 1772611200000000, **members}


def test_notes_of_keep_have_labels_and_checklists_and_the_trash_is_left_out(tmp_path):
    notes = {
        "List": keep_note(title="List", listContent=[{"text": "birch", "isChecked": True}, {"text": "cork"}]),
        "Idea": keep_note(textContent="A lighter tube.\nOf cork.", labels=[{"name": "optics"}], isArchived=True),
        "Old": keep_note(title="Old", textContent="gone") | {"isTrashed": True},
    }
    path = tmp_path / "takeout.zip"
    with ZipFile(path, "w") as archive:
        for title, note in notes.items():
            archive.writestr(f"Takeout/Keep/{title}.json", json.dumps(note))
            archive.writestr(f"Takeout/Keep/{title}.html", "<p>a copy")
    name, found = load(path)
    assert name == "keep"
    assert [(node.title, node.fields["status"]) for node in found.of("todo")] == [("birch", "done"), ("cork", "open")]
    idea = found.node("A lighter tube.")
    assert (idea.tags, shown(idea), idea.text) == (("optics",), {"archived": True}, "Of cork.")
    assert idea.updated_at.isoformat() == "2026-03-04T08:00:00+00:00"
    assert [skipped.why for skipped in found.skipped] == ["1 notes are in the trash"]
    assert "gone" not in "".join(node.text for node in found.nodes)


def bear_info(number, **members):
    return json.dumps({"net.shinyfrog.bear": {"uniqueIdentifier": f"id-{number}", **members}, "version": 2})


def test_a_backup_of_bear_has_its_notes_with_tags_and_links_but_no_trash_and_nothing_encrypted(tmp_path):
    path = tmp_path / "notes.bear2bk"
    with ZipFile(path, "w") as archive:
        for name, text, info in (
            ("Finch", "# Finch\n#big scope# #optics/home\n\nSee [[Mirror/Coating]].", bear_info(1, pinned=1)),
            ("Mirror", "# Mirror\n\n## Coating\n\nbear://x-callback-url/open-note?id=id-1", bear_info(2)),
            ("Old", "# Old\n\nthrown away", bear_info(3, trashed=1)),
            ("Secret", "", bear_info(4, encrypted=1)),
        ):
            archive.writestr(f"B/{name}.textbundle/text.md", text)
            archive.writestr(f"B/{name}.textbundle/info.json", info)
    name, found = load(path)
    assert name == "bear"
    assert [node.title for node in found.of("page")] == ["Finch", "Mirror"]
    assert found.node("Finch").tags == ("big scope", "optics/home")
    assert [(link.names, link.anchor) for link in found.links] == [
        (("Mirror/Coating", "Mirror"), "Coating"),
        (("id-1",), ""),
    ]
    assert sorted(skipped.why.partition(":")[0] for skipped in found.skipped) == [
        "1 notes are in the trash",
        "is encrypted",
    ]


def test_apple_notes_are_the_texts_that_are_called_like_their_folders(tmp_path):
    root = tmp_path / "iCloud Notes"
    for folder, text in (("Finch", "Finch\nA telescope of birch."), ("Recently Deleted/Old", "Old\ngone")):
        place = root / "Notes" / folder
        place.mkdir(parents=True)
        (place / f"{place.name}.txt").write_text(text, "utf-16")
    (root / "Notes" / "Finch" / "tube.jpeg").write_bytes(b"\xff\xd8\xff")
    path = tmp_path / "notes.zip"
    with ZipFile(path, "w") as archive:
        for file in sorted(root.rglob("*.*")):
            archive.write(file, file.relative_to(tmp_path))
    name, found = load(path)
    assert name == "apple-notes"
    (note,) = found.of("page")
    assert (note.title, note.text, shown(note)) == ("Finch", "A telescope of birch.", {"attachments": ("tube.jpeg",)})


def test_channels_of_mattermost_have_posts_threads_and_direct_messages(tmp_path):
    post = {"team": "t", "channel": "optics", "create_at": 1772611200000}
    lines = [
        {"type": "version", "version": 1},
        {"type": "channel", "channel": {"team": "t", "name": "optics", "display_name": "Optics", "purpose": "Lenses"}},
        {"type": "user", "user": {"username": "ana", "first_name": "Ana", "last_name": "Reis"}},
        {"type": "post", "post": {**post, "user": "ana", "type": "system_join_channel", "message": "ana joined."}},
        {"type": "post", "post": {**post, "user": "ana", "message": "Coating?",
         "replies": [{"user": "bo", "message": "In February.", "create_at": 1772611260000}]}},
        {"type": "direct_post", "direct_post": {"channel_members": ["ana", "bo"], "user": "bo", "message": "Lunch?",
         "create_at": 1772611200000}},
    ]  # fmt: skip
    path = tmp_path / "import.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    name, found = load(path)
    assert name == "mattermost"
    assert [(node.title, node.text) for node in found.of("message")] == [
        ("bo", "Lunch?"),
        ("Ana Reis", "Coating?"),
        ("bo", "In February."),
    ]
    assert [node.title for node in found.of("thread")] == ["Ana Reis, bo", "Optics", "Coating?"]
    assert found.node("Optics").text == "Lenses"


@pytest.mark.parametrize(
    ("sample", "connector", "pages"),
    [
        ("keep/notes", "keep", 12),
        ("bear/backup-2.bear2bk", "bear", 5),
        ("evernote/test-task-lists.enex", "evernote", 1),
    ],
)
def test_real_samples_are_recognised_and_read_whole(sample, connector, pages):
    name, found = load(real(f"export_samples/obsidian-importer/{sample}"))
    assert (name, len(found.of("page"))) == (connector, pages)
    assert not found.unread


def test_every_post_of_a_real_mattermost_export_is_a_message():
    path = real("export_samples/zulip/mattermost_v11.6.0_fixtures/raw_mmctl_output")
    _, found = load(path)
    posts = []
    for line in (path / "import.jsonl").read_text().splitlines():
        value = json.loads(line)
        if value["type"] in ("post", "direct_post"):
            post = value[value["type"]]
            posts += [post, *(post.get("replies") or [])]
    written = [post for post in posts if post["message"].strip() or post.get("attachments")]
    assert len(found.of("message")) == sum(not post.get("type", "").startswith("system_") for post in written)
