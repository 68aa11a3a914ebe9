"""Notes in another notation are read as the notes that they are."""

import json

import pytest
from tests.ingest.connectors.reading import read

from weftwork.ingest.connectors.files import Files

CELLS = [
    {"cell_type": "markdown", "source": ["# Mirror test\n", "\n", "Run it at nine."]},
    {
        "cell_type": "code",
        "source": "print('```')",
        "outputs": [
            {"output_type": "stream", "text": ["10 %\r", "100 %\n"]},
            {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo" * 50, "text/plain": "<Figure>"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "too \u001b[31mcold", "traceback": ["…"]},
        ],
    },
    {"cell_type": "markdown", "source": "## Result\n\n- [ ] coat it again"},
]
NOTEBOOK = json.dumps({"cells": CELLS, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4})
OPML = """<opml version="2.0"><head><title>Plan</title></head><body>
<outline text="Mirror &amp; tube" _note="grind it first">
<outline text="&lt;b&gt;Coat&lt;/b&gt; it" _complete="true"/></outline>
<outline text="News" htmlUrl="https://example.org/news"/></body></opml>"""
TOMBOY = """<?xml version="1.0" encoding="utf-8"?>
<note version="0.3" xmlns:link="http://beatniksoftware.com/tomboy/link" xmlns="http://beatniksoftware.com/tomboy">
<title>Finch</title><text xml:space="preserve"><note-content version="0.1">Finch

See <link:internal>Mirror</link:internal>, it is <bold>heavy</bold>.
<list><list-item dir="ltr">first
<list><list-item dir="ltr">within</list-item></list></list-item><list-item dir="ltr">last</list-item></list>
</note-content></text><width>450</width></note>"""
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item><title>First light</title>
<link>https://example.org/1</link><description>&lt;p&gt;It &lt;b&gt;works&lt;/b&gt;.&lt;/p&gt;</description></item>
<item><title>Second night</title><description>Cloudy.</description></item></channel></rss>"""


def whole(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    nodes = read(Files(), path).nodes
    return nodes[0], "\n".join(f"{node.type} {node.title}|{node.text}" for node in nodes)


def test_a_notebook_is_its_cells_and_what_they_printed_without_pictures(tmp_path):
    page, text = whole(tmp_path, "test.ipynb", NOTEBOOK)
    assert (page.type, page.title) == ("page", "Mirror test")
    assert "Run it at nine." in text and "````python\nprint('```')\n````" in text
    assert "```\n100 %\n```" in text and "<Figure>" in text and "ValueError: too cold" in text
    assert "iVBOR" not in text and "cell_type" not in text and "10 %\r" not in text
    assert "heading Result|" in text and "todo coat it again|" in text


def test_an_outline_is_a_list_with_notes_tasks_and_addresses(tmp_path):
    page, text = whole(tmp_path, "plan.opml", OPML)
    assert page.title == "Plan"
    assert "- Mirror & tube\n  grind it first" in text and "todo Coat it|" in text
    assert "- [News](https://example.org/news)" in text and "<" not in text


def test_a_tomboy_note_keeps_its_lists_and_links(tmp_path):
    page, text = whole(tmp_path, "a1b2.note", TOMBOY)
    assert (page.title, page.text) == (
        "Finch", "See [[Mirror]], it is **heavy**.\n\n- first\n  - within\n- last",
    )  # fmt: skip
    assert "450" not in text


def test_a_feed_that_was_saved_is_its_entries(tmp_path):
    _, text = whole(tmp_path, "news.xml", FEED)
    assert (
        "page News|" in text
        and "heading First light|https://example.org/1\n\nIt works." in text
        and "heading Second night|Cloudy." in text
    )
    assert "<rss" not in text
    headings = read(Files(), tmp_path / "news.xml").of("heading")
    assert [heading.fields["_level"] for heading in headings] == [2, 2], "an entry stands below the feed's title"


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.ipynb", "{}"), ("a.ipynb", "not json"), ("a.opml", "<opml>"), ("a.rss", "<rss><b></rss>")],
)
def test_what_cannot_be_converted_is_named_and_left_out(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    reading = read(Files(), tmp_path / name)
    assert not reading.nodes and "that can be read" in reading.skipped[0].why


def test_other_xml_is_text_and_called_so(tmp_path):
    page, _ = whole(tmp_path, "settings.xml", "<settings><mirror>9</mirror></settings>")
    assert (page.type, page.text) == ("file", "<settings><mirror>9</mirror></settings>")
    (note,) = read(Files(), tmp_path / "settings.xml").notes
    assert note.why.startswith("XML of no known kind")
