import json
import sys
from datetime import UTC, datetime
from zipfile import ZipFile

import pytest
from tests.ingest.connectors.reading import read

from weftwork.cli import main
from weftwork.engine import Weft
from weftwork.faces.thread.service import ContextAssemblyService
from weftwork.ingest.connectors.chatgpt import ChatGPT
from weftwork.ingest.connectors.claude import Claude
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.follow import follow


def said(name, parent, role, text, at=1_700_000_000, **more):
    message = {
        "id": name,
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "metadata": {},
        "recipient": "all",
        **more,
    }
    return {"id": name, "parent": parent, "children": [], "message": message}


def conversation(*nodes, current=None, **more):
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    mapping |= {node["id"]: node for node in nodes}
    return {
        "conversation_id": "c-1",
        "title": "Mirrors",
        "create_time": 1_700_000_000,
        "update_time": 1_700_000_500,
        "current_node": current or nodes[-1]["id"],
        "mapping": mapping,
        **more,
    }


@pytest.fixture
def export(tmp_path):
    def write(*conversations, name="conversations.json"):
        path = tmp_path / name
        path.write_text(json.dumps(conversations), "utf-8")
        return path

    return write


class TestChatGPT:
    def test_the_branch_that_was_open_is_what_was_said(self, export):
        path = export(
            conversation(
                said("a", "root", "user", "How many mirrors?"),
                said("b", "a", "assistant", "Ten."),
                said("c", "a", "assistant", "Twelve.", 1_700_000_020),
                said("d", "b", "user", "A road not taken"),
                current="c",
            )
        )
        reading = read(ChatGPT(), path)
        (thread,) = reading.of("thread")
        messages = reading.below(thread)
        assert [(node.fields["role"], node.title, node.text) for node in messages] == [
            ("user", "user", "How many mirrors?"),
            ("assistant", "assistant", "Twelve."),
        ]
        assert {node.conversation for node in messages} == {thread.id}
        assert messages[1].created_at == datetime(2023, 11, 14, 22, 13, 40, tzinfo=UTC)
        assert (thread.title, thread.updated_at.tzinfo) == ("Mirrors", UTC)

    def test_what_the_page_did_not_show_is_left_out(self, export):
        hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
        thoughts = {"content": {"content_type": "thoughts", "parts": ["Hm."]}}
        path = export(
            conversation(
                said("a", "root", "system", "Be kind."),
                said("b", "a", "user", "Profile", **hidden),
                said("c", "b", "user", "Hello"),
                said("d", "c", "assistant", "", **thoughts),
                said("e", "d", "assistant", "print(1)", recipient="python"),
                said("f", "e", "tool", "1"),
                said("g", "f", "assistant", "Hi \ue200cite\ue202turn0\ue201there"),
            )
        )
        assert [node.text for node in read(ChatGPT(), path).of("message")] == ["Hello", "Hi there"]

    def test_pictures_are_noted_and_speech_and_canvas_are_text(self, export):
        parts = [
            {"content_type": "image_asset_pointer"},
            {"content_type": "audio_transcription", "text": "Spoken"},
            "x",
        ]
        canvas = json.dumps({"name": "Plan", "type": "document", "content": "Step one"})
        path = export(
            conversation(
                said("a", "root", "user", "", content={"content_type": "multimodal_text", "parts": parts}),
                said("b", "a", "assistant", canvas, recipient="canmore.create_textdoc"),
            )
        )
        assert [node.text for node in read(ChatGPT(), path).of("message")] == [
            "[image]\n\nSpoken\n\nx",
            "Plan\n\nStep one",
        ]

    def test_without_a_current_message_the_last_written_one_is_followed(self, export):
        broken = conversation(
            said("a", "root", "user", "First"),
            said("b", "a", "assistant", "Old", 1_700_000_010),
            said("c", "a", "assistant", "New", 1_700_000_020),
        )
        path = export({**broken, "current_node": "gone"})
        assert [node.text for node in read(ChatGPT(), path).of("message")] == ["First", "New"]

    def test_a_ring_of_messages_is_cut_and_said(self, export):
        path = export(conversation(said("a", "b", "user", "One"), said("b", "a", "assistant", "Two")))
        reading = read(ChatGPT(), path)
        assert [node.text for node in reading.of("message")] == ["One", "Two"]
        assert "back to themselves" in reading.notes[0].why

    def test_what_is_no_conversation_is_reported_and_the_rest_loads(self, export):
        whole = conversation(said("a", "root", "user", "Hello"))
        times = conversation(said("a", "root", "user", "When?", at="soon"), conversation_id="c-2", create_time=1e300)
        path = export(whole, 7, {"mapping": [], "id": "x"}, {"title": "no mapping"}, times, whole)
        reading = read(ChatGPT(), path)
        assert [node.text for node in reading.of("message")] == ["Hello", "When?"]
        assert len(reading.skipped) == 4
        assert reading.of("message")[1].created_at is None

    def test_a_truncated_file_loads_what_is_whole_and_removes_nothing(self, export, weft):
        first = conversation(said("a", "root", "user", "Hello"))
        path = export(first, conversation(said("a", "root", "user", "Bye"), conversation_id="c-2"))
        assert follow(weft, path, ChatGPT()).nodes == 5
        text = path.read_text()
        path.write_text(text[:-40])
        report = follow(weft, path, ChatGPT())
        assert (report.removed, len(report.skipped)) == (0, 1)
        assert weft.store.unchecked_nodes("main", ["chatgpt:c-2"])

    def test_a_newer_export_changes_only_the_conversations_that_differ(self, export, weft):
        first = conversation(said("a", "root", "user", "Hello"))
        second = conversation(said("a", "root", "user", "Bye"), conversation_id="c-2")
        follow(weft, export(first, second), ChatGPT())
        longer = conversation(said("a", "root", "user", "Hello"), said("b", "a", "assistant", "Hi"))
        third = conversation(said("a", "root", "user", "New"), conversation_id="c-3")
        report = follow(weft, export(third, longer), ChatGPT())
        assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 1, 1)
        assert not weft.store.unchecked_nodes("main", ["chatgpt:c-2", "chatgpt:c-2#a"])

    def test_an_export_is_known_as_a_file_a_folder_and_a_zip(self, export, tmp_path):
        path = export(conversation(said("a", "root", "user", "Hello")))
        with ZipFile(tmp_path / "export.zip", "w") as archive:
            archive.write(path, "conversations.json")
            archive.writestr("chat.html", "<html>")
        folder = tmp_path / "unpacked"
        folder.mkdir()
        (folder / "conversations.json").write_bytes(path.read_bytes())
        for each in (path, tmp_path / "export.zip", folder):
            assert recognise(each).name == "chatgpt"
            assert len(read(ChatGPT(), each).of("message")) == 1


