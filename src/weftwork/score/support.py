"""Support: how well the best evidence answers a query.

The share of the query's words, weighed by their rarity, that one of the best passages has, or the nearest cosine; both
are scaled so that nearly all questions that a workspace answers have at least half (docs/relevance.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weftwork.collect.inquiry import Inquiry
from weftwork.query import is_courtesy, quoted
from weftwork.text.analysis import analyse, whole_words
from weftwork.types import Candidate, Decision

LOOKED_AT = 5
"""The best hits by words that are compared with the query."""
COVERED, COVERED_ALONE = 0.8, 0.2
"""The share of the query's words at which it is fully supported: beside vectors, and without any."""
MISSPELT = 0.5
"""The share of its weight that a word has by a correction alone."""
FEWEST = 50
"""Passages from which on it is known which words are rare."""
NEAREST = 3
"""Titles that a warning names."""
RELATED = {"wordllama-l2-supercat-256": 0.5}
"""The cosine at which it is fully supported, by model; of others nothing is known, and they leave nothing out."""


def supported_by(
    inquiry: Inquiry, candidates: Sequence[Candidate], least: float
) -> tuple[float | None, list[Decision]]:
    """The support of the query, and why none of the candidates is shown if it is too little."""
    if not least:
        return None, []
    reached = support(inquiry, named=any(candidate.asked for candidate in candidates))
    if not candidates:
        return None if reached is None else 0.0, []
    if reached is None or reached >= least:
        return reached, []
    near = list(dict.fromkeys(each.node.title for each in candidates if each.node.title))[:NEAREST]
    named = ", ".join(map(quoted, near))
    nearest = f"; the nearest are {named}: ask with min_support=0 (--min-support 0) to see them" if near else ""
    inquiry.warnings.append(f"nothing here answers {quoted(inquiry.request.query)}{nearest}")
    reason = f"nothing answers the query: its support is {reached:.2f}, below {least:.2f}"
    return reached, [Decision.on(candidate, "dropped", reason) for candidate in candidates]


def nothing_found(inquiry: Inquiry, candidates: Sequence[Candidate], passages: int) -> Iterator[str]:
    """Warn that nothing was found, unless there is another warning."""
    request = inquiry.request
    if candidates or inquiry.warnings:
        return
    if not passages:
        yield f"there is nothing in workspace {request.workspace!r} that you may see: add something with  weftwork add"
    elif request.query.strip():
        yield f"nothing was found for {quoted(request.query)}"


def support(inquiry: Inquiry, *, named: bool) -> float | None:
    """The support of a query in [0, 1]; None where other things than its words decide what is shown."""
    request, question = inquiry.request, inquiry.question
    pointed = request.focus or request.thread or request.include or request.topics or request.history
    told = question.titles or question.tags or question.period or question.overdue or question.due
    if named or pointed or told or request.vector is not None or not question.search.strip():
        return None
    if is_courtesy(request.query):
        return 0.0
    passages, _ = inquiry.view.size()
    return _evidence(inquiry) if question.words and passages >= FEWEST else None


def _evidence(inquiry: Inquiry) -> float | None:
    if inquiry.embedder is None:
        return min(1.0, _coverage(inquiry) / COVERED_ALONE)
    if (related := RELATED.get(inquiry.embedder.model)) is None:
        return None
    nearest = max(inquiry.cosines.values(), default=0.0)
    if not inquiry.word_hits:  # the pieces of unknown words resemble something anywhere
        return max(0.0, nearest)
    return min(1.0, max(_coverage(inquiry) / COVERED, nearest / related))


def _coverage(inquiry: Inquiry) -> float:
    """The largest share of the query's words, weighed by their rarity, that one of the best hits has."""
    weights = inquiry.view.idf(inquiry.question.words)
    wanted = []
    for word, weight in weights.items():
        near = [other for part in whole_words(word) for other in inquiry.corrections.get(part, ())]
        # A word that is corrected occurs nowhere itself.
        wanted.append((frozenset(analyse(" ".join(near) or word)), weight * MISSPELT if near else weight))
    best = 0.0
    for record in inquiry.load([hit.key for hit in inquiry.word_hits[:LOOKED_AT]]):
        node = record.node
        present = frozenset(analyse(" ".join((node.title, record.passage.text, *node.tags))))
        best = max(best, sum(weight for stems, weight in wanted if not present.isdisjoint(stems)))
    return best / sum(weights.values()) if best else 0.0
