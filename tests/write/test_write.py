"""Every surface writes by the same pipeline: a text is embedded once, with what it is about, and in no transaction."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest
from starlette.testclient import TestClient
from tests.write.watching import WatchedEmbedder, WatchedStore

from weftwork import Edge, Node, Weft
from weftwork.errors import NotFound, NotPermitted
from weftwork.faces.memory import Memories
from weftwork.faces.thread import FileRepository
from weftwork.ingest import load
from weftwork.ingest.connectors.registry import get_connector
from weftwork.ingest.documents.formats import missing_packages
from weftwork.ingest.documents.parsing import Parser
from weftwork.ingest.events import Attachment, Bundle
from weftwork.ingest.follow import follow
from weftwork.ingest.jsonlines import read_json_lines
from weftwork.ingest.uploads import Upload, admitted, read_upload
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Options
from weftwork.server.keys import make_key
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

NOW = datetime(2026, 3, 16, 9, tzinfo=UTC)
ABOUT = {"_about": "Finch > Mirror"}
BLOCK = Node(id="ben/coating", title="Coating", text="Aluminised.", fields=ABOUT)
EDITED = {"id": "ben/coating", "title": "Coating", "text": "Silvered.", "fields": ABOUT}


@pytest.fixture
def weft(tmp_path):
    """An engine without a cache of vectors, whose provider knows when a transaction is open."""
    store = WatchedStore(SqliteStore(tmp_path / "notes.weft", clock=lambda: NOW))
    store.create_workspace("main", owner="me")
    with Weft(store, Tools(CharacterCounter(), WatchedEmbedder(store)), clock=lambda: NOW) as opened:
        opened.add_user("ben")
        yield opened


def call(weft, method, path, body, scope="write"):
    """The server's answer to a key of Ben's."""
    _, token = make_key(weft.store, user="ben", workspaces=["main"], scope=scope, now=NOW)
    client = TestClient(make_app(weft, Options()), base_url="http://127.0.0.1:8000")
    headers = {"Authorization": f"Bearer {token}"}
    return client.request(method, f"/v1/workspaces/main/{path}", json=body, headers=headers)


def add(weft, _):
    weft.add([BLOCK, Node(id="a", title="A", text="amber")])
    weft.add([BLOCK, Node(id="b", title="A", text="amber")])


def add_in_a_transaction(weft, _):
    with weft.atomic() as batch:
        weft.add([BLOCK, Node(id="a", title="A", text="amber")])
        weft.add([Node(id="b", title="A", text="amber")])
        batch.link([Edge(source="a", target="b")])


def follow_notes(weft, tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    for coating in ("Aluminised", "Silvered"):
        (vault / "Finch.md").write_text(f"# Mirror\n\n## Coating\n\n- {coating}.\n- In [[Jena]].\n")
        follow(weft, vault, get_connector("obsidian"))


def follow_a_document(weft, tmp_path):
    if missing_packages():
        pytest.skip("needs  pip install 'weftwork[documents]'")
    (tmp_path / "finch.html").write_text("<h1>Mirror</h1><p>Aluminised.</p><h1>Dome</h1><p>It turns.</p>")
    follow(weft, tmp_path / "finch.html", get_connector("files"))


def load_bundles(weft, _):
    def pages(*texts):
        for number, text in enumerate(texts):
            yield Attachment(f"d#{number}", "image_path", f"page-{number}.jpg", b"picture")
            yield Node(id=f"d#{number}", parent="d", title="Page", text=text, fields=ABOUT)
        yield Node(id="d", title="Document", fields={"version": "-".join(texts)})

    for texts in (("one", "two"), ("two", "three")):
        report = load(weft, [Bundle("d", "d.pdf", (), partial(pages, *texts))], workspace="main")
        assert report.skipped == []


def load_lines(weft, tmp_path):
    lines = [{"id": "a", "title": "Coating", "text": "Aluminised.", "fields": ABOUT}, {"id": "b", "parent": "a"}]
    (tmp_path / "export.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    assert load(weft, read_json_lines(tmp_path / "export.jsonl"), workspace="main").skipped == []


def upload(weft, tmp_path):
    for text, readers in (("Birch is light.", None), ("Birch is white.", frozenset({"ben"}))):
        (tmp_path / "incoming").write_text(text)
        given = Upload(name="note.md", user="ben", at=NOW, access=readers)
        with admitted(weft, given, "main"):
            load(weft, read_upload(tmp_path / "incoming", given, Parser()), workspace="main")


def add_by_http(weft, scope):
    weft.add([BLOCK])
    assert call(weft, "POST", "nodes", {"nodes": [EDITED]}, scope).json()["embedded"] == 1
    assert call(weft, "POST", "nodes", {"nodes": [EDITED], "in_place": True}, scope).json()["embedded"] == 1


def write_to_a_thread_by_http(weft, _):
    thread = call(weft, "POST", "threads", {"title": "The mirror"}).json()["id"]
    assert call(weft, "POST", "messages", {"thread": thread, "messages": [{"role": "user", "text": "Who?"}]}).is_success


def remember_and_revise(weft, _):
    memories = Memories(weft)
    other = memories.remember("Finch is retired.")
    old = memories.remember("Finch coats it.", contradicts=[other.id])
    memories.revise(old.id, "Ibis coats it.")


def remember_and_revise_by_http(weft, _):
    old = call(weft, "POST", "memories", {"text": "Finch coats it."}).json()["id"]
    assert call(weft, "PUT", f"memories/{old}", {"text": "Ibis coats it."}).is_success


def keep_files(weft, _):
    files = FileRepository(weft)
    name = files.add("docs/plan.md", "Ship the mirror.")
    files.update(name, "Ship the dome.")
    files.add("docs/plan.md", "Ship the frame.", access=["me"])
    files.add("docs/plan.md", "Ship the frame.", access=["ben"])
    files.move(name, "docs/idea.md")


COATINGS = ["Finch > Mirror > Coating\nAluminised.", "Finch > Mirror > Coating\nSilvered."]
SURFACES = {
    "Weft.add": (add, [COATINGS[0], "A\namber"]),
    "Weft.add in a transaction": (add_in_a_transaction, [COATINGS[0], "A\namber"]),
    "connector, notes": (
        follow_notes,
        ["vault\n", "Finch\n", "Finch > Mirror\n",
         *(f"Finch > Mirror > Coating\n- {coating}.\n- In [[Jena]]." for coating in ("Aluminised", "Silvered"))],
    ),
    "connector, document": (
        follow_a_document,
        ["finch.html\n", "finch.html, section 1: Mirror\n# Mirror\n\nAluminised.",
         "finch.html, section 2: Dome\n# Dome\n\nIt turns."],
    ),
    "bundles": (load_bundles, ["Document\n", *(f"Finch > Mirror > Page\n{text}" for text in ("one", "two", "three"))]),
    "JSON lines": (load_lines, [COATINGS[0], "\n"]),
    "uploads": (upload, ["note.md\nBirch is light.", "note.md\nBirch is white."]),
    "HTTP, ordinary key": (lambda weft, _: add_by_http(weft, "write"), COATINGS),
    "HTTP, admin key": (lambda weft, _: add_by_http(weft, "admin"), COATINGS),
    "HTTP, thread": (write_to_a_thread_by_http, ["The mirror\n", "user\nWho?"]),
    "HTTP, memories": (remember_and_revise_by_http, ["\nFinch coats it.", "\nIbis coats it."]),
    "memories": (remember_and_revise, ["\nFinch is retired.", "\nFinch coats it.", "\nIbis coats it."]),
    "thread files": (
        keep_files,
        ["plan.md\nShip the mirror.", "plan.md\nShip the dome.", "plan.md\nShip the frame.",
         "idea.md\nShip the frame."],
    ),
}  # fmt: skip


@pytest.mark.parametrize("surface", SURFACES)
def test_each_text_is_embedded_once_and_before_its_transaction(weft, tmp_path, surface):
    write, texts = SURFACES[surface]
    write(weft, tmp_path)
    embedder = weft.tools.embedder
    assert sorted(embedder.texts) == sorted(texts)
    assert embedder.in_transaction == []
    assert weft.store.waiting("main", embedder.model) == 0


def test_what_is_refused_is_not_embedded(weft):
    weft.add([Node(id="mine", text="seen", owner="me"), Node(id="hidden", text="hidden", access=frozenset({"me"}))])
    shared = Memories(weft).remember("shared", access=["*"]).id
    file = FileRepository(weft).add("a.md", "seen", access=["*"])
    weft.tools.embedder.texts.clear()
    for node in ("mine", "hidden", "free"):
        assert call(weft, "POST", "nodes", {"nodes": [{"id": node, "text": "another"}]}).status_code in (403, 404)
    edge = {"source": "ben/new", "target": "hidden"}
    assert call(weft, "POST", "nodes", {"nodes": [{"id": "ben/new", "text": "x"}], "edges": [edge]}).status_code == 404
    assert call(weft, "PUT", f"memories/{shared}", {"text": "another"}).status_code == 403
    with pytest.raises(NotPermitted):
        Memories(weft).revise(shared, "another", user="ben")
    with pytest.raises(NotFound):
        Memories(weft).remember("another", contradicts=["hidden"], user="ben")
    with pytest.raises(NotPermitted):
        FileRepository(weft, "ben").update(file, "another")
    assert weft.tools.embedder.texts == []


def test_nobody_waits_for_the_files_of_a_bundle_while_it_is_embedded(weft, tmp_path, monkeypatch):
    files, embed_batch, asked = weft.store.files("main"), weft.tools.embedder.embed_batch, []

    def publish():
        with files.exclusively():
            asked.append(True)

    def embed(texts):
        pool.submit(publish).result(timeout=10)
        return embed_batch(texts)

    monkeypatch.setattr(weft.tools.embedder, "embed_batch", embed)
    with ThreadPoolExecutor(1) as pool:
        load_bundles(weft, tmp_path)
    assert asked == [True, True]
