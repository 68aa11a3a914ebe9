"""All signals by name: each a pure function of a candidate and the facts, giving [0, 1] or None."""

from __future__ import annotations

from collections.abc import Callable

from weftwork.score import distance as structural
from weftwork.score import node_type as kind
from weftwork.score import pages, recency, relevance, windows
from weftwork.score import tf_idf as wording
from weftwork.score import usage as people
from weftwork.score.facts import Facts
from weftwork.types import Candidate

Signal = Callable[[Candidate, Facts], float | None]

SIGNALS: dict[str, Signal] = {
    "relevance": relevance.relevance,
    "evidence": relevance.evidence,
    "likeness": relevance.likeness,
    "similarity": relevance.similarity,
    "window": windows.window,
    "structural": structural.structural,
    "distance": structural.distance,
    "recency_linear": recency.linear,
    "recency_inverse": recency.inverse,
    "recency_hourly": recency.hourly,
    "recency_monthly": recency.monthly,
    "period": recency.period,
    "type_match": kind.type_match,
    "source_priority": kind.source_priority,
    "confidence": kind.confidence,
    "affinity": people.affinity,
    "usage": people.usage,
    "feedback": people.feedback,
    "text_similarity": wording.text_similarity,
    "keyword_match": wording.keyword_match,
    "page_words": pages.page_words,
    "page_meaning": pages.page_meaning,
    "page_look": pages.page_look,
}
