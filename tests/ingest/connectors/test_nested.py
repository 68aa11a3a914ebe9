"""In a folder, each file and each export is read by the connector for its kind."""

import json

import pytest

from weftwork.engine import Weft
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.follow import follow

from .reading import read

LETTER = """\
From: Ana <ana@example.org>
Subject: Mirror
Message-ID: <{0}@example.org>
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain

The mirror arrives on Friday.
--x
Content-Type: application/pdf; name=a.pdf
Content-Transfer-Encoding: base64

JVBERi0xLjQKJcOkw7zDtsOfCjIgMCBvYmoK
--x--
"""
MESSAGE = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Where is the tube?"]}}
CHAT = [{"id": "c1", "title": "Tubes", "mapping": {"a": {"message": MESSAGE, "parent": None}}, "current_node": "a"}]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "things"
    (path / "mail").mkdir(parents=True)
    (path / "mail" / "letter.eml").write_text(LETTER.format(1))
    (path / "mail" / "readme.txt").write_text("About the letters.")
    (path / "chats.json").write_text(json.dumps(CHAT))
    (path / "settings.json").write_text('{"colour": "blue"}')
    (path / "note.md").write_text("# Note\n\nText.")
    return path


def test_what_became_of_a_file_is_said_of_the_file(folder):
    listed = {source.what.removeprefix(f"{folder}/") for source in read(recognise(folder), folder).sources}
    assert {"mail/letter.eml", "mail/readme.txt", "chats.json: conversation 1"} <= listed


def test_mail_and_exports_among_other_files_are_read_as_such(folder):
    reading = read(recognise(folder), folder)
    (message,) = [node for node in reading.of("message") if node.title == "Ana"]
    assert message.text == "The mirror arrives on Friday."
    letter = reading.node("Mirror")
    assert letter.id == "mail:things/mail/letter.eml/1@example.org"
    assert letter.parent == reading.node("mail").id
    assert reading.node("Tubes").parent == reading.node("ChatGPT").id
    assert reading.node("ChatGPT").parent == reading.node("things").id
    assert {node.title for node in reading.of("file")} == {"readme.txt", "settings.json"}
    assert not any("JVBER" in node.text for node in reading.nodes)


def test_a_vault_reads_its_letters_as_mail_too(folder):
    (folder / ".obsidian").mkdir()
    reading = read(recognise(folder), folder)
    assert "The mirror arrives on Friday." in {node.text for node in reading.of("message")}


def test_a_folder_that_is_an_export_is_read_by_its_connector(folder):
    export = folder / "chatgpt"
    export.mkdir()
    (export / "conversations.json").write_text(json.dumps(CHAT))
    (export / "chat.html").write_text("<p>the same again</p>")
    reading = read(recognise(folder), folder)
    threads = [node.id for node in reading.of("thread")]
    assert "chatgpt:things/chatgpt/c1" in threads
    assert "chatgpt:things/chats.json/c1" in threads


def test_adding_again_changes_nothing_and_what_is_gone_is_removed(folder, tmp_path):
    with Weft.open(tmp_path / "x.weft", embedder=None) as weft:
        assert follow(weft, folder, recognise(folder)).skipped == []
        again = follow(weft, folder, recognise(folder))
        assert (again.added, again.changed, again.removed) == (0, 0, 0)
        (folder / "chats.json").unlink()
        gone = follow(weft, folder, recognise(folder))
        assert (gone.added, gone.removed) == (0, 2)
        assert weft.search("Where is the tube?") == []


def test_a_folder_of_letters_and_other_files_keeps_both(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.eml").write_text(LETTER.format(number))
    (tmp_path / "plan.md").write_text("# Plan")
    reading = read(recognise(tmp_path), tmp_path)
    assert (len(reading.of("message")), reading.node("Plan").type) == (3, "page")
