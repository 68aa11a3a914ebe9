import io
import json

import pytest


@pytest.fixture
def notes(weft, here):
    folder = here / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Plan\n\nThe mirror ships in April.\n")
    (folder / "b.md").write_text("# Budget\n\nSee [[a]].\n")
    assert weft("init").code == 0
    assert weft("add", "notes").code == 0
    return folder


def nodes(weft):
    return weft("stats", "--json").json["nodes"]


def test_what_was_added_is_listed(weft, notes):
    (listed,) = weft("sources", "--json").json
    assert (listed["place"], listed["connector"], listed["is_there"]) == (str(notes), "obsidian", True)
    assert weft("sources").out == f"{notes}  3 by obsidian\n"
    notes.rename(notes.parent / "elsewhere")
    assert weft("sources").out.endswith("(gone from disk)\n")


def test_one_file_is_stored_once_by_whichever_path_it_is_added(weft, notes):
    before = nodes(weft)
    for path in ("notes/a.md", "notes", "notes/"):
        assert weft("add", path).code == 0
        assert nodes(weft) == before
    ran = weft("add", ".")
    assert ran.code == 1
    assert f"{notes} was added by itself and lies in ." in ran.err
    assert "weftwork sources remove folder:notes" in ran.err
    assert nodes(weft) == before


def test_a_changed_file_is_read_by_its_own_path(weft, notes):
    (notes / "a.md").write_text("# Plan\n\nThe mirror ships in June.\n")
    assert weft("add", "notes/a.md").code == 0
    assert "June" in weft("search", "mirror ships").out


def test_a_file_that_its_folder_left_out_is_added_by_itself(weft, notes):
    (notes / ".hidden").mkdir()
    (notes / ".hidden" / "c.md").write_text("# Hidden\n\nA drawer.\n")
    assert weft("add", "notes/.hidden/c.md").code == 0
    assert "drawer" in weft("search", "drawer").out


def test_removing_a_source_removes_what_came_from_it_and_nothing_else(weft, notes, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    weft("remember", "The lab is closed")
    ran = weft("sources", "remove", "notes")
    assert (ran.code, ran.out) == (1, "")
    assert "use --yes in a script" in ran.err
    before = nodes(weft)
    ran = weft("sources", "remove", "notes", "--yes", "--json")
    assert (ran.code, ran.json) == (0, {"removed": before - 1})
    assert nodes(weft) == 1
    assert weft("sources", "--json").json == []
    assert weft("search", "mirror", "--mode", "words").code == 1
    assert (notes / "a.md").exists()
    assert weft("add", "notes").code == 0
    assert nodes(weft) == before


def test_reading_again_keeps_ids_and_access(weft, notes):
    weft("users", "add", "ben")
    weft("access", "revoke", "notes", "*")
    weft("access", "grant", "notes", "me")
    before = weft("export", "-").out
    ran = weft("sources", "read", str(notes))
    assert ran.code == 0
    assert "3 changed" in ran.out
    assert weft("export", "-").out == before
    assert weft("search", "mirror", "--user", "ben").code == 1


def test_an_unknown_source_is_named_with_those_there_are(weft, notes):
    ran = weft("sources", "remove", "nots", "--yes")
    assert ran.code == 1
    assert str(notes) in ran.err


def test_nodes_are_removed_by_title_citation_or_lines_of_standard_input(weft, filled, monkeypatch):
    assert "finch" in weft("remove", "Finch").err
    assert weft("remove", "Finch", "--yes", "--json").json == {"removed": 2}
    assert weft("read", "Mirror").code == 1
    assert weft("remove", "nothing at all", "--yes").code == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("base\ncash\n"))
    assert weft("remove", "-", "--yes").out == "removed 2 nodes\n"


def test_an_access_list_holds_from_the_first_moment_and_for_what_comes_later(weft, filled):
    folder = filled / "diary"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nThe walrus was seen.\n")
    assert weft("add", "diary", "--access", "me").code == 0
    (folder / "two.md").write_text("# Two\n\nThe walrus came back.\n")
    assert weft("add", "diary").code == 0
    assert weft("search", "walrus", "--mode", "words").out.count("walrus") == 2
    assert weft("search", "walrus", "--mode", "words", "--user", "ben").code == 1
    assert weft("access", "show", "Two", "--json").json["access"] == ["me"]
    assert weft("add", "diary", "--access", "me", "--access", "ben").code == 0
    assert weft("search", "walrus", "--mode", "words", "--user", "ben").code == 0


def test_access_is_shown_granted_revoked_and_inherited(weft, filled):
    assert weft("access", "show", "finch").out == "finch: whoever the workspace says (said by the workspace)\n"
    assert weft("access", "show", "cash", "--json").json["own"] == ["me"]
    assert weft("access", "grant", "Cash", "ben").out == "cash: ben, me\n"
    assert weft("read", "Cash", "--user", "ben").code == 0
    assert weft("access", "revoke", "Cash", "ben").out == "cash: me\n"
    assert weft("read", "Cash", "--user", "ben").code == 1
    assert weft("access", "revoke", "finch", "*").out == "finch: nobody but its owner\n"
    assert weft("read", "mirror", "--user", "ben").code == 1, "what is below follows"


