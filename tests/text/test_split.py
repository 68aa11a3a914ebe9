from hypothesis import given
from hypothesis import strategies as st

from weftwork.text.split import LONGEST, spans

TEXTS = st.one_of(
    st.text(max_size=4000),
    st.lists(
        st.sampled_from(["word ", "A sentence. ", "\n\n", "# Heading\n", "x" * 500, "漢字。", " "]), max_size=300
    ).map("".join),
)


@given(TEXTS)
def test_passages_tile_the_text_and_none_is_too_long(text):
    tiles = spans(text)
    assert "".join(text[start:end] for start, end in tiles) == text
    assert all(end - start <= LONGEST for start, end in tiles)
    assert [start for start, _ in tiles] == [0, *(end for _, end in tiles[:-1])]


def test_a_short_text_stays_whole_and_an_empty_one_has_a_passage():
    assert spans("short") == [(0, 5)]
    assert spans("") == [(0, 0)]


def test_long_text_is_cut_between_paragraphs():
    paragraph = "Some words of a paragraph that goes on for a while. " * 12
    text = f"{paragraph}\n\n{paragraph}\n\n{paragraph}\n\n{paragraph}"
    assert all(text[end - 2 : end] == "\n\n" for _, end in spans(text)[:-1])


def test_no_passage_ends_within_a_table_row_or_a_list_item():
    row = "| Fig. {0} | The mirror No. {0} is heavy. It was made in St. Ives, cf. p. {0}. |\n"
    table = "| figure | remark |\n|---|---|\n" + "".join(row.format(number) for number in range(80))
    item = "- Step {0}. Clean it. Then dry it\n  with a cloth, e.g. cotton. Never rub.\n"
    items = "".join(item.format(number) for number in range(60))
    for text, begins in ((table, "|"), (items, "- ")):
        tiles = spans(text)
        assert len(tiles) > 3
        assert all(text[start:].startswith(begins) for start, _ in tiles)


def test_a_list_item_that_is_too_long_is_cut_after_a_sentence():
    text = "- short\n- " + "A long sentence about a mirror and its coat. " * 60 + "\n- last\n"
    assert any(text[end - 2 : end] == ". " for _, end in spans(text)[:-1])
