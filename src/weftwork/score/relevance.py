"""Signals of relevance: the collectors' scores, BM25 and cosine."""

from __future__ import annotations

from weftwork.collect.fusion import found_by_words, fuse
from weftwork.score.facts import Facts
from weftwork.types import SEARCHED, Candidate


def relevance(candidate: Candidate, facts: Facts) -> float | None:
    """The best score of a collector, or words and cosine fused, whichever is higher."""
    cosine = facts.similarities.get(candidate.key, 0.0)
    return min(1.0, max(_graded(candidate), fuse(found_by_words(candidate), cosine, facts.trust)))


def evidence(candidate: Candidate, facts: Facts) -> float | None:
    """Like `relevance`, with the per-query fusion of BM25 and cosine (`Weighing`) and the link score."""
    return min(1.0, max(_graded(candidate), facts.evidence.get(candidate.key, 0.0)))


def fused(candidate: Candidate, facts: Facts) -> float | None:
    """Words and cosine fused for this query (`Weighing`), or a share of what was said around it if that is higher.

    The cosine takes the place of the fused score where a vector is all there is of a query.
    """
    around = candidate.found_as("adjacent") or 0.0
    if facts.request.vector is not None and not facts.request.query.strip():
        cosine = similarity(candidate, facts)
        return cosine if cosine is None else max(around, cosine)
    return round(min(1.0, max(around, facts.evidence.get(candidate.key, 0.0))), 9)


def _graded(candidate: Candidate) -> float:
    """The best score of a collector that does not search for the query."""
    best = 0.0
    for finding in candidate.findings:
        if finding.kind not in SEARCHED and finding.score > best:
            best = finding.score
    return best


def likeness(candidate: Candidate, facts: Facts) -> float | None:
    """The cosine with the query or, for hits, the evidence if that is higher; None without embeddings."""
    cosine = similarity(candidate, facts)
    strength = hit_strength(candidate, facts)
    return cosine if cosine is None or strength is None else max(cosine, strength)


def hit_strength(candidate: Candidate, facts: Facts) -> float | None:
    """The evidence of a hit, or its link score if that is higher; None for what no search found."""
    if not candidate.found_as(*SEARCHED, "link_rank"):
        return None
    return min(1.0, max(candidate.found_as("link_rank") or 0.0, facts.evidence.get(candidate.key, 0.0)))


def similarity(candidate: Candidate, facts: Facts) -> float | None:
    """The cosine with the query, 0 for what has no vector; None without embeddings."""
    if not facts.similarities:
        return None
    return min(1.0, max(0.0, facts.similarities.get(candidate.key, 0.0)))
