"""What a newcomer does in the first hour, in Python."""

import pytest

from weftwork import Node, Weft
from weftwork.errors import NotFound, WeftError
from weftwork.faces.memory import Memories


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder="hashing") as opened:
        yield opened


def test_a_path_is_added_as_the_command_adds_it(weft, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Plan\n\nThe mirror ships in April.\n")
    (folder / "x.bin").write_bytes(b"\0\1")
    added = weft.add(folder)
    assert added.nodes >= 2
    (skipped,) = added.skipped
    assert skipped.endswith("x.bin: is not text")
    assert weft.add(str(folder)).nodes == 0, "unchanged"
    assert "April" in weft.context("When does the mirror ship?").text
    lines = tmp_path / "more.jsonl"
    lines.write_text('{"id": "w", "text": "A walrus."}\n{"nonsense"\n')
    added = weft.add(lines)
    assert (added.nodes, len(added.skipped)) == (1, 1)
    with pytest.raises(NotFound, match=r"does not exist: give a file or a folder"):
        weft.add(tmp_path / "absent")


def test_what_is_no_node_is_refused_with_a_sentence(weft):
    for wrong in ([{"id": "a"}], [None], 5):
        with pytest.raises(WeftError, match="Node"):
            weft.add(wrong)


def test_a_memory_stands_in_a_context_that_long_notes_would_fill(weft):
    filler = "How publishing works for the pages of a garden wall, a gate and a hedge. " * 12
    weft.add([Node(id=f"n{number}", title=f"Publishing {number}", text=f"{number} {filler}") for number in range(30)])
    memories = Memories(weft)
    memories.remember("I publish with GitHub Pages")
    memories.remember("Answer in French", pinned=True)
    memories.remember("The cat is called Tom")
    context = weft.context("Which publishing do I use?", budget=800)
    assert "I publish with GitHub Pages" in context.text
    assert "Answer in French" in context.text
    assert "Tom" not in context.text
    assert context.tokens <= 800
    assert context.sections[0].name == "memories"


def test_pinned_memories_are_their_owners(weft):
    weft.add_user("ben")
    weft.add([Node(id="a", title="Mirror", text="The mirror ships in April.")])
    Memories(weft).remember("Answer in French", pinned=True, access=["ben"])
    assert "French" in weft.context("When does the mirror ship?").text
    assert "French" not in weft.context("When does the mirror ship?", user="ben").text
