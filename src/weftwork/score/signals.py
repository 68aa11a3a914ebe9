"""The registry of signals: pure functions of a candidate and the facts, giving [0, 1] or None."""

from __future__ import annotations

from collections.abc import Callable

from weftwork.score import distance, node_type, pages, recency, relevance, tf_idf, usage, windows
from weftwork.score.facts import Facts
from weftwork.types import Candidate

Signal = Callable[[Candidate, Facts], float | None]

SIGNALS: dict[str, Signal] = {
    "relevance": relevance.relevance,
    "evidence": relevance.evidence,
    "fused": relevance.fused,
    "likeness": relevance.likeness,
    "similarity": relevance.similarity,
    "window": windows.window,
    "structural": distance.structural,
    "distance": distance.distance,
    "recency_linear": recency.linear,
    "recency_inverse": recency.inverse,
    "recency_hourly": recency.hourly,
    "recency_monthly": recency.monthly,
    "period": recency.period,
    "type_match": node_type.type_match,
    "source_priority": node_type.source_priority,
    "confidence": node_type.confidence,
    "affinity": usage.affinity,
    "usage": usage.usage,
    "feedback": usage.feedback,
    "text_similarity": tf_idf.text_similarity,
    "keyword_match": tf_idf.keyword_match,
    "page_words": pages.page_words,
    "page_meaning": pages.page_meaning,
    "page_look": pages.page_look,
}

CONSTANTS: dict[str, Callable[[Facts], bool]] = {
    "structural": lambda facts: facts.request.focus is None,
    "period": lambda facts: facts.question.period is None,
    "type_match": lambda facts: not (facts.request.prefer_types or facts.question.wanted_types),
    "usage": lambda facts: not facts.usage,
    "feedback": lambda facts: not facts.verdicts,
}
"""The requests for which a signal is the same for all candidates: most questions name no time and no type."""
