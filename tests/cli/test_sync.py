def test_a_folder_is_followed(weft, here):
    weft("init")
    (here / "notes").mkdir()
    (here / "notes" / "a.md").write_text("The mirror.")
    (here / "notes" / "x.bin").write_bytes(b"\0")
    first = weft("sync", "notes")
    assert first.out == "2 added, 0 changed, 0 moved, 0 removed, 0 unchanged, 1 skipped\n"
    assert first.err == "  skipped notes/x.bin: is not text\n"
    (here / "notes" / "a.md").rename(here / "notes" / "b.md")
    output = weft("sync", "notes", "--json").json
    assert (output["moved"], output["unchanged"], output["skipped"][0]["what"]) == (1, 1, "notes/x.bin")


def test_what_is_no_folder_is_refused(weft, here):
    weft("init")
    ran = weft("sync", "gone")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: gone is no folder")


def test_another_folder_of_the_same_name_is_refused_and_changes_nothing(weft, here):
    weft("init")
    for place, text in (("x", "alpha"), ("y", "beta")):
        (here / place / "notes").mkdir(parents=True)
        (here / place / "notes" / f"{place}.md").write_text(text)
    assert weft("sync", "x/notes").code == 0
    for command in ("sync", "add"):
        ran = weft(command, "y/notes")
        assert ran.code == 1
        assert "another folder 'notes' is in this workspace already" in ran.err
    assert [each["node"] for each in weft("search", "alpha", "--json").json] == ["file:notes/x.md"]
    (here / "x").rename(here / "z")
    assert weft("sync", "z/notes").code == 0  # it was moved: the old one is gone
    assert [each["node"] for each in weft("search", "alpha", "--json").json] == ["file:notes/x.md"]
