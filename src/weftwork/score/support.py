"""Support: how well the best evidence answers a query.

The evidence of a passage is the share of the query's words that it has, weighed by their rarity, times its cosine with
the query: one word in common is no answer where the meaning is another, and neither is a likeness without words. The
scale gives one half to what nearly all questions reach that a workspace answers (docs/relevance.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weftwork.collect.inquiry import Inquiry
from weftwork.query import is_courtesy, quoted
from weftwork.text.analysis import analyse, indexed, only_repeats, whole_words
from weftwork.text.pointing import points_back
from weftwork.types import PINNED, SEARCHED, Candidate, Decision, Kind

BY_WORDS, BY_VECTOR = 5, 2
"""The best hits of both searches that are compared with the query."""
HALF_BY_WORDS = 0.16
"""The evidence with a support of one half by words alone; beside vectors it is that of the model's card."""
MISSPELT = 0.5
"""The share of its weight that a word has by a correction alone."""
FEW_WORDS = 4
"""Words with which a question that names a time may be about the time alone: "what did I write last May?"."""
FEWEST = 50
"""Passages from which on it is known which words are rare."""
BY_QUERY: frozenset[Kind] = SEARCHED | {"keywords", "look", "link_rank", "adjacent"}
"""Kinds of findings that the query brought, directly or through its hits."""
NEAREST = 3
"""Titles that a warning names."""


def supported_by(
    inquiry: Inquiry, candidates: list[Candidate], least: float
) -> tuple[float | None, list[Candidate], list[Decision]]:
    """The support of the query, the candidates that are shown, and those that are not because it is too little.

    What is shown for other reasons than the words of the query, such as a focus or a thread, stays.
    """
    if not least:
        return None, candidates, []
    request = inquiry.request
    named = {candidate.node.id for candidate in candidates if candidate.asked} | set(request.include)
    pinned = {candidate.node.id for candidate in candidates if candidate.asked and PINNED in candidate.node.tags}
    pointed = bool(request.focus or named - pinned)
    reached = support(inquiry, pointed=pointed)
    shown = None if pointed else reached
    if reached is None or not candidates:
        return (None if shown is None else 0.0), candidates, []
    if reached >= least:
        return shown, candidates, []
    spoken = bool(request.thread or request.history)
    others = [each for each in candidates if not _is_search_result(each)]
    kept = [each for each in others if pointed or spoken or each.node.id in pinned]
    keys = {candidate.key for candidate in kept}
    if not kept:
        _name_nearest(inquiry, candidates)
    reason = f"nothing answers the query: its support is {reached:.2f}, below {least:.2f}"
    weak = [Decision.on(candidate, "dropped", reason) for candidate in candidates if candidate.key not in keys]
    return shown, kept, weak


def _name_nearest(inquiry: Inquiry, candidates: Sequence[Candidate]) -> None:
    """Warn that nothing answers the query, with the titles that come nearest."""
    near = list(dict.fromkeys(each.node.title for each in candidates if each.node.title))[:NEAREST]
    named = ", ".join(map(quoted, near))
    nearest = f"the nearest are {named}: " if near else ""
    inquiry.warnings.append(
        f"nothing here answers {quoted(inquiry.request.query)}; {nearest}"
        "ask with min_support=0 (--min-support 0) to see what comes nearest"
    )


def _is_search_result(candidate: Candidate) -> bool:
    """True of a candidate that only its words or its meaning brought here."""
    return not candidate.asked and all(finding.kind in BY_QUERY for finding in candidate.findings)


def nothing_found(inquiry: Inquiry, candidates: Sequence[Candidate], passages: int) -> Iterator[str]:
    """Warn that nothing was found, unless there is another warning."""
    request = inquiry.request
    if candidates or inquiry.warnings:
        return
    if not passages:
        yield f"there is nothing in workspace {request.workspace!r} that you may see: add something with  weftwork add"
    elif request.query.strip():
        yield f"nothing was found for {quoted(request.query)}"


def support(inquiry: Inquiry, *, pointed: bool = False) -> float | None:
    """The support of a query in [0, 1]; None where other things than its words decide what is shown."""
    request, question = inquiry.request, inquiry.question
    if is_courtesy(request.query):
        return 0.0
    timed = question.period is not None and len(question.words) <= FEW_WORDS
    told = question.tags or timed or question.overdue or question.due
    if told or request.vector is not None or not question.search.strip() or not _stands_alone(inquiry, pointed):
        return None
    passages, _ = inquiry.view.size()
    return _evidence(inquiry) if question.words and passages >= FEWEST else None


def _stands_alone(inquiry: Inquiry, pointed: bool) -> bool:
    """True of a question whose own words say what it is about."""
    request, question = inquiry.request, inquiry.question
    if pointed or any(topic.text != request.query or inquiry.named(topic.text) for topic in request.topics):
        return False
    spoken = request.thread or request.history
    return not (spoken and (inquiry.said_before or points_back(question.text, len(question.words))))


def _evidence(inquiry: Inquiry) -> float | None:
    """The best evidence of any passage, on the scale of supports."""
    keys = [hit.key for hit in inquiry.word_hits[:BY_WORDS]]
    if inquiry.embedder is None:
        return _scaled(max(_shares(inquiry, keys).values(), default=0.0), HALF_BY_WORDS)
    trust, cosines = inquiry.trust, inquiry.cosines
    if not trust.half:  # nobody knows what its cosines mean
        return None
    keys += [hit.key for hit in inquiry.vector_hits[:BY_VECTOR] if hit.key not in keys]
    shares = _shares(inquiry, keys)
    best = ((share + trust.alone) * trust.reach(cosines.get(key, 0.0)) for key, share in shares.items())
    return _scaled(max(best, default=0.0), trust.half)


def _scaled(evidence: float, half: float) -> float:
    evidence = max(0.0, evidence)
    return evidence / (evidence + half)


def _shares(inquiry: Inquiry, keys: Sequence[int]) -> dict[int, float]:
    """The share of the query's words, weighed by their rarity, that each passage has."""
    weights = inquiry.view.idf(inquiry.question.words)
    wanted = []
    for word, weight in weights.items():
        near = [other for part in whole_words(word) for other in inquiry.corrections.get(part, ())]
        # A word that is corrected occurs nowhere itself.
        wanted.append((" ".join(near) or word, weight * MISSPELT if near else weight))
    total = sum(weights.values()) or 1.0
    shares = {}
    for record in inquiry.load(keys):
        node = record.node
        if node.type == "message" and only_repeats(record.passage.text, inquiry.request.query):
            continue  # who asked this before did not answer it
        stems, language = indexed(" ".join((node.title, record.passage.text, *node.tags)))
        has = frozenset(stems).isdisjoint
        share = sum(weight for words, weight in wanted if not has(analyse(words, language)))
        shares[record.passage.key] = share / total
    return shares
