import json
import signal


def test_what_was_added_for_later_is_found_by_words_and_embedded_by_a_worker(weft, here):
    weft("init")
    (here / "notes").mkdir()
    (here / "notes" / "a.md").write_text("# Quince\n\nThe quince jam is on the shelf.\n", encoding="utf-8")
    assert weft("add", "--embed", "later", "notes").code == 0
    assert "on the shelf" in weft("search", "quince", "--mode", "words").out
    assert weft("search", "The quince jam is on the shelf.", "--mode", "vector", "--json").json == []
    before = signal.getsignal(signal.SIGTERM)
    ran = weft("worker", "--once", "--batch", "1", "--json")
    assert ran.code == 0, ran.err
    *batches, last = map(json.loads, ran.out.splitlines())
    assert last == {"total": len(batches)}
    assert {batche["workspace"] for batche in batches} == {"main"}
    assert weft("search", "The quince jam is on the shelf.", "--mode", "vector", "--json").json != []
    assert weft("worker", "--once", "--all").out == "0 texts embedded\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_worker_needs_an_embedder_and_a_workspace(weft, monkeypatch):
    weft("init")
    assert "does not exist" in weft("worker", "--once", "--workspace", "nowhere").err
    monkeypatch.setenv("WEFTWORK_EMBEDDER", "none")
    ran = weft("worker", "--once")
    assert (ran.code, "WEFTWORK_EMBEDDER" in ran.err) == (1, True)
