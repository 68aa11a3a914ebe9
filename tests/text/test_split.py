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
