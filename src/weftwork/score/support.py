"""Support: how well the best evidence answers a query.

A logistic sum of four terms, fitted on questions with and without an answer (docs/decisions/0033-support.md): how much
of the question the best passage has, in words and in meaning, whether it has its names, how many of its words, and how
far it stands out among the hits. One half is what nearly all questions reach that a workspace answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weftwork.collect.inquiry import Inquiry
from weftwork.embed.calibration import calibrated
from weftwork.embed.card import Trust
from weftwork.query import is_courtesy, quoted
from weftwork.text.analysis import analyse, indexed, only_repeats, query_terms, whole_words
from weftwork.text.pointing import points_back
from weftwork.types import PINNED, SEARCHED, Candidate, Decision, Kind

BY_WORDS, BY_VECTOR = 5, 3
"""The best hits of both searches that are compared with the query."""
STRENGTH, NAMES, WORDS, LEAD, USUAL = 1.8, 2.5, 1.1, 1.4, 1.8
"""The weights of the terms, and the sum with a support of one half."""
FAINT = 0.125
"""A strength that is as good as none."""
TENTH = 10
"""The hit that the best one is compared with, to see whether it stands out."""
HALF_BY_WORDS = 0.24
"""The usual share of a question's words by words alone; beside vectors, the usual evidence is that of the card."""
RESPELT, ELSEWHERE = 0.75, 0.5
"""What a name counts for that a passage has in another spelling, or only another passage has."""
MISSPELT = 0.5
"""The share of its weight that a word has by a correction alone."""
FEW_WORDS = 4
"""Words with which a question that names a time may be about the time alone: "what did I write last May?"."""
FEWEST = 50
"""Passages from which on it is known which words are rare."""
BY_QUERY: frozenset[Kind] = SEARCHED | {"keywords", "look", "link_rank", "adjacent"}
"""Kinds of findings that the query brought, directly or through its hits."""
NEAREST = 3
"""Titles, and words, that a warning names."""


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
    """Warn that nothing answers the query, with the words that occur nowhere and the titles that come nearest."""
    near = list(dict.fromkeys(each.node.title for each in candidates if each.node.title))[:NEAREST]
    unknown = [word for word in inquiry.unknown_words if not _near(inquiry, word)]
    missing = f"no text has {', '.join(map(quoted, unknown[:NEAREST]))}; " if unknown else ""
    nearest = f"the nearest are {', '.join(map(quoted, near))}: " if near else ""
    inquiry.warnings.append(
        f"nothing here answers {quoted(inquiry.request.query)}; {missing}{nearest}"
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
    return _evidence(inquiry).support if question.words and passages >= FEWEST else None


def _stands_alone(inquiry: Inquiry, pointed: bool) -> bool:
    """True of a question whose own words say what it is about."""
    request, question = inquiry.request, inquiry.question
    if pointed or any(topic.text != request.query or inquiry.named(topic.text) for topic in request.topics):
        return False
    spoken = request.thread or request.history
    return not (spoken and (inquiry.said_before or points_back(question.text, len(question.words))))


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The evidence of the best passages for a question."""

    strength: float
    """Its words and its meaning, as a multiple of what is usual."""
    share: float
    """The share of its words, weighed by their rarity."""
    names: float
    """The share of its names and numbers; 1 where it has none."""
    words: int
    """The number of its words."""
    lead: float
    """The lead of the best hit by words on the tenth, as a share of its score."""

    @property
    def support(self) -> float:
        """The support in [0, 1]: a logistic sum of the four terms."""
        reached = STRENGTH * math.log(self.strength + FAINT) + NAMES * (self.names - 1.0)
        reached += WORDS * math.sqrt(self.share * self.words) + LEAD * self.lead
        return 1.0 / (1.0 + math.exp(USUAL - reached))


def _evidence(inquiry: Inquiry) -> _Evidence:
    """The best that any of the first hits has; each term may be of another one."""
    hits = inquiry.word_hits
    keys = [hit.key for hit in hits[:BY_WORDS]]
    keys += [hit.key for hit in inquiry.vector_hits[:BY_VECTOR] if hit.key not in keys]
    weights = inquiry.view.idf(inquiry.question.words)
    matches = _matches(inquiry, keys, weights)
    trust = calibrated(inquiry.embedder) if inquiry.embedder is not None else inquiry.trust
    cosines = inquiry.cosines
    repeated = set(keys).difference(match.key for match in matches)
    return _Evidence(
        strength=max((_strength(match, trust, cosines.get(match.key)) for match in matches), default=0.0),
        share=max((match.share for match in matches), default=0.0),
        names=max((match.names for match in matches), default=1.0),
        words=len(weights),
        lead=_lead([hit.score for hit in hits if hit.key not in repeated]),
    )


@dataclass(frozen=True, slots=True)
class _Match:
    """The same shares of one passage."""

    key: int
    share: float
    names: float


def _strength(match: _Match, trust: Trust, cosine: float | None) -> float:
    """The evidence of a passage, as a multiple of what is usual: its words, and its meaning where that is known."""
    if not trust.half or cosine is None:
        return match.share / HALF_BY_WORDS
    return (match.share + trust.alone) * trust.reach(cosine) / trust.half


def _lead(scores: Sequence[float]) -> float:
    """The lead of the best of these scores on the tenth, or on the last."""
    tenth = scores[:TENTH]
    return 1.0 - tenth[-1] / max(tenth) if tenth and max(tenth) else 0.0


def _matches(inquiry: Inquiry, keys: Sequence[int], weights: Mapping[str, float]) -> list[_Match]:
    """The shares that each of these passages has of the question, but for messages that only repeat it."""
    names = inquiry.question.names & weights.keys()
    known = names.difference(inquiry.unknown_words)
    total = sum(weights.values()) or 1.0
    stems_in: dict[str, dict[str, tuple[tuple[str, ...], list[str]]]] = {}
    matches = []
    for record in inquiry.load(keys):
        node = record.node
        if node.type == "message" and only_repeats(record.passage.text, inquiry.request.query):
            continue  # who asked this before did not answer it
        stems, language = indexed(" ".join((node.title, record.passage.text, *node.tags)))
        if language not in stems_in:
            stems_in[language] = {word: _stems(inquiry, word, language) for word in weights}
        lacks = frozenset(stems).isdisjoint
        has = [word for word, (own, _) in stems_in[language].items() if not lacks(own)]
        near = [word for word, (own, other) in stems_in[language].items() if lacks(own) and not lacks(other)]
        share = sum(weights[word] for word in has) + MISSPELT * sum(weights[word] for word in near)
        respelt = names.intersection(near)
        elsewhere = known.difference(has, respelt)
        named = len(names.intersection(has)) + RESPELT * len(respelt) + ELSEWHERE * len(elsewhere)
        matches.append(_Match(record.passage.key, share / total, named / len(names) if names else 1.0))
    return matches


def _stems(inquiry: Inquiry, word: str, language: str) -> tuple[tuple[str, ...], list[str]]:
    """The telling stems of a word, and those of the words that it may be misspelt for."""
    return query_terms(analyse(word, language), language), analyse(" ".join(_near(inquiry, word)), language)


def _near(inquiry: Inquiry, word: str) -> list[str]:
    """The known words that a word of the query may be misspelt for."""
    return [other for part in whole_words(word) for other in inquiry.corrections.get(part, ())]
