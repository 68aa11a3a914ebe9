"""Facts that signals need beside the candidate, read once per request and only on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from weftwork.collect.adjacent import TURNS
from weftwork.collect.fusion import found_by_words
from weftwork.collect.inquiry import Inquiry
from weftwork.embed.card import CAUTIOUS, Trust
from weftwork.history import Usage
from weftwork.query import Question, words_of
from weftwork.request import Request
from weftwork.score.pages import PageGrades, grade_pages
from weftwork.score.verdicts import verdicts
from weftwork.score.windows import REACH, other_turns, windows, with_text_around, with_turns
from weftwork.types import Candidate


@dataclass(frozen=True)
class Facts:
    """The request's side of every signal; all of it is what the viewer may see."""

    request: Request
    question: Question
    now: datetime
    similarities: Mapping[int, float] = field(default_factory=dict)
    """Cosine with the query by passage key; empty without an embedding."""
    trust: Trust = CAUTIOUS
    """How far cosines count beside words."""
    evidence: Mapping[int, float] = field(default_factory=dict)
    """The fused score of each passage, by key."""
    hops: Mapping[str, int] = field(default_factory=dict)
    """Distance in the tree from the focus, by node."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    verdicts: Mapping[str, float] = field(default_factory=dict)
    """The user's own feedback, from −1 to 1, as far as it is on questions like this one."""
    idf: Mapping[str, float] = field(default_factory=dict)
    windows: Mapping[int, float] = field(default_factory=dict)
    """Relevance of each passage with its neighbours', by key."""
    pages: Mapping[int, PageGrades] = field(default_factory=dict)
    """Scores of whole document pages, by key."""
    edited: frozenset[str] = field(default_factory=frozenset)
    viewed: frozenset[str] = field(default_factory=frozenset)


class FactsOnDemand(Facts):
    """Facts that are read from the view when a signal first asks for them."""

    def __init__(self, inquiry: Inquiry, candidates: Sequence[Candidate]) -> None:
        direct = {"request": inquiry.request, "question": inquiry.question, "now": inquiry.now, "trust": inquiry.trust}
        vars(self).update(direct, _inquiry=inquiry, _candidates=candidates)

    def __getattr__(self, name: str) -> Any:
        """Read a fact; from then on it is an ordinary attribute."""
        if name not in _READERS:
            raise AttributeError(f"there is no fact {name!r}: use one of {', '.join(_READERS)}")
        value = vars(self)[name] = _READERS[name](vars(self)["_inquiry"], vars(self)["_candidates"], self)
        return value


def _similarities(inquiry: Inquiry, candidates: Sequence[Candidate]) -> dict[int, float]:
    """Cosines by key; of unstored candidates, the scores of their vector findings."""
    if inquiry.vector is None or inquiry.embedder is None:
        return {}
    cosines = dict(inquiry.known_cosines)
    others = [candidate.key for candidate in candidates if candidate.key > 0 and candidate.key not in cosines]
    cosines |= inquiry.view.similarities(inquiry.vector, others, model=inquiry.embedder.model)
    unstored = ((candidate.key, candidate.found_as("vector")) for candidate in candidates if candidate.key < 0)
    return cosines | {key: cosine for key, cosine in unstored if cosine is not None}


def _nodes(candidates: Sequence[Candidate]) -> list[str]:
    return list(dict.fromkeys(candidate.node.id for candidate in candidates))


def _evidence(inquiry: Inquiry, candidates: Sequence[Candidate], similarities: Mapping[int, float]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for candidate in candidates:
        kinds = {finding.kind for finding in candidate.findings}
        words = None if "vector" in kinds and not kinds & {"words", "fuzzy"} else found_by_words(candidate)
        scores[candidate.key] = inquiry.weighing(words, similarities.get(candidate.key, 0.0))
    scores = with_text_around(candidates, scores)
    turns = {each.key: each.node.id for each in candidates if each.key > 0 and each.node.type in TURNS}
    if not turns:
        return scores
    return scores | with_turns(scores, other_turns(turns, inquiry.view.adjacent(list(turns), REACH)))


def _idf(inquiry: Inquiry, candidates: Sequence[Candidate]) -> dict[str, float]:
    """The rarity of all words that the text comparison needs."""
    texts = (f"{candidate.node.title}\n{candidate.passage.text}" for candidate in candidates)
    words = dict.fromkeys(word for text in (inquiry.question.text, *texts) for word in words_of(text))
    return inquiry.view.idf(list(words))


def _windows(inquiry: Inquiry, candidates: Sequence[Candidate], similarities: Mapping[int, float]) -> dict[int, float]:
    stored = [candidate.key for candidate in candidates if candidate.key > 0]
    return windows(candidates, similarities, inquiry.view.adjacent(stored, REACH), inquiry.trust)


_READERS: Mapping[str, Callable[[Inquiry, Sequence[Candidate], Facts], object]] = {
    "similarities": lambda inquiry, candidates, facts: _similarities(inquiry, candidates),
    "evidence": lambda inquiry, candidates, facts: _evidence(inquiry, candidates, facts.similarities),
    "hops": lambda inquiry, candidates, facts: (
        {} if facts.request.focus is None else inquiry.view.tree_distance(facts.request.focus, _nodes(candidates))
    ),
    "verdicts": lambda inquiry, candidates, facts: verdicts(
        inquiry, {*_nodes(candidates), *(candidate.document for candidate in candidates)}
    ),
    "usage": lambda inquiry, candidates, facts: inquiry.view.usage(_nodes(candidates)),
    "idf": lambda inquiry, candidates, facts: _idf(inquiry, candidates),
    "windows": lambda inquiry, candidates, facts: _windows(inquiry, candidates, facts.similarities),
    "pages": lambda inquiry, candidates, facts: grade_pages(inquiry, candidates),
    "edited": lambda inquiry, candidates, facts: frozenset(event.node for event in inquiry.edits),
    "viewed": lambda inquiry, candidates, facts: frozenset(event.node for event in inquiry.views),
}
"""The reader of each fact."""
