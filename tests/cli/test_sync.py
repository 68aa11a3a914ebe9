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


def test_two_folders_of_one_name_stand_side_by_side(weft, here):
    weft("init")
    for place, text in (("x", "alpha"), ("y", "beta")):
        (here / place / "notes" / "deep").mkdir(parents=True)
        (here / place / "notes" / "same.md").write_text(f"{text}, see [[deep]]")
        (here / place / "notes" / "deep" / "deep.md").write_text(f"deep {text}")
    added = weft("add", "x/notes", "y/notes")
    assert added.code == 0, added.err
    for command in ("sync", "add"):
        again = weft(command, "y/notes", "--json").json
        assert (again["unchanged"], again["added"], again["changed"], again["removed"]) == (4, 0, 0, 0)

    def found(word):
        return sorted(hit["node"] for hit in weft("search", word, "--json").json)

    first, second = (
        ["file:notes/deep/deep.md", "file:notes/same.md"],
        ["file:notes-2/deep/deep.md", "file:notes-2/same.md"],
    )
    assert (found("alpha"), found("beta")) == (first, second)
    (here / "y" / "notes" / "same.md").unlink()
    assert weft("sync", "y/notes", "--json").json["removed"] == 1
    assert (found("alpha"), found("beta")) == (first, second[:1])
    (here / "x").rename(here / "z")
    assert weft("sync", "z/notes").code == 0  # it was moved: the old one is gone
    assert found("alpha") == first
    assert weft("sync", "y/notes", "--json").json["unchanged"] == 3


def test_a_report_of_several_paths_says_of_which_it_speaks(weft, here):
    weft("init")
    for place in ("x", "y"):
        (here / place / "notes").mkdir(parents=True)
        (here / place / "notes" / f"{place}.md").write_text(place)
    lines = weft("add", "x/notes", "y/notes").out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["x/notes", "y/notes"]
    assert weft("add", "x/notes").out.startswith("0 added")
