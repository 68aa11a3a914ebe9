import sqlite3


def test_a_store_is_backed_up_verified_and_restored(weft, filled):
    ran = weft("backup", "copies/monday")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("main: ") and ran.out.endswith("is whole, with 0 files\n")
    assert weft("verify", "copies/monday").out == "copies/monday is whole\n"
    assert weft("restore", "copies/monday", "again.weft").code == 0
    found = [weft("search", "mirror", "--json", "--store", name).json for name in ("notes.weft", "again.weft")]
    assert found[0] == found[1] != []


def test_a_damaged_backup_is_told_and_an_existing_store_is_kept(weft, filled):
    weft("backup", "monday")
    refused = weft("restore", "monday", "notes.weft")
    assert (refused.code, "move it away" in refused.err) == (1, True)
    with sqlite3.connect(filled / "monday" / "notes.weft") as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    ran = weft("verify", "monday", "--json")
    assert (ran.code, len(ran.json["problems"])) == (1, 1)
    assert weft("verify", "monday").out.endswith("use another backup\n")


def test_a_database_is_backed_up_by_its_own_means(weft, here):
    ran = weft("backup", "monday", "--store", "postgresql://db.example/notes")
    assert (ran.code, "pg_dump" in ran.err) == (1, True)
