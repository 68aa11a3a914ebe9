"""Pages as one vector a line: what counts as a line, and that a chart is found by its labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weftwork import Node, Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.embed.visual import MOST_LINES, LineEmbedder, PageLook, get_visual_embedder, lines_of
from weftwork.errors import UnknownName
from weftwork.store.sql import page_ranking

EMBEDDER = HashingEmbedder(64)
CHART = "# Commodity prices\n\n| Year | Oil |\n| --- | --- |\n| 2021 | +55 % |\n\nGold\n\nWheat"


def test_lines_are_what_stands_on_the_page_without_marks_and_once():
    assert lines_of(CHART) == ["Commodity prices", "Year Oil", "2021 +55 %", "Gold", "Wheat"]
    assert lines_of("Gold\n- Gold\n> **Gold**\n---\n***") == ["Gold"]


def test_a_paragraph_counts_by_the_sentence():
    assert lines_of("Oil fell. Gold rose!\n石油。金。") == ["Oil fell.", "Gold rose!", "石油。", "金。"]


def test_a_page_has_a_vector_for_each_line():
    embedder = LineEmbedder(EMBEDDER)
    chart, blank = embedder.embed_pages([PageLook(CHART), PageLook(" \n---")])
    assert chart.shape == (5, 64)
    assert blank.shape == (0, 64)
    assert np.array_equal(chart[3], EMBEDDER.embed("Gold"))
    assert embedder.model == f"lines-1:{EMBEDDER.model}" and embedder.dimensions == 64
    assert embedder.embed_pages([]) == []


def test_a_query_is_looked_for_as_a_whole_and_by_each_word_that_means_something():
    rows = LineEmbedder(EMBEDDER).embed_query("Show me the gold chart")
    assert [EMBEDDER.embed(text).tolist() for text in ("Show me the gold chart", "gold", "chart")] == rows.tolist()
    assert LineEmbedder(EMBEDDER).embed_query("  ").shape == (0, 64)


@given(st.text(max_size=300))
def test_any_text_has_lines_and_vectors_of_length_one(text):
    lines = lines_of(text)
    assert len(lines) == len(set(lines)) <= MOST_LINES
    assert all(line == line.strip() for line in lines)
    rows = LineEmbedder(EMBEDDER).embed_pages([PageLook(text)])[0]
    assert rows.shape[1] == 64 and len(rows) <= len(lines)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_an_endless_page_is_cut():
    assert len(lines_of("\n".join(f"line {n}" for n in range(10_000)))) == MOST_LINES


def test_embedders_are_made_by_name():
    assert isinstance(get_visual_embedder("lines", EMBEDDER), LineEmbedder)
    assert get_visual_embedder("lines", None) is None
    assert get_visual_embedder("none", EMBEDDER) is None
    assert get_visual_embedder("colpali:vidore/colpali-v1.3", None).model == "colpali:vidore/colpali-v1.3"
    for wrong in ("colpali", "colpali:", "eyes", "lines:3"):
        with pytest.raises(UnknownName, match="lines"):
            get_visual_embedder(wrong, EMBEDDER)


def page(number, text):
    return Node(id=f"d#page={number}", type="document_page", parent="d", text=text, fields={"page": number})


class Counting:
    """An embedder that says how many pages it was shown, and when."""

    model, dimensions = "counting", 4

    def __init__(self):
        self.shown = []

    def embed_pages(self, pages):
        self.shown.append([page.text for page in pages])
        return [np.eye(4, dtype=np.float32)[: 1 + len(page.text) % 3] for page in pages]

    def embed_query(self, text):
        return np.eye(4, dtype=np.float32)[:1]


def test_each_page_is_looked_at_once_and_again_when_it_changes(tmp_path):
    visual = Counting()
    with Weft.open(tmp_path / "a.weft", visual=visual) as weft:
        weft.add([Node(id="d", type="document"), *(page(number, f"page {number}") for number in range(20))])
        weft.catch_up()
        assert [len(batch) for batch in visual.shown] == [16, 4]
        weft.context("anything", recipe="research")
        weft.catch_up()
        assert len(visual.shown) == 2
        weft.add([page(3, "changed")])
        weft.context("anything", recipe="research")
        assert visual.shown[2:] == [["changed"]]


def test_an_interruption_loses_no_more_than_the_pages_at_hand(tmp_path):
    class Dying(Counting):
        def embed_pages(self, pages):
            if len(self.shown) == 1:
                raise KeyboardInterrupt
            return super().embed_pages(pages)

    nodes = [Node(id="d", type="document"), *(page(number, f"page {number}") for number in range(40))]
    with Weft.open(tmp_path / "a.weft", visual=Dying()) as weft:
        weft.add(nodes)
        with pytest.raises(KeyboardInterrupt):
            weft.catch_up()
    again = Counting()
    with Weft.open(tmp_path / "a.weft", visual=again) as weft:
        weft.catch_up()
    assert sum(map(len, again.shown)) == 24


def test_pages_are_not_looked_at_for_contexts_that_do_not_need_it(tmp_path):
    visual = Counting()
    with Weft.open(tmp_path / "a.weft", visual=visual) as weft:
        weft.add([Node(id="d", type="document"), page(1, "text")])
        weft.context("text")
        assert visual.shown == []


def test_a_sketch_is_small_and_promises_what_the_page_holds():
    rows = LineEmbedder(EMBEDDER).embed_pages([PageLook("\n".join(f"word{n} other{n}" for n in range(50)))])[0]
    sketch = page_ranking.sketch(rows)
    assert sketch.shape == (page_ranking.SKETCH, 64)
    assert np.allclose(np.linalg.norm(sketch, axis=1), 1, atol=1e-5)
    assert np.array_equal(page_ranking.sketch(rows[:3]), rows[:3])
