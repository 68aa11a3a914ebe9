def test_connectors_are_listed_with_their_origin(weft):
    output = weft("connectors").out.splitlines()
    assert any(line.startswith("obsidian") and line.endswith("(built-in)") for line in output)
    listed = weft("connectors", "--json").json
    assert {"name", "summary", "origin"} == listed[0].keys()
    assert {"obsidian", "markdown", "files"} <= {each["name"] for each in listed}


def test_a_folder_can_be_read_as_something_else(weft, here):
    weft("init")
    (here / "v").mkdir()
    (here / "v" / "a.md").write_text("# Title\n\nText of [[nobody]].")
    dry = weft("add", "--dry-run", "v")
    assert dry.out == "would be: 2 added, 0 changed, 0 moved, 0 removed, 0 unchanged, 0 skipped; " + (
        "0 links, 1 unresolved\n"
    )
    assert dry.err == "  a.md links to nobody, which is not there\n"
    assert weft("stats", "--json").json["nodes"] == 0
    output = weft("add", "--as", "obsidian", "v", "--json").json
    assert (output["connectors"], output["added"], output["unresolved"]) == (
        ["obsidian"], 2, [{"key": "a.md", "what": "a.md", "target": "nobody"}],
    )  # fmt: skip
    ran = weft("add", "--as", "nonsense", "v")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: unknown connector 'nonsense': use one of ")


def test_mentions_are_visible_and_can_be_switched_off(weft, here):
    weft("init")
    (here / "v").mkdir()
    (here / "v" / "Hill Street.md").write_text("An observatory.")
    (here / "v" / "b.md").write_text("We went to Hill street.")
    assert weft("add", "v", "--json").json["mentions"] == 1
    assert "mention" in weft("explain", "file:v/b.md", "--recipe", "graph").out
    assert weft("add", "v", "--no-mentions", "--json").json["mentions"] == 0
    (here / "weftwork.toml").write_text("mentions = false\n")
    assert weft("add", "v", "--json").json["mentions"] == 0
    assert weft("add", "v", "--mentions", "--json").json["mentions"] == 1
