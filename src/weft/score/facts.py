"""What the signals need to know beside the candidate, read once for all candidates of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from weft.collect.inquiry import Inquiry
from weft.query import Question
from weft.request import Request
from weft.types import Candidate, Usage


@dataclass(frozen=True, slots=True)
class Facts:
    """The request's side of every signal; all of it is what the viewer may see."""

    request: Request
    question: Question
    now: datetime
    similarities: Mapping[int, float] = field(default_factory=dict)
    """Cosine with the query by passage key; empty without an embedding."""
    hops: Mapping[str, int] = field(default_factory=dict)
    """Distance in the tree from the focus, by node."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    idf: Mapping[str, float] = field(default_factory=dict)
    edited: frozenset[str] = frozenset()
    viewed: frozenset[str] = frozenset()


def gather_facts(inquiry: Inquiry, candidates: Sequence[Candidate], signals: frozenset[str]) -> Facts:
    """Read what these signals need, and nothing else."""
    view, focus = inquiry.view, inquiry.request.focus
    nodes = list(dict.fromkeys(candidate.node.id for candidate in candidates))
    similarities: dict[int, float] = {}
    if inquiry.vector is not None and inquiry.embedder is not None and signals & {"relevance", "similarity"}:
        similarities = {hit.key: hit.score for hit in inquiry.vector_hits}
        others = [candidate.key for candidate in candidates if candidate.key > 0 and candidate.key not in similarities]
        similarities |= view.similarities(inquiry.vector, others, model=inquiry.embedder.model)
    affinity = "affinity" in signals
    return Facts(
        request=inquiry.request,
        question=inquiry.question,
        now=inquiry.now,
        similarities=similarities,
        hops=view.tree_distance(focus, nodes) if focus is not None and "structural" in signals else {},
        usage=view.usage(nodes) if signals & {"usage", "feedback"} else {},
        idf=view.idf(inquiry.question.words) if "text_similarity" in signals else {},
        edited=frozenset(event.node for event in inquiry.edits) if affinity else frozenset(),
        viewed=frozenset(event.node for event in inquiry.views) if affinity else frozenset(),
    )
