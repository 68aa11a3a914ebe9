from contextlib import closing

from tests.ingest.remotes.servers import webdav


def test_pull_adds_what_a_server_has_and_again_what_changed(here, weft, monkeypatch):
    weft("init")
    files = {"Ropes.md": b"# Ropes\n\nHemp.", "Sails.md": b"# Sails\n\nCanvas."}
    with closing(webdav(files, password="secret")) as web:
        address = f"webdav+{web.url.replace('http://', 'http://ann@')}/files"
        monkeypatch.setenv("WEFTWORK_SOURCE_KEY", "secret")
        first = weft("pull", address)
        assert first.out.startswith("2 copied, 0 gone; 3 added"), first
        assert weft("sources").out == f"{address}  3 by markdown\n"
        del files["Sails.md"]
        (again,) = weft("pull", "--json").json["pulled"]
        assert (again["address"], again["removed"], again["public"]) == (address, 1, False)
        assert again["report"]["removed"] == 1
        monkeypatch.setenv("WEFTWORK_SOURCE_KEY", "wrong")
        refused = weft("pull", address)
        assert refused.code == 1
        assert "weftwork pull --help" in refused.err
    assert (here / "notes.weft.sources").is_dir()
    assert weft("search", "hemp", "--json").json
    assert f"weftwork pull {address}" in weft("sources", "read", address).err
    assert weft("sources", "remove", address, "--yes").out == "removed 2 nodes\n"


def test_pull_without_anything_to_pull_says_so(here, weft):
    weft("init")
    assert "give an address" in weft("pull").err
    assert "begins with WEFTWORK_" in weft("pull", "notion:", "--key-env", "HOME").err
