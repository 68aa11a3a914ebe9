import pytest

from weftwork.ingest.documents.html import PAGE_END, PICTURE
from weftwork.ingest.documents.values import Unreadable


def test_what_is_seen_is_kept_and_what_is_not_is_left_out(pages):
    (page,) = pages(
        b"<html><head><title>T</title><style>p{}</style></head><body><script>steal()</script><!-- hidden -->"
        b"<h1>Ships</h1><p>They <b>sail</b> to <a href='/x'>Oslo</a> and <a href='https://example.org/a'>Bergen</a>.</p>"
        b"<ul><li>one</li><li>two</li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
        b"<img src='data:image/png;base64,AAAA' alt='A [ship]'><svg><text>no</text></svg></body></html>",
        "html",
    )
    assert page.markdown == (
        "# Ships\n\nThey **sail** to Oslo and [Bergen](https://example.org/a).\n\n- one\n- two\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n![A ship]()"
    )
    assert page.pictures == 1


def test_each_section_is_a_page(pages):
    sections = pages(b"<p>Before.</p><h1>A</h1><p>a</p><h2>B</h2><p>b</p><h1>C</h1><p>c</p>", "html")
    assert [page.markdown for page in sections] == ["Before.", "# A\n\na\n\n## B\n\nb", "# C\n\nc"]


def test_sections_of_the_second_level_are_pages_where_there_is_one_title(pages):
    sections = pages(b"<h1>A</h1><p>a</p><h2>B</h2><p>b</p><h2>C</h2><p>c</p>", "htm")
    assert [page.markdown for page in sections] == ["# A\n\na", "## B\n\nb", "## C\n\nc"]


def test_marks_that_a_text_brings_along_are_taken_out(pages):
    (page,) = pages(f"<p>one{PAGE_END}two{PICTURE}</p><img alt='x{PAGE_END}y'>".encode(), "html")
    assert page.markdown == "onetwo\n\n![xy]()"
    assert page.pictures == 1


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "shift_jis", "utf-16"])
def test_encodings_are_told_from_what_the_page_says(pages, encoding):
    word = "日本" if encoding == "shift_jis" else "Häfen"
    (page,) = pages(f"<html><head><meta charset='{encoding}'></head><p>{word}</p></html>".encode(encoding), "html")
    assert page.markdown == word


def test_text_that_looks_like_markup_is_no_heading(pages):
    (page,) = pages(b"<p># Forged</p><p>text</p>", "html")
    assert not page.markdown.startswith("#")


@pytest.mark.parametrize("content", [b"", b"   ", b"<script>x</script>"])
def test_a_page_without_text_is_refused(pages, content):
    with pytest.raises(Unreadable, match="has no text"):
        pages(content, "html")


def test_a_page_nested_without_end_is_read_or_refused(pages):
    try:
        sections = pages(b"<div>" * 100_000 + b"deep", "html")
    except Unreadable:
        return
    assert all(len(page.markdown) < 100 for page in sections)


def test_what_a_browser_hides_and_the_hidden_data_of_filings_are_left_out(pages):
    html = (
        '<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body><div style="display: none"><ix:header><ix:hidden>'
        "<ix:nonNumeric>0000320193</ix:nonNumeric></ix:hidden></ix:header></div><ix:header>us-gaap:Cash</ix:header>"
        '<p hidden>draft</p><p style="visibility:hidden">ghost</p>'
        "<p>Net sales were <ix:nonFraction>383</ix:nonFraction> million.</p></body></html>"
    )
    (page,) = pages(html.encode(), "html")
    assert page.markdown == "Net sales were 383 million."


def test_a_long_section_is_cut_at_the_headings_within_it(pages):
    words = "<p>" + "Some words. " * 600 + "</p>"
    html = f"<h1>A</h1>{words}<h1>B</h1><h2>C</h2>{words}<h3>D</h3>{words}<h2>E</h2>{words}<h2>F</h2>{words}"
    assert [page.markdown.partition("\n")[0] for page in pages(html.encode(), "html")] == [
        "# A", "# B", "## C", "## E", "## F",
    ]  # fmt: skip
