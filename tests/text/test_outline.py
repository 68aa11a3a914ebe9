import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork.text.outline import outline


@pytest.mark.parametrize(
    ("markdown", "path", "parent"),
    [
        ("Text only.", "", ""),
        ("# Introduction\n\n## Methods\n\nText.", "Introduction > Methods", "Methods"),
        ("# Introduction\n\nText.\n\n## Methods\n\nMore.", "Introduction", "Introduction"),
        ("# One\n\n## Two\n\n# Three\n\nText.", "Three", "Three"),
        ("### Deep\n\nText.", "Deep", "Deep"),
        ("## Only a heading", "Only a heading", "Only a heading"),
        ("# **Bold** `code`\n\nx", "Bold code", "Bold code"),
        ("# a\x1bb\u2028c\n\nx", "a b", "a b"),
    ],
)
def test_the_section_is_where_the_first_text_stands(markdown, path, parent):
    page_outline = outline(markdown)
    assert (page_outline.section_path, page_outline.parent_heading) == (path, parent)


def test_a_page_stands_under_the_headings_of_the_page_before():
    first = outline("# Introduction\n\n## Methods\n\nText.")
    second = outline("More text.\n\n## Results\n\nEven more.", first.after)
    third = outline("Last.", second.after)
    assert second.section_path == "Introduction > Methods"
    assert third.section_path == "Introduction > Results"


def test_headings_and_tables_are_counted_but_not_in_code():
    markdown = "# A\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\n# no\n| --- |\n```\n\n## B\n\n|a|\n|:---:|\n|1|"
    page_outline = outline(markdown)
    assert (page_outline.headings, page_outline.tables) == (2, 2)


@given(st.lists(st.tuples(st.integers(1, 6), st.text("abc", min_size=1, max_size=3)), max_size=12), st.data())
def test_where_a_text_is_cut_into_pages_does_not_change_its_headings(headings, data):
    blocks = [f"{'#' * level} {name}\n\ntext" for level, name in headings]
    cut = data.draw(st.integers(0, len(blocks)))
    whole = outline("\n\n".join(blocks))
    first = outline("\n\n".join(blocks[:cut]))
    second = outline("\n\n".join(blocks[cut:]), first.after)
    assert second.after == whole.after
    assert first.headings + second.headings == whole.headings == len(headings)
    levels = [level for level, _ in whole.after]
    assert levels == sorted(set(levels))


@given(st.text())
def test_any_text_has_an_outline_of_printable_lines(markdown):
    page_outline = outline(markdown)
    assert page_outline.section_path.isprintable()
    assert all(len(text) <= 120 for _, text in page_outline.after)
