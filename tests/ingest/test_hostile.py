"""Folders that would do harm: whatever they hold is reported and contained, and nothing is half-added."""

import os
import sys
from dataclasses import replace

import pytest

from weftwork.errors import InvalidInput
from weftwork.ingest.connectors.registry import get_connector, recognise
from weftwork.ingest.follow import follow


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Good.md").write_text("Sound.")
    return folder


def added(weft, vault):
    report = follow(weft, vault, get_connector("obsidian"))
    assert weft.node("file:vault/Good.md").text == "Sound."
    return report


def why(report):
    return {os.path.basename(skipped.what): skipped.why for skipped in report.skipped}


def test_links_in_circles_and_to_nowhere(weft, vault):
    (vault / "loop").symlink_to(vault)
    (vault / "self.md").symlink_to(vault / "self.md")
    (vault / "gone.md").symlink_to(vault / "nowhere.md")
    reasons = why(added(weft, vault))
    assert reasons["loop"] == "leads back to a folder above it"
    assert reasons.keys() == {"loop", "self.md", "gone.md"}
    assert weft.stats()["nodes"] == 2


def test_links_neither_multiply_folders_nor_lead_out_of_what_is_added(weft, vault, tmp_path):
    """Ten folders that each link to all others would be read in ten times nine times eight … places."""
    for number in range(10):
        (vault / f"f{number}").mkdir(parents=True)
        (vault / f"f{number}" / "note.md").write_text(f"Number {number}")
        for other in range(10):
            (vault / f"f{number}" / f"to{other}").symlink_to(vault / f"f{other}")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("A secret")
    (vault / "more").symlink_to(outside)
    (vault / "secret.md").symlink_to(outside / "secret.md")
    (vault / "up").symlink_to(tmp_path)
    (vault / "again.md").symlink_to(vault / "f1" / "note.md")
    report = added(weft, vault)
    reasons = why(report)
    assert reasons["secret.md"] == reasons["more"] == "leads out of what is added: add where it leads by itself"
    assert reasons["up"] == "leads back to a folder above it"
    assert reasons["to3"] == "leads to a folder that is read where it stands"
    assert report.added == 2 + 20 + 1  # the vault and its note, the ten folders with theirs, and the link to a note
    assert not weft.search("secret", mode="words")


def test_a_pipe_is_not_waited_for(weft, vault):
    os.mkfifo(vault / "pipe.md")
    assert recognise(vault).name == "markdown"
    assert why(added(weft, vault)) == {"pipe.md": "is not a regular file"}
    for follows in (recognise, lambda path: follow(weft, path, get_connector("chatgpt"))):
        with pytest.raises(InvalidInput, match="neither a file nor a folder"):
            follows(vault / "pipe.md")


def test_a_file_of_a_gigabyte_is_not_read(weft, vault):
    for name in ("big.md", "big.txt", "big.pdf"):
        with (vault / name).open("wb") as file:
            file.truncate(10**9)
    report = added(weft, vault)
    assert set(why(report)) == {"big.md", "big.txt", "big.pdf"}
    assert why(report)["big.md"] == "is larger than 20 MB"


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems take only text for names")
def test_names_that_are_no_text(weft, vault):
    path = os.fsencode(vault) + b"/caf\xe9 \n[[x]].md"
    with open(path, "w") as file:
        file.write("Odd [[Good]].")
    report = added(weft, vault)
    assert (report.added, report.links) == (3, 1)
    hits = weft.search("odd", mode="words")[0].node
    assert hits.title == "caf\\xe9 \n[[x]]"
    assert hits.id.isprintable()
    assert added(weft, vault).unchanged == 3


def test_deep_nesting_and_endless_lines(weft, vault):
    (vault / "lists.md").write_text("\n".join("  " * depth + f"- item{depth}" for depth in range(300)))
    (vault / "quotes.md").write_text(">" * 5000 + " innermost")
    (vault / "brackets.md").write_text("[" * 50_000 + "x" + "](" * 20_000)
    (vault / "ticks.md").write_text("`a ``b " * 20_000)
    (vault / "stars.md").write_text("*a **b " * 20_000 + "#t " * 20_000 + "\n\n" + "!!![[" * 20_000)
    report = added(weft, vault)
    assert report.added == 7
    assert any("nested too deeply" in note.why for note in report.notes)
    assert weft.search("item299", mode="words")


def test_a_file_that_changes_while_it_is_read_is_left_for_the_next_time(weft, vault):
    (vault / "Log.md").write_text("one")
    added(weft, vault)
    (vault / "Log.md").write_text("two")

    class Busy:
        name, summary, version = "obsidian", "", get_connector("obsidian").version

        def recognises(self, path):
            return 1.0

        def sources(self, path):
            for source in get_connector("obsidian").sources(path):
                yield replace(source, read=self.reading(source)) if source.key == "Log.md" else source

        def reading(self, source):
            def read(name):
                yield from source.read(name)
                with (vault / "Log.md").open("a") as file:
                    file.write(" more")

            return read

    report = follow(weft, vault, Busy())
    assert why(report) == {"Log.md": "changed while it was read: add it again"}
    assert weft.node("file:vault/Log.md").text == "one"
    assert added(weft, vault).changed == 1
    assert weft.node("file:vault/Log.md").text == "two more more"


def test_a_file_that_vanishes_or_becomes_a_folder_between_listing_and_reading(weft, vault):
    (vault / "a.md").write_text("a")
    (vault / "b.md").write_text("b")
    listed = list(get_connector("obsidian").sources(vault))

    class Late:
        name, summary, version = "obsidian", "", get_connector("obsidian").version

        def recognises(self, path):
            return 1.0

        def sources(self, path):
            (vault / "a.md").unlink()
            (vault / "b.md").unlink()
            (vault / "b.md").mkdir()
            yield from listed

    report = follow(weft, vault, Late())
    assert why(report) == {
        "a.md": "cannot be read (No such file or directory)", "b.md": "cannot be read (Is a directory)",
    }  # fmt: skip
    assert weft.stats()["nodes"] == 2


def test_two_names_that_differ_in_case_or_composition_are_two_notes(weft, vault):
    for name, text in (("Caf\u00e9.md", "composed"), ("Cafe\u0301.md", "decomposed"), ("good.md", "small [[Good]]")):
        (vault / name).write_text(text)
    if len(os.listdir(vault)) < 4:
        pytest.skip("this file system takes them for one")
    assert added(weft, vault).added == 5
