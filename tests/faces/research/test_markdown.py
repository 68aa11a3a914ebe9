import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.errors import InvalidInput
from weftwork.faces.research import markdown
from weftwork.faces.research.markdown import compress, decompress, extract_page, join_pages


def test_numbered_marks_tell_pages_apart():
    text = "front matter\n<!-- page 1 -->\nOne\n\n<!-- Page: 3 -->\nThree\n"
    assert [extract_page(text, number) for number in (1, 2, 3)] == ["One", None, "Three"]


@pytest.mark.parametrize("text", ["One\fTwo\fThree", "One\n<!-- page break -->\nTwo\n<!-- PageBreak -->\nThree"])
def test_breaks_without_numbers_are_counted(text):
    assert [extract_page(text, number) for number in (0, 1, 2, 3, 4)] == [None, "One", "Two", "Three", None]


def test_a_document_without_marks_is_one_page():
    assert extract_page("All of it", 1) == "All of it"
    assert extract_page("All of it", 2) is None


@given(st.dictionaries(st.integers(1, 20), st.text(max_size=60), min_size=1, max_size=6))
def test_pages_that_are_joined_are_found_again_and_none_takes_anothers_place(pages):
    hostile = {number: f"{text}\n<!-- page {number + 1} -->\nstolen" for number, text in pages.items()}
    for originals in (pages, hostile):
        joined = join_pages(originals)
        for number in range(1, 23):
            found = extract_page(joined, number)
            assert (found is not None) == (number in originals)
            if found is not None and "<!--" not in originals[number] and "\f" not in originals[number]:
                assert found == originals[number].strip("\n")
    assert extract_page(join_pages(hostile), max(pages) + 1) is None


@given(st.text())
def test_markdown_survives_being_compressed(text):
    assert decompress(compress(text)) == text.encode("utf-8", "replace").decode("utf-8")


def test_the_packed_form_is_gzip_in_base64():
    assert gzip.decompress(base64.b64decode(compress("Zürich"))).decode() == "Zürich"


@pytest.mark.parametrize("packed", ["no base64!", base64.b64encode(b"no gzip").decode(), compress("text")[:12]])
def test_damaged_metadata_is_reported(packed):
    with pytest.raises(InvalidInput, match="index it again"):
        decompress(packed)


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(markdown, "LARGEST", 10_000)
    assert decompress(compress("x" * 9_000)) == "x" * 9_000
    with pytest.raises(InvalidInput, match="unpacks to more"):
        decompress(compress("x" * 50_000))
