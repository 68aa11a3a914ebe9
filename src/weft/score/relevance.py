"""How well a passage answers the query, or how near the collectors found it to the focus."""

from __future__ import annotations

from weft.score.facts import Facts
from weft.types import Candidate

TRUST_IN_VECTORS = 0.6
"""How far a cosine counts beside words: BM25 alone beats static embeddings on ad-hoc retrieval
(SciFact nDCG@10 0.68 against 0.51), so that a vector may lift a passage but not outvote words."""


def relevance(candidate: Candidate, facts: Facts) -> float | None:
    """The best grade that a collector gave, or words and meaning together, whichever is higher."""
    graded = max((f.score for f in candidate.findings if f.collector not in ("lexical", "semantic")), default=0.0)
    return min(1.0, max(graded, fused(candidate, facts)))


def fused(candidate: Candidate, facts: Facts) -> float:
    """Words and meaning as two independent reasons: 1 − (1 − words)(1 − trust · cosine)."""
    words = max((f.score for f in candidate.findings if f.collector == "lexical"), default=0.0)
    cosine = max(0.0, facts.similarities.get(candidate.key, 0.0))
    return 1.0 - (1.0 - words) * (1.0 - TRUST_IN_VECTORS * cosine)


def similarity(candidate: Candidate, facts: Facts) -> float | None:
    """The cosine with the query; None without embeddings."""
    found = facts.similarities.get(candidate.key)
    return None if found is None else min(1.0, max(0.0, found))
