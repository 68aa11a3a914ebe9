import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.errors import InvalidInput
from weftwork.faces.research import markdown
from weftwork.faces.research.markdown import Document, compress, decompress, join_pages, split_pages


def extract_page(text, number):
    """The text of one page; None if there is no such page."""
    document = Document.split(text)
    return document.pages.get(number) if document.pages else document.undivided(number) or None


def test_numbered_marks_tell_pages_apart():
    text = "front matter\n<!-- page 1 -->\nOne\n\n<!-- Page: 3 -->\nThree\n"
    assert [extract_page(text, number) for number in (1, 2, 3)] == ["One", None, "Three"]


@pytest.mark.parametrize("text", ["One\fTwo\fThree", "One\n<!-- page break -->\nTwo\n<!-- PageBreak -->\nThree"])
def test_breaks_without_numbers_are_counted(text):
    assert [extract_page(text, number) for number in (0, 1, 2, 3, 4)] == [None, "One", "Two", "Three", None]


@pytest.mark.parametrize(
    "mark", ["<!-- page {} -->", "## Page {}", "###### PAGE {}", "[Page {}]", "[page {}]", "  [Page {}]  "]
)
def test_pages_may_begin_with_a_comment_a_heading_or_brackets(mark):
    text = "".join(f"{mark.format(number)}\n\nText {number}\n\n" for number in (1, 2, 10))
    assert split_pages(text) == {1: "Text 1", 2: "Text 2", 10: "Text 10"}


@pytest.mark.parametrize(
    "text", ["See [Page 3] for more.", "## Page 3 of the report", "# Pages 3", "[Page 3](x.md)", "Page 3\n\nText"]
)
def test_a_mention_of_a_page_is_no_mark(text):
    assert split_pages(text) == {}
    assert extract_page(text, 1) == text


def test_a_document_has_marks_of_one_kind():
    assert split_pages("<!-- page 1 -->\n## Page 7\nOne\n<!-- page 2 -->\n[Page 9]\nTwo") == {
        1: "## Page 7\nOne",
        2: "[Page 9]\nTwo",
    }


def test_a_page_that_quotes_the_mark_of_an_earlier_one_does_not_take_its_place():
    text = "<!-- page 1 -->\nOne\n<!-- page 2 -->\nThe line\n<!-- page 1 -->\nis a mark."
    assert extract_page(text, 1) == "One"
    assert extract_page(text, 2) == "The line\n<!-- page 1 -->\nis a mark."


def test_the_text_before_the_mark_of_the_second_page_is_the_first():
    assert split_pages("One\n\n[Page 2]\nTwo") == {1: "One", 2: "Two"}


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


@pytest.mark.parametrize("words", ["## Page 5", "[Page 5]"])
def test_words_that_look_like_a_mark_do_not_stand_for_form_feeds(words):
    assert split_pages(f"one\ftwo\n{words}\nof the log\fthree\f") == {
        1: "one",
        2: f"two\n{words}\nof the log",
        3: "three",
        4: "",
    }
    assert split_pages("## Page 1\none\f## Page 2\ntwo\f") == {1: "one", 2: "two"}
