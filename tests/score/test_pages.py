"""The grades of pages, against numbers worked out by hand."""

from typing import cast

import pytest

from weftwork.compose.ordering import Best
from weftwork.score.pages import _found_by
from weftwork.types import Candidate, Finding, Kind, NodeInfo, Passage


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
    assert [(each.candidate.key, each.reason) for each in left_out] == [(3, "beyond the limit of 2")]
    assert Best(9)(None, [candidate(1)])[1] == []
