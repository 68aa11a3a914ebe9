"""What links and titles mean: among what a reader may see, as they are written."""

import pytest

from weftwork import Filters, Weft
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.follow import follow
from weftwork.store.contract.kit import NOW

LOG = "Spoke about Zephyr Project, the Apollo Mission and [[Roadmap]].\n"
PRIVATE = {
    "Roadmap.md": "Hidden.\n",
    "Zephyr Project.md": "Hidden too.\n",
    "Apollo Mission Control.md": "And this.\n",
    "Plans.md": "---\naliases: [Roadmap, Apollo Mission]\n---\nAll of it.\n",
}


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "notes.weft", embedder="hashing", clock=lambda: NOW) as opened:
        opened.add_user("ben")
        yield opened


def seen(weft, user="ben"):
    """The edges from the log that a user may see: their types, and the titles that they lead to."""
    with weft.store.view("main", user) as view:
        log = view.find("Log")[0]
        edges = view.neighbours(log, direction="out")
        return sorted((edge.type, node.title, node.source.rpartition("vault/")[2]) for edge, node in edges)


def test_hidden_notes_take_no_edge_from_visible_ones(weft, tmp_path):
    vault = tmp_path / "vault"
    (vault / "private").mkdir(parents=True)
    for name, text in {
        "Log.md": LOG,
        "Roadmap.md": "A.\n",
        "Zephyr Project.md": "B.\n",
        "Apollo Mission.md": "C.\n",
    }.items():
        (vault / name).write_text(text)
    follow(weft, vault, get_connector("obsidian"))
    with weft.store.view("main", "me") as view:
        private = next(node.id for node in view.select(Filters(), limit=50) if node.title == "private")
    with weft.atomic() as batch:
        batch.set_access(private, frozenset({"me"}))
    before = seen(weft)
    assert {title for _, title, _ in before} >= {"Roadmap", "Zephyr Project", "Apollo Mission"}

    for name, text in PRIVATE.items():
        (vault / "private" / name).write_text(text)
    follow(weft, vault, get_connector("obsidian"))
    assert seen(weft) == before
    assert len(seen(weft, "me")) > len(before)

    (vault / "Log.md").write_text(f"{LOG}Again.\n")
    follow(weft, vault, get_connector("obsidian"))
    assert seen(weft) == before

    for name in PRIVATE:
        (vault / "private" / name).unlink()
    follow(weft, vault, get_connector("obsidian"))
    assert seen(weft) == seen(weft, "me") == before


def test_a_note_is_mentioned_as_its_heading_is_written_not_as_its_file(weft, tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "dash.md").write_text("# Dash\n\nA framework for charts.\n")
    (vault / "Log.md").write_text("Add a dash of vinegar.\n")
    follow(weft, vault, get_connector("obsidian"))
    assert seen(weft, "me") == []
    (vault / "Log.md").write_text("The charts are made with Dash.\n")
    follow(weft, vault, get_connector("obsidian"))
    assert [(kind, source) for kind, _, source in seen(weft, "me")] == [("mention", "dash.md")]
