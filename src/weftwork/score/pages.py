"""Signals of whole document pages, relative to the other pages that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING

from weftwork.collect.inquiry import Inquiry
from weftwork.text import bm25
from weftwork.text.analysis import analyse, indexed, query_terms, whole_words
from weftwork.text.languages import language_of
from weftwork.types import Candidate, Kind

if TYPE_CHECKING:
    from weftwork.score.facts import Facts


@dataclass(frozen=True, slots=True)
class PageGrades:
    """Scores of a page, 1 for the best of those found; None where no search of that kind ran."""

    words: float | None = None
    meaning: float | None = None
    look: float | None = None


def grade_pages(inquiry: Inquiry, candidates: Sequence[Candidate]) -> dict[int, PageGrades]:
    """The grades of whole pages, by key.

    Passages are what is searched, but a page is what is cited: its words count all over the page, with the name of its
    file and the headings above it.
    """
    meaning = _found_by("vector", candidates)
    looks = _found_by("look", candidates)
    by_text = meaning or any(candidate.found_as("words", "fuzzy") is not None for candidate in candidates)
    words = _by_words(inquiry, candidates) if by_text else {}
    return {
        candidate.key: PageGrades(words.get(candidate.key), meaning.get(candidate.key), looks.get(candidate.key))
        for candidate in candidates
    }


def _by_words(inquiry: Inquiry, candidates: Sequence[Candidate]) -> dict[int, float]:
    """BM25 of each page as a share of the best, with the viewer's own weights of words."""
    query = inquiry.request.query
    weights = inquiry.view.idf(list(dict.fromkeys(whole_words(query))))
    texts = {candidate.key: _words(_searched(candidate)) for candidate in candidates}
    average = fmean(len(words) for words, _ in texts.values()) if texts else 1.0
    by_stem = {language: _by_stem(query, weights, language) for language in {each for _, each in texts.values()}}
    scores = {key: bm25.score(by_stem[language], words, average) for key, (words, language) in texts.items()}
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best else dict.fromkeys(scores, 0.0)


def _by_stem(query: str, weights: Mapping[str, float], language: str) -> dict[str, float]:
    """The weights of the query's words by their stems in a language."""
    own = language_of(query, least=1)
    telling = frozenset(query_terms(analyse(query, own), own))
    words = [word for word in weights if not telling.isdisjoint(analyse(word, own))]
    return {stem: weights[word] for word in words for stem in analyse(word, language)}


@lru_cache(maxsize=1024)  # a third of the time of a search; the same few pages come up again and again
def _words(text: str) -> tuple[tuple[str, ...], str]:
    words, language = indexed(text)
    return tuple(words), language


def _searched(candidate: Candidate) -> str:
    node = candidate.node
    return "\n".join([node.title.replace("_", " "), str(node.fields.get("section_path") or ""), candidate.passage.text])


def _found_by(kind: Kind, candidates: Sequence[Candidate]) -> dict[int, float]:
    """Findings of a kind, from 0 for the least to 1 for the best; 0 too for what was not found that way."""
    by_key = {candidate.key: candidate.found_as(kind) for candidate in candidates}
    scores = [score for score in by_key.values() if score is not None]
    if not scores:
        return {}
    least, most = min(scores), max(scores)
    spread = (most - least) or 1.0
    return {key: 0.0 if score is None else 1.0 - (most - score) / spread for key, score in by_key.items()}


def page_words(candidate: Candidate, facts: Facts) -> float | None:
    """The query's words all over the page."""
    return _of(candidate, facts.pages).words


def page_meaning(candidate: Candidate, facts: Facts) -> float | None:
    """The passage on the page that is nearest to the query."""
    return _of(candidate, facts.pages).meaning


def page_look(candidate: Candidate, facts: Facts) -> float | None:
    """Lines or patches of the page that are near to the parts of the query."""
    return _of(candidate, facts.pages).look


def _of(candidate: Candidate, pages: Mapping[int, PageGrades]) -> PageGrades:
    return pages.get(candidate.key, PageGrades())
