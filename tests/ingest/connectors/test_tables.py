import csv
import io

import pytest
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors import tables
from weftwork.ingest.connectors.tables import Csv
from weftwork.ingest.follow import follow


@pytest.fixture
def table(tmp_path):
    def write(text, name="parts.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("name,price,note\nMirror,41.5,\"a, b\nc\"\nTube,14,\n", "a.csv"),
        ("name;price;note\nMirror;41.5;\"a, b\nc\"\nTube;14;\n", "a.csv"),
        ("sep=;\r\nname;price;note\r\nMirror;41.5;\"a, b\nc\"\r\nTube;14;\r\n", "a.csv"),
        ("name\tprice\tnote\nMirror\t41.5\t\"a, b\nc\"\nTube\t14\t\n", "a.tsv"),
        ("\ufeffname,price,note\nMirror,41.5,\"a, b\nc\"\n\nTube,14,\n", "a.csv"),
    ],
)  # fmt: skip
def test_the_dialect_is_found_out(table, text, name):
    reading = read(Csv(), table(text, name))
    assert reading.of("database")[0].text == "Columns: name, price, note"
    assert [(row.title, row.fields) for row in reading.of("db_row")] == [
        ("Mirror", {"name": "Mirror", "price": 41.5, "note": "a, b\nc"}),
        ("Tube", {"name": "Tube", "price": 14}),
    ]


def test_a_table_without_names_gets_numbers_for_them(table):
    (row, _) = read(Csv(), table("1,Mirror,007\n2,Tube,x\n")).of("db_row")
    assert (row.title, row.fields) == ("Mirror", {"column 1": 1, "column 2": "Mirror", "column 3": "007"})


def test_long_values_are_text_and_ids_are_kept(table):
    (row,) = read(Csv(), table(f"ID,Title,Body\nx-1,Mirror,{'word ' * 100}\n")).of("db_row")
    assert (row.id.rpartition("#")[2], row.title, row.text[:9]) == ("x-1", "Mirror", "word word")
    assert "Body" not in row.fields


def test_windows_encoding_odd_rows_and_nothing_at_all(table):
    reading = read(Csv(), table("name,town\nJürgen,Köln,extra\nAna\n", encoding="cp1252"))
    assert [row.fields for row in reading.of("db_row")] == [{"name": "Jürgen", "town": "Köln"}, {"name": "Ana"}]
    assert [note.why for note in reading.notes] == [
        "is not UTF-8: it is read as Windows-1252",
        "has 3 values for 2 columns",
    ]
    assert "is empty" in read(Csv(), table("\n")).skipped[0].why


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", "name,town\r\nĊana,Ĭnsel\r\nBirch,Calder 🔭\r\n"),
        ("utf-16-be", "name,town\nAna,Oslo\nBirch,Calder\n"),
        ("utf-32", "name,town\nAna,Oslo\nBirch,Calder\n"),
        ("utf-8-sig", "name,town\nAna,Oslo\nBirch,Calder\n"),
        ("cp932", "名前,住所\n佐藤,東京\n三木,大阪\n髙橋,名古屋\n"),
        ("cp1251", "имя,город\nИван,Москва\nАнна,Новосибирск\n"),
    ],
)
def test_a_table_is_decoded_whatever_it_was_saved_as(table, monkeypatch, encoding, text):
    monkeypatch.setattr(tables, "PART", 1)  # so that rows are read from their places in the file
    header, *rows = csv.reader(io.StringIO(text))
    reading = read(Csv(), table(text, encoding=encoding))
    assert [row.fields for row in reading.of("db_row")] == [dict(zip(header, row, strict=True)) for row in rows]
    assert not reading.skipped


def test_a_table_in_utf_8_with_a_wrong_byte_keeps_all_its_other_letters(table):
    path = table("name,town\nJürgen,Köln\nZoë,Gdańsk\n")
    path.write_bytes(path.read_bytes() + b"x\xff,y\n")
    assert [row.title for row in read(Csv(), path).of("db_row")] == ["Jürgen", "Zoë", "x\ufffd"]


def test_a_long_table_is_read_in_parts_and_a_row_at_its_end_costs_one(table, monkeypatch, weft):
    monkeypatch.setattr(tables, "PART", 10)
    text = io.StringIO()
    csv.writer(text).writerows([["name", "note"], *([f"row {n}", "two\nlines"] for n in range(35))])
    path = table(text.getvalue())
    reading = read(Csv(), path)
    assert [row.title for row in reading.of("db_row")] == [f"row {n}" for n in range(35)]
    assert len(reading.sources) == 5
    follow(weft, path, Csv())
    with path.open("a", newline="") as file:
        file.write("row 35,new\r\n")
    report = follow(weft, path, Csv())
    assert (report.added, report.changed, report.unchanged) == (0, 1, 4)
