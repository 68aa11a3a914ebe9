import os
from dataclasses import replace

import pytest

from weftwork import Edge, Node
from weftwork.errors import InvalidInput, NotFound
from weftwork.history import Vote
from weftwork.ingest.connectors.protocol import Source
from weftwork.ingest.connectors.registry import get_connector, recognise
from weftwork.ingest.follow import follow
from weftwork.ingest.links import Unresolved
from weftwork.ingest.report import Options

VAULT = {
    "Finch.md": "A telescope. It needs a [[mirrors/Coating|coat]].\n\n# Parts\n\nSee [[Base#Legs]].",
    "Base.md": "---\naliases: [Tripod head]\n---\nOf birch.\n\n## Legs\n\nThree birch legs.",
    "mirrors/Coating.md": "Made by [[Calder Optics]].",
}


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    for name, text in VAULT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def added(weft, path, **options):
    return follow(weft, path, get_connector("obsidian"), Options(**options))


def counts(report):
    names = ("added", "changed", "moved", "removed", "unchanged")
    return {name: getattr(report, name) for name in names if getattr(report, name)}


def edges(weft, node, *types):
    with weft.store.view("main", "me") as view:
        neighbours = view.neighbours(node, direction="out", types=types)
    return sorted((edge.type, other.title or other.text, edge.label) for edge, other in neighbours)


def block(weft, words):
    return next(found.node for found in weft.search(words, mode="words") if words in found.passage.text)


def titled(weft, title):
    return next(found.node for found in weft.search(title, mode="words") if found.node.title == title)


def test_links_lead_to_pages_and_to_headings_in_them_and_the_others_are_told(weft, vault):
    report = added(weft, vault)
    assert edges(weft, "file:vault/Finch.md") == [("reference", "Coating", "coat")]
    assert edges(weft, block(weft, "See [[Base").id) == [("reference", "Legs", "")]
    unresolved = [Unresolved("mirrors/Coating.md", "Calder Optics", what="mirrors/Coating.md")]
    assert (report.links, report.unresolved) == (2, unresolved)


def test_a_link_that_points_nowhere_resolves_when_its_target_appears_and_is_kept_when_it_goes(weft, vault):
    added(weft, vault)
    (vault / "People").mkdir()
    (vault / "People" / "Calder optics.md").write_text("In Sund.")
    report = added(weft, vault)
    assert (counts(report), report.unresolved) == ({"added": 2, "unchanged": 5}, [])
    assert edges(weft, "file:vault/mirrors/Coating.md") == [("reference", "Calder optics", "")]
    (vault / "People" / "Calder optics.md").unlink()
    assert [link.target for link in added(weft, vault).unresolved] == ["Calder Optics"]
    assert edges(weft, "file:vault/mirrors/Coating.md") == []


def test_a_renamed_page_keeps_its_id_and_is_then_found_by_its_new_name(weft, vault):
    (vault / "mirrors" / "Coating.md").write_text("Made by [[Tube]].")
    added(weft, vault)
    (vault / "Base.md").rename(vault / "mirrors" / "Tube.md")
    report = added(weft, vault)
    assert counts(report) == {"moved": 1, "unchanged": 4}
    assert weft.node("file:vault/Base.md").title == "Tube"
    assert edges(weft, "file:vault/mirrors/Coating.md") == [("reference", "Tube", "")]
    assert [link.target for link in report.unresolved] == ["Base"]


def test_a_folder_that_is_renamed_keeps_the_ids_of_its_notes_also_of_equal_ones(weft, vault):
    for name in ("a", "b"):
        (vault / "mirrors" / f"{name}.md").write_text("")
    added(weft, vault)
    (vault / "mirrors").rename(vault / "optics")
    assert counts(added(weft, vault)) == {"added": 1, "moved": 3, "removed": 1, "unchanged": 3}
    with weft.store.view("main", "me") as view:
        moved = view.nodes([f"file:vault/mirrors/{name}.md" for name in ("a", "b", "Coating")])
    assert [(node.title, node.parent) for node in moved] == [
        (name, "folder:vault/optics") for name in ("a", "b", "Coating")
    ]


def test_a_block_that_is_edited_in_its_place_keeps_its_id_and_what_belongs_to_it(weft, vault):
    def written(*tasks):
        (vault / "Finch.md").write_text("A telescope.\n\n" + "".join(f"- [ ] {task}\n" for task in tasks))

    written("One two.", "Three four.", "Five six.")
    added(weft, vault)
    middle = titled(weft, "Three four.").id
    weft.add([Node(id="thread", type="thread")], [Edge(source="thread", target=middle)])
    weft.feedback(middle, True)
    with weft.atomic() as batch:
        batch.set_access(middle, frozenset({"me"}))
    written("New.", "One two.", "Three and four.", "Five six.")
    assert counts(added(weft, vault))["changed"] == 1
    assert titled(weft, "Three and four.").id == middle
    written("One two.", "Three and more.", "Three four.", "Five six.")
    added(weft, vault)
    with weft.store.view("main", "me") as view:
        (node,) = view.nodes([middle])
        assert (node.title, node.access) == ("Three four.", {"me"})
        assert view.votes(9) == [Vote(middle, True)]
        assert [other.id for _, other in view.neighbours("thread")] == [middle]


