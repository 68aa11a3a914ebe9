"""`weftwork erase` and `weftwork users about`."""


def test_a_user_is_shown_and_erased_with_a_report(weft, filled):
    weft("remember", "My locker is number seven", "--user", "ben")
    told = weft("users", "about", "ben").json
    assert [each["text"] for each in told["content"]] == ["My locker is number seven"]
    erased = weft("erase", "ben", "--yes")
    assert erased.code == 0
    assert "1  nodes" in erased.out and "1  user" in erased.out
    assert "backups, exports, logs" in erased.err
    assert weft("users", "about", "ben").code == 1
    assert weft("doctor").code == 0


def test_a_source_is_erased_and_its_files_stay(weft, here):
    (here / "notes").mkdir()
    (here / "notes" / "zeppelin.md").write_text("# Zeppelin\n\nIt departs at noon.\n")
    weft("init")
    weft("add", "notes")
    assert weft("erase", "--source", "notes", "--json", "--yes").json["counts"]["nodes"] >= 1
    assert b"zeppelin" not in (here / "notes.weft").read_bytes()
    assert (here / "notes" / "zeppelin.md").exists()
    assert weft("sources").out == ""


def test_what_expires_is_a_setting_and_without_one_nothing_does(weft, filled):
    refused = weft("erase", "--expired", "--yes")
    assert refused.code == 1 and "[retention]" in refused.err
    with (filled / "weftwork.toml").open("a") as file:
        file.write("[retention]\ntodo = 1\n")
    assert weft("erase", "--expired", "--yes", "--json").json["counts"] == {}
    assert weft("erase").code == weft("erase", "ben", "--expired").code == 1