class TestClaude:
    def test_messages_roles_times_and_attached_texts(self, export):
        messages = [
            {"uuid": "m1", "sender": "human", "text": "Read this", "created_at": "2025-05-01T10:00:00Z",
             "attachments": [{"file_name": "plan.txt", "extracted_content": "Forty telescopes"}], "files": []},
            {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "2025-05-01T10:00:05.5+02:00",
             "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Forty."},
                         {"type": "tool_use", "name": "x"}]},
            {"uuid": "m3", "sender": "robot", "text": "beep"},
            "nonsense",
        ]  # fmt: skip
        path = export({"uuid": "c-1", "name": "Plan", "chat_messages": messages, "created_at": "2025-05-01T10:00:00Z"})
        assert recognise(path).name == "claude"
        reading = read(Claude(), path)
        (thread,) = reading.of("thread")
        one, two = reading.below(thread)
        assert (one.fields["role"], one.fields["files"], two.fields["role"]) == ("user", ("plan.txt",), "assistant")
        assert (two.text, two.created_at) == ("Forty.", datetime(2025, 5, 1, 8, 0, 5, 500_000, tzinfo=UTC))
        assert [(node.title, node.text, node.parent) for node in reading.of("file")] == [
            ("plan.txt", "Forty telescopes", one.id)
        ]
        assert "1 of its messages" in reading.skipped[0].why

    def test_projects_are_named_as_left_out(self, export):
        path = export({"uuid": "c-1", "name": "Plan", "chat_messages": []})
        path.with_name("projects.json").write_text("[]")
        (skipped,) = read(Claude(), path.parent).skipped
        assert (skipped.what, skipped.why) == (
            f"{path.parent}: projects.json", "holds projects with their documents, which are not read",
        )  # fmt: skip

    def test_what_cannot_be_opened_now_is_not_taken_for_gone(self, export, weft):
        path = export(
            {"uuid": "c-1", "name": "Plan", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hi"}]}
        )
        assert follow(weft, path.parent, Claude()).added == 2
        path.unlink()
        path.symlink_to("not-mounted")
        report = follow(weft, path.parent, Claude())
        assert (report.removed, [skipped.why for skipped in report.skipped]) == (
            0, ["cannot be read (No such file or directory)"],
        )  # fmt: skip

    def test_the_open_branch_is_followed_where_messages_name_their_parents(self, export):
        def message(name, parent, text):
            return {"uuid": name, "sender": "human", "text": text, "parent_message_uuid": parent}

        messages = [message("a", "0", "One"), message("b", "a", "Not taken"), message("c", "a", "Two")]
        path = export({"uuid": "c-1", "name": "", "chat_messages": messages})
        assert [node.text for node in read(Claude(), path).of("message")] == ["One", "Two"]


def test_an_imported_conversation_is_a_thread_that_context_goes_on_with(export, tmp_path, monkeypatch, capsys):
    path = export(
        conversation(
            said("a", "root", "user", "Which supplier coats our mirrors?"),
            said("b", "a", "assistant", "Calder Optics in Halden coats them."),
        )
    )
    store = tmp_path / "notes.weft"
    with Weft.open(store, embedder="hashing") as weft:
        follow(weft, path, recognise(path))
        prime = ContextAssemblyService(weft).build("chatgpt:c-1", "And who sells them?")
    assert [item.metadata.node for item in prime.items if "Calder" in item.content] == ["chatgpt:c-1#b"]
    command = ["weftwork", "context", "And then?", "--thread", "chatgpt:c-1", "--store", str(store)]
    monkeypatch.setenv("WEFTWORK_EMBEDDER", "hashing")
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    shown = capsys.readouterr().out
    assert "Calder Optics in Halden" in shown
    assert "Which supplier" in shown