def test_a_section_whose_text_or_heading_is_edited_keeps_its_id(weft, vault):
    added(weft, vault)
    section = block(weft, "Three birch legs").id
    (vault / "Base.md").write_text("Of birch.\n\nNew.\n\n## Top\n\nFlat.\n\n## Legs\n\nFour ash legs.")
    added(weft, vault)
    assert block(weft, "Four ash legs").id == section
    (vault / "Base.md").write_text("Of birch.\n\nNew.\n\n## Top\n\nFlat.\n\n## Feet\n\nFour ash legs.")
    added(weft, vault)
    assert (block(weft, "Four ash legs").id, block(weft, "Four ash legs").title) == (section, "Feet")


def test_what_a_block_says_no_more_is_gone_and_the_rest_stays_as_it_was(weft, vault):
    (vault / "Base.md").write_text("Of birch.\n\n- [ ] alpha\n- [ ] beta\n- [ ] gamma\n\nWords about delta.")
    added(weft, vault)
    kept, words = titled(weft, "gamma").id, block(weft, "delta").id
    (vault / "Base.md").write_text("Of birch.\n\n- [ ] alpha\n- [ ] gamma\n\nWords about delta.")
    report = added(weft, vault)
    assert weft.search("beta", mode="words") == []
    assert (titled(weft, "gamma").id, block(weft, "delta").id) == (kept, words)
    assert report.unchanged == 4


def test_a_title_in_another_text_becomes_a_weak_edge_also_from_notes_that_are_older(weft, vault):
    added(weft, vault)
    (vault / "Three birch legs.md").write_text("Say the Tripod head.")
    report = added(weft, vault)
    assert report.mentions == 2
    assert edges(weft, "file:vault/Three birch legs.md") == [("mention", "Base", "")]
    legs = weft.search("legs", mode="words")[0].node.id
    assert edges(weft, legs, "mention") == [("mention", "Three birch legs", "")]
    with weft.store.view("main", "me") as view:
        ((edge, _),) = view.neighbours(legs, types=["mention"], direction="out")
    assert edge.weight < 1
    (vault / "Three birch legs.md").rename(vault / "Four birch legs.md")
    assert added(weft, vault).mentions == 1
    assert edges(weft, legs) == []


def test_mentions_can_be_switched_off_and_on(weft, vault):
    (vault / "Three birch legs.md").write_text("x")
    assert added(weft, vault).mentions == 1
    assert added(weft, vault, mentions=False).mentions == 0
    assert weft.stats()["edges"] == 2
    assert added(weft, vault).mentions == 1
    assert weft.stats()["edges"] == 3


def test_a_page_that_is_linked_is_not_mentioned_as_well(weft, vault):
    (vault / "Note.md").write_text("The Tripod head, that is [[Base]].")
    added(weft, vault)
    assert edges(weft, "file:vault/Note.md") == [("reference", "Base", "")]


def test_a_dry_run_tells_what_would_happen_and_changes_nothing(weft, vault):
    report = added(weft, vault, dry_run=True)
    assert (counts(report), report.links, len(report.unresolved)) == ({"added": 5}, 2, 1)
    assert weft.stats()["nodes"] == 0
    added(weft, vault)
    version, marks = weft.store.version("main"), weft.store.marks("main", "sources folder:vault")
    (vault / "Base.md").rename(vault / "Stand.md")
    (vault / "Finch.md").write_text("Other.")
    (vault / "mirrors" / "Coating.md").unlink()
    assert counts(added(weft, vault, dry_run=True)) == {"changed": 1, "moved": 1, "removed": 1, "unchanged": 2}
    assert (weft.store.version("main"), weft.store.marks("main", "sources folder:vault")) == (version, marks)


def test_what_was_removed_by_hand_comes_back(weft, vault):
    added(weft, vault)
    weft.remove(["file:vault/Base.md"])
    assert counts(added(weft, vault)) == {"changed": 1, "unchanged": 4}
    assert weft.node("file:vault/Base.md").title == "Base"
    assert edges(weft, block(weft, "See [[Base").id) == [("reference", "Legs", "")]


