"""What people did with a node: the user's own work on it, its use in answers, and what readers said."""

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
    found = facts.usage.get(candidate.node.id)
    return 0.0 if found is None else min(1.0, found.used / 10)


def feedback(candidate: Candidate, facts: Facts) -> float | None:
    """Share of readers who found it useful, drawn towards one half by two who did not say; None if none did."""
    found = facts.usage.get(candidate.node.id)
    if found is None or not (found.useful or found.useless):
        return None
    return (found.useful + 1) / (found.useful + found.useless + 2)
