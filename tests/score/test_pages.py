"""The grades of pages, against numbers worked out by hand."""

from typing import cast

import pytest

from weftwork.collect import Inquiry
from weftwork.compose.ordering import Best
from weftwork.query import read_query
from weftwork.request import Request
from weftwork.score.pages import PageGrades, _found_by, grade_pages
from weftwork.store.contract.kit import EMBEDDER, NOW, WORKSPACE, node, opened, put
from weftwork.store.sqlite import SqliteStore
from weftwork.text import bm25
from weftwork.text.analysis import analyse
from weftwork.types import Budget, Candidate, Finding, Kind, NodeInfo, Passage


def candidate(key, **grades):
    findings = tuple(Finding(name, 1, score, kind=cast(Kind, name)) for name, score in grades.items())
    return Candidate(NodeInfo(id=f"n{key}"), Passage(0, 0, 1, "x", 1, "d", f"c{key}", key), "pages", findings)


def test_a_search_grades_from_its_least_to_its_best_and_misses_with_0():
    pages = [candidate(1, look=0.9), candidate(2, look=0.5), candidate(3, look=0.6), candidate(4, words=1.0)]
    assert _found_by("look", pages) == {1: 1.0, 2: 0.0, 3: pytest.approx(0.25), 4: 0.0}
    assert _found_by("look", pages[1:2]) == {2: 1.0}
    assert _found_by("vector", pages) == {}


def test_a_limit_keeps_the_first_and_says_why_not_the_others():
    kept, left_out = Best(2)(None, [candidate(1), candidate(2), candidate(3)])
    assert [each.key for each in kept] == [1, 2]
    assert [(each.citation, each.reason) for each in left_out] == [
        (candidate(3).passage.citation, "beyond the limit of 2")
    ]
    assert Best(9)(None, [candidate(1)])[1] == []


@pytest.fixture
def inquiry(tmp_path):
    store = SqliteStore(tmp_path / "store.weft", clock=lambda: NOW)
    put(opened(store), *(node(f"n{n}", text) for n, text in enumerate(("quince", "jam", "bread", "quince jam"))))
    asked = Request(query="quince jam", workspace=WORKSPACE, user="ana", budget=Budget(total=9))
    with store.view(WORKSPACE, "ana") as view:
        yield Inquiry(view, asked, read_query("quince jam", NOW), NOW, EMBEDDER)
    store.close()


def page(key, text, kind: Kind, **fields):
    found = (Finding("f", 1, 0.5, kind=kind),)
    return Candidate(
        NodeInfo(id=f"n{key}", title="some_file.pdf", fields=fields),
        Passage(0, 0, 1, text, 1, "d", "c", key),
        "s",
        found,
    )


def test_words_are_graded_all_over_a_page_with_its_headings_as_a_share_of_the_best(inquiry):
    pages = [
        page(1, "quince jam for breakfast", "words"),
        page(2, "for breakfast and a long evening", "words", section_path="Quince"),
        page(3, "nothing of it", "words"),
    ]
    grades = {key: each.words for key, each in grade_pages(inquiry, pages).items()}
    weights = {"quinc": inquiry.view.idf(["quince"])["quince"], "jam": inquiry.view.idf(["jam"])["jam"]}
    words = [analyse(f"some file.pdf {each.node.fields.get('section_path', '')} {each.passage.text}") for each in pages]
    average = sum(map(len, words)) / 3
    best, second, third = (bm25.score(weights, each, average) for each in words)
    assert best > second > third == 0
    assert grades == {1: 1.0, 2: pytest.approx(second / best), 3: 0.0}


def test_words_are_graded_where_a_search_by_text_was_made(inquiry):
    assert grade_pages(inquiry, [page(1, "quince", "words")])[1] == PageGrades(words=1.0)
    assert grade_pages(inquiry, [page(1, "quince", "vector")])[1] == PageGrades(words=1.0, meaning=1.0)
    assert grade_pages(inquiry, [page(1, "quince", "look")])[1] == PageGrades(look=1.0)
    assert grade_pages(inquiry, [page(1, "bread", "words")])[1] == PageGrades(words=0.0)