def test_a_file_of_the_same_size_and_time_but_other_content_is_noticed(weft, vault):
    added(weft, vault)
    path = vault / "mirrors" / "Coating.md"
    status = path.stat()
    path.write_text(path.read_text().replace("Calder", "Colder"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counts(added(weft, vault))["changed"] == 1


def test_reading_a_folder_with_another_connector_replaces_what_the_first_one_made(weft, vault):
    (vault / "Finch.md").write_text("# The telescope\n\nText.")
    added(weft, vault)
    assert weft.node("file:vault/Finch.md").title == "Finch"
    report = follow(weft, vault, get_connector("markdown"))
    assert report.changed == 5
    assert weft.node("file:vault/Finch.md").title == "The telescope"


def test_a_folder_that_was_moved_tells_its_new_place(weft, vault, tmp_path):
    added(weft, vault)
    (tmp_path / "elsewhere").mkdir()
    vault.rename(tmp_path / "elsewhere" / "vault")
    added(weft, tmp_path / "elsewhere" / "vault")
    assert weft.node("file:vault/Base.md").source == str(tmp_path / "elsewhere" / "vault" / "Base.md")


class Odd:
    """A connector of which something is wrong."""

    name, summary, version = "odd", "Odd things", 1

    def __init__(self, *pieces):
        self.pieces = pieces

    def recognises(self, path):
        return 0.0

    def sources(self, path):
        for source in get_connector("obsidian").sources(path):
            changed = isinstance(source, Source) and source.key == "Base.md"
            yield replace(source, read=lambda name: iter(self.pieces)) if changed else source  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ((Node(id="elsewhere"),), "gave no node the id"),
        ((Node(id="file:vault/Base.md"), Node(id="elsewhere")), "which is none below"),
        ((Node(id="file:vault/Base.md"), Node(id="file:vault/Base.md")), "gave two nodes the id"),
        ((Node(id="file:vault/Base.md"), Edge(source="file:vault/Base.md", target="x")), "which it did not give"),
        ((Node(id="file:vault/Base.md", fields={"x": {}}),), "field 'x'"),  # type: ignore[dict-item]
        ((Node(id="file:vault/Base.md", parent="nowhere"),), "parent 'nowhere'"),
        ((), "holds nothing that can be added"),
    ],
)
def test_a_connector_that_is_not_sound_is_told_and_its_other_sources_are_added(weft, vault, pieces, why):
    report = follow(weft, vault, Odd(*pieces))
    ((what, told),) = [(skipped.what, skipped.why) for skipped in report.skipped]
    assert what == str(vault / "Base.md")
    assert why in told
    assert counts(report) == {"added": 4}
    assert weft.stats()["nodes"] == 5


def test_what_is_not_there_is_an_error(weft, tmp_path):
    with pytest.raises(NotFound):
        follow(weft, tmp_path / "none", get_connector("obsidian"))
    with pytest.raises(NotFound):
        recognise(tmp_path / "none")


def test_an_unknown_connector_is_an_error_that_names_those_there_are():
    with pytest.raises(InvalidInput, match=r"unknown connector 'onenote': use one of .*obsidian"):
        get_connector("onenote")


LINES = "\n".join(f"- The {what} needs care in winter" for what in ("hull", "keel", "mast", "boom", "sail", "rope"))


def test_a_page_that_was_renamed_and_edited_keeps_its_id_where_that_is_certain(weft, tmp_path):
    folder = tmp_path / "boat"
    folder.mkdir()
    (folder / "Care.md").write_text(LINES)
    (folder / "Crew.md").write_text("Ann steers.\n\nBob cooks.\n\nEve navigates by the stars.")
    follow(weft, folder, get_connector("markdown"))
    (folder / "Care.md").unlink()
    (folder / "Winter.md").write_text(LINES.replace("mast", "tiller") + "\n- Dry all of it first")
    report = follow(weft, folder, get_connector("markdown"))
    assert (report.moved, report.added, report.removed) == (1, 0, 0)
    assert weft.search("tiller")[0].node.id == "file:boat/Care.md"
    assert [(each.became, each.why) for each in report.outcomes] == [
        ("unchanged", ""), ("unchanged", ""), ("moved", "from Care.md"),
    ]  # fmt: skip


def test_a_page_that_may_be_either_of_two_is_a_new_one(weft, tmp_path):
    folder = tmp_path / "boat"
    folder.mkdir()
    for name in ("One", "Two"):
        (folder / f"{name}.md").write_text(f"{LINES}\n- {name} more")
    follow(weft, folder, get_connector("markdown"))
    for name in ("One", "Two"):
        (folder / f"{name}.md").unlink()
    (folder / "Three.md").write_text(f"{LINES}\n- three more")
    report = follow(weft, folder, get_connector("markdown"))
    assert (report.moved, report.added, report.removed) == (0, 1, 2)
    assert sorted((each.became, each.what.rpartition("/")[2]) for each in report.outcomes) == [
        ("added", "Three.md"), ("removed", "One.md"), ("removed", "Two.md"), ("unchanged", "boat"),
    ]  # fmt: skip


def test_the_report_names_what_was_skipped_and_why(weft, tmp_path):
    folder = tmp_path / "boat"
    folder.mkdir()
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 9)
    (folder / "Care.md").write_text("Dry it.")
    for _ in range(2):
        report = follow(weft, folder, get_connector("markdown"))
        outcomes = {each.what.rpartition("/")[2]: each for each in report.outcomes}
        assert outcomes["noise.bin"].became == "skipped"
        assert outcomes["noise.bin"].why
    assert outcomes["Care.md"].became == "unchanged"
