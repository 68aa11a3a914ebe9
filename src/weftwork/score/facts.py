"""Facts that signals need beside the candidate, read once per request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from weftwork.collect.adjacent import TURNS
from weftwork.collect.inquiry import Inquiry
from weftwork.query import Question, words_of
from weftwork.request import Request
from weftwork.score.fusion import found_by_words
from weftwork.score.pages import SIGNALS as PAGE_SIGNALS
from weftwork.score.pages import PageGrades, grade_pages
from weftwork.score.windows import REACH, windows, with_text_around, with_turns
from weftwork.types import Candidate, Usage

COSINES = frozenset({"relevance", "evidence", "likeness", "similarity", "window"})
"""Signals that compare the vectors of the query and of passages."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The request's side of every signal; all of it is what the viewer may see."""

    request: Request
    question: Question
    now: datetime
    similarities: Mapping[int, float] = field(default_factory=dict)
    """Cosine with the query by passage key; empty without an embedding."""
    evidence: Mapping[int, float] = field(default_factory=dict)
    """The fused score of each passage, by key."""
    hops: Mapping[str, int] = field(default_factory=dict)
    """Distance in the tree from the focus, by node."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    idf: Mapping[str, float] = field(default_factory=dict)
    windows: Mapping[int, float] = field(default_factory=dict)
    """Relevance of each passage with its neighbours', by key."""
    pages: Mapping[int, PageGrades] = field(default_factory=dict)
    """Scores of whole document pages, by key."""
    edited: frozenset[str] = frozenset()
    viewed: frozenset[str] = frozenset()


def gather_facts(inquiry: Inquiry, candidates: Sequence[Candidate], signals: frozenset[str]) -> Facts:
    """Read what these signals need, and nothing else."""
    view, focus = inquiry.view, inquiry.request.focus
    nodes = list(dict.fromkeys(candidate.node.id for candidate in candidates))
    stored = [candidate.key for candidate in candidates if candidate.key > 0]
    similarities: dict[int, float] = {}
    if inquiry.vector is not None and inquiry.embedder is not None and signals & COSINES:
        similarities = dict(inquiry.known_cosines)
        others = [key for key in stored if key not in similarities]
        similarities |= view.similarities(inquiry.vector, others, model=inquiry.embedder.model)
    affinity = "affinity" in signals
    return Facts(
        request=inquiry.request,
        question=inquiry.question,
        now=inquiry.now,
        similarities=similarities,
        evidence=_evidence(inquiry, candidates, similarities) if {"evidence", "likeness"} & set(signals) else {},
        hops=view.tree_distance(focus, nodes) if focus is not None and "structural" in signals else {},
        usage=view.usage(nodes) if signals & {"usage", "feedback"} else {},
        idf=view.idf(_vocabulary(inquiry, candidates)) if "text_similarity" in signals else {},
        windows=windows(candidates, similarities, view.adjacent(stored, REACH)) if "window" in signals else {},
        pages=grade_pages(inquiry, candidates) if signals & PAGE_SIGNALS else {},
        edited=frozenset(event.node for event in inquiry.edits) if affinity else frozenset(),
        viewed=frozenset(event.node for event in inquiry.views) if affinity else frozenset(),
    )


def _evidence(inquiry: Inquiry, candidates: Sequence[Candidate], similarities: Mapping[int, float]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for candidate in candidates:
        kinds = {finding.kind for finding in candidate.findings}
        words = None if "vector" in kinds and not kinds & {"words", "fuzzy"} else found_by_words(candidate)
        scores[candidate.key] = inquiry.weighing(words, similarities.get(candidate.key, 0.0))
    scores = with_text_around(candidates, scores)
    turns = [candidate.key for candidate in candidates if candidate.key > 0 and candidate.node.type in TURNS]
    return scores | with_turns(scores, inquiry.view.adjacent(turns, REACH)) if turns else scores


def _vocabulary(inquiry: Inquiry, candidates: Sequence[Candidate]) -> list[str]:
    """The words whose IDF the text comparison needs."""
    texts = (candidate.passage.text or candidate.node.title for candidate in candidates)
    return list(dict.fromkeys([*words_of(inquiry.question.text), *(word for text in texts for word in words_of(text))]))
