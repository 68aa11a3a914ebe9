from weftwork.ingest.documents.long_tables import PIECE, with_repeated_headers
from weftwork.text.split import spans

HEAD = "| Name | Cargo |\n| --- | --- |"
ROWS = [f"| ship {number} | {number} tonnes of salt and some rope |" for number in range(100)]


def test_each_passage_of_a_long_table_begins_with_its_header_row():
    text = with_repeated_headers("\n".join(["# Ships", "", HEAD, *ROWS, "", "The end."]))
    pieces = [text[start:end] for start, end in spans(text)]
    assert len(pieces) > 3
    assert all(HEAD in piece for piece in pieces)
    assert [line for line in text.splitlines() if line.startswith("| ship")] == ROWS
    assert text.endswith("\n\nThe end.")


def test_a_short_table_and_other_texts_stay_as_they_are():
    for text in ("\n".join([HEAD, *ROWS[:5]]), "Prose\n\n" * 500, "| not a table " * 300, ""):
        assert with_repeated_headers(text) == text


def test_a_header_that_is_too_wide_is_not_repeated():
    wide = f"| {'x' * PIECE} |\n| --- |\n| y |\n| z |"
    assert with_repeated_headers(wide) == wide
