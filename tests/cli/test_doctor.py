import shutil
import sqlite3

from weftwork import Node, Weft


def test_a_sound_store_is_well(weft, filled):
    ran = weft("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("problems  none\nall is well\n")
    output = weft("doctor", "--json").json
    assert output == {
        "store": str(filled / "notes.weft"), "workspaces": ["main"], "tokenizer": "o200k_base",
        "embedder": "hashing-64", "problems": [],
    }  # fmt: skip


def test_indexes_that_are_gone_are_made_again(weft, filled):
    before = weft("search", "mirror", "--json").json
    shutil.rmtree(filled / "notes.weft.index")
    assert weft("doctor").code == 0
    assert (filled / "notes.weft.index").is_dir()
    assert weft("search", "mirror", "--json").json == before


def test_a_problem_is_told_and_ends_with_an_error(weft, filled):
    with sqlite3.connect(filled / "notes.weft") as connection:
        connection.execute("UPDATE acls SET passages = passages + 5")
    connection.close()
    ran = weft("doctor")
    assert ran.code == 1
    assert "passages where there are" in ran.out
    assert "restore the store from a backup" in ran.out
    output = weft("doctor", "--json")
    assert output.code == 1
    assert output.json["problems"]


def test_a_file_that_is_no_store_is_an_error(weft, here):
    (here / "x.weft").write_bytes(b"no database, but long enough to be read as if it were one" * 20)
    ran = weft("doctor", "--store", "x.weft")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: x.weft is damaged or not a Weftwork store")


def test_a_file_that_a_page_names_and_that_is_gone_is_a_problem(weft, filled):
    with Weft.open(filled / "notes.weft") as opened:
        opened.add([Node(id="p", type="document_page", text="x", fields={"image_path": "notes.weft.files/1/ab/p.png"})])
    ran = weft("doctor", "--json")
    assert (ran.code, len(ran.json["problems"])) == (1, 1)
    assert "names the file notes.weft.files/1/ab/p.png, which is missing" in ran.json["problems"][0]
