"""How well a passage answers the query, or how near the collectors found it to the focus."""

from __future__ import annotations

from weftwork.score.facts import Facts
from weftwork.score.fusion import found_by_words, fuse
from weftwork.types import Candidate


def relevance(candidate: Candidate, facts: Facts) -> float | None:
    """The best grade that a collector gave, or words and meaning together, whichever is higher."""
    graded = max((f.score for f in candidate.findings if f.collector not in ("lexical", "semantic")), default=0.0)
    return min(1.0, max(graded, fuse(found_by_words(candidate), facts.similarities.get(candidate.key, 0.0))))


def evidence(candidate: Candidate, facts: Facts) -> float | None:
    """The same with words and meaning weighed by what each of them tells for this query, and what links add."""
    graded = max((f.score for f in candidate.findings if f.collector not in ("lexical", "semantic")), default=0.0)
    return min(1.0, max(graded, facts.evidence.get(candidate.key, 0.0)))


def similarity(candidate: Candidate, facts: Facts) -> float | None:
    """The cosine with the query, 0 for what has no vector; None without embeddings."""
    if not facts.similarities:
        return None
    return min(1.0, max(0.0, facts.similarities.get(candidate.key, 0.0)))
