import sqlite3
from datetime import UTC, datetime

from weftwork.store.sqlite.backup import back_up_into, verify


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


def test_backups_for_a_timer_share_what_did_not_change_and_the_oldest_go(here, filled):
    store = filled / "notes.weft"
    picture = filled / "notes.weft.files" / "1" / "ab" / "cd" / "page.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"a picture")
    moments = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2, 3)]
    made = [back_up_into(filled / "copies", store, moment, keep=2) for moment in moments]
    assert [path.name for path in made[2][2]] == ["2026-03-01T00-00-00Z"]
    kept = sorted(path.name for path in (filled / "copies").iterdir())
    assert kept == ["2026-03-02T00-00-00Z", "2026-03-03T00-00-00Z"]
    files = [path / picture.relative_to(filled) for path in sorted((filled / "copies").iterdir())]
    assert [file.stat().st_nlink for file in files] == [2, 2]
    assert all(verify(target) == [] for target, _, _ in made[1:])
    files[0].write_bytes(b"damaged!!")
    picture.write_bytes(b"another one")
    target, _, _ = back_up_into(filled / "copies", store, datetime(2026, 3, 4, tzinfo=UTC), keep=5)
    assert (target / picture.relative_to(filled)).read_bytes() == b"another one"