def test_a_user_who_is_not_there_is_granted_nothing(weft, filled):
    ran = weft("access", "grant", "Cash", "bne")
    assert ran.code == 1
    assert "has no user 'bne': it has ben, me" in ran.err


def test_an_inherited_list_is_dropped(weft, filled):
    assert weft("access", "inherit", "Cash").code == 0
    assert weft("read", "Cash", "--user", "ben").code == 0


def test_json_lines_round_trip(weft, filled, here):
    weft("remember", "We ship on 3 May")
    assert weft("export", "all.jsonl").code == 0
    assert weft("export", "-").out == (here / "all.jsonl").read_text()
    for line in (here / "all.jsonl").read_text().splitlines():
        json.loads(line)
    assert weft("workspaces", "create", "copy").code == 0
    assert weft("users", "add", "ben", "--workspace", "copy").code == 0
    assert weft("add", "all.jsonl", "--workspace", "copy").code == 0
    assert weft("export", "-", "--workspace", "copy").out == (here / "all.jsonl").read_text()
    assert "cash" not in weft("export", "-", "--user", "ben").out


def test_markdown_has_a_file_for_each_document(weft, notes, here):
    weft("remember", "We ship on 3 May")
    ran = weft("export", "out")
    assert (ran.code, ran.out) == (0, "")
    written = {path.relative_to(here / "out").as_posix() for path in (here / "out").rglob("*.md")}
    assert {"notes/a.md", "notes/b.md"} <= written
    assert len(written) == 3
    text = (here / "out" / "notes" / "a.md").read_text()
    assert text.startswith("---\nid: ")
    assert "The mirror ships in April." in text
    assert "is not empty" in weft("export", "out").err


def test_workspaces_are_listed_created_and_removed(weft, filled):
    assert weft("workspaces").out == "main  2 users\n"
    assert weft("workspaces", "create", "lab", "--user", "ana").code == 0
    assert weft("workspaces", "--json").json[0] == {"name": "lab", "users": ["ana"]}
    assert weft("workspaces", "remove", "lab").code == 1
    assert weft("workspaces", "remove", "lab", "--yes").out == "removed 'lab'\n"
    assert weft("workspaces", "remove", "lab", "--yes").code == 1
    assert weft("workspaces").out == "main  2 users\n"


def test_threads_and_their_messages_are_listed(weft, filled):
    from weftwork import Weft

    with Weft.open("notes.weft", embedder="hashing") as opened:
        thread = opened.threads.create("Mirror")
        opened.threads.post(thread.id, "When does it ship?")
    assert weft("threads").out.startswith(thread.id)
    (message,) = weft("threads", thread.id, "--json").json
    assert (message["role"], message["text"]) == ("user", "When does it ship?")
    assert weft("threads", "nonsense").code == 1


def test_settings_are_shown_with_their_origin_and_set(weft, filled, monkeypatch):
    shown = weft("config", "--json").json
    assert shown["user"] == {"value": "me", "from": "default"}
    assert shown["embedder"] == {"value": "hashing", "from": "WEFTWORK_EMBEDDER"}
    assert weft("config", "set", "budget", "900").code == 0
    assert weft("config", "get", "budget").out == "900\n"
    assert weft("config", "--json").json["budget"]["from"].endswith("weftwork.toml")
    assert weft("context", "mirror", "--json").json["budget"] == 900
    assert weft("config", "set", "budget", "lots").code == 2
    assert "unknown tokenizer 'gpt-elf'" in weft("config", "set", "tokenizer", "gpt-elf").err
    assert weft("config", "get", "tokenizer").out == "o200k_base\n", "a wrong one is not written"
    assert "unknown setting 'buget'" in weft("config", "set", "buget", "1").err
    assert weft("config", "get", "mentions").out == "True\n"


def test_a_password_is_not_shown(weft, here, monkeypatch):
    monkeypatch.setenv("WEFTWORK_STORE", "postgresql://me:secret@db/notes")
    assert "secret" not in weft("config").out + weft("config", "get", "store").out


def test_a_minus_reads_standard_input(weft, filled, monkeypatch):
    def given(text):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    given("The lab is closed\n")
    assert weft("remember", "-").code == 0
    assert "The lab is closed" in weft("memories").out
    for command in ("context", "search", "explain", "ask"):
        given("When does the mirror ship?\n")
        ran = weft(command, "-")
        assert ran.code == 0
        assert "April" in ran.out or command == "explain"
    given(json.dumps({"id": "x", "text": "A walrus."}) + "\n")
    assert weft("add", "-").code == 0
    assert "walrus" in weft("search", "walrus").out
    given("")
    assert "standard input is empty" in weft("context", "-").err


def test_a_command_with_a_typo_is_suggested(weft, filled):
    ran = weft("contxt", "x")
    assert ran.code == 2
    assert "there is no command 'contxt': did you mean context?" in ran.err
