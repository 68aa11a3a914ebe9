"""Signals of use: the user's own edits and views, use in answers, and feedback."""

from __future__ import annotations

from weftwork.score.facts import Facts
from weftwork.types import Candidate


def affinity(candidate: Candidate, facts: Facts) -> float | None:
    """1 for what the user owns or edited, 0.8 for what they looked at, else 0.5."""
    node = candidate.node
    if node.owner == facts.request.user or node.id in facts.edited:
        return 1.0
    return 0.8 if node.id in facts.viewed else 0.5


def usage(candidate: Candidate, facts: Facts) -> float | None:
    """Uses / 10, at most 1 (thread contract)."""
    votes = facts.usage.get(candidate.node.id)
    return 0.0 if votes is None else min(1.0, votes.used / 10)


def feedback(candidate: Candidate, facts: Facts) -> float | None:
    """The share of useful votes, smoothed by one vote each way; None without votes."""
    votes = facts.usage.get(candidate.node.id)
    if votes is None or not (votes.useful or votes.useless):
        return None
    return (votes.useful + 1) / (votes.useful + votes.useless + 2)
