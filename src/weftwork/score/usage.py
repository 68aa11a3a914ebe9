"""Signals of use: the user's own edits, views and feedback, and use in answers."""

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
    uses = facts.usage.get(candidate.node.id)
    return 0.0 if uses is None else min(1.0, uses.used / 10)


def feedback(candidate: Candidate, facts: Facts) -> float | None:
    """1 for what the user found useful for questions like this one, 0 for useless; None without a word on it."""
    verdict = facts.verdicts.get(candidate.node.id, facts.verdicts.get(candidate.document))
    return None if verdict is None else (1.0 + verdict) / 2
