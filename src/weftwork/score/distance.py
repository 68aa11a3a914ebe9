"""Signals of distance: from the focus in the tree, and along a walk."""

from __future__ import annotations

from weftwork.collect.start_nodes import closeness
from weftwork.score.facts import Facts
from weftwork.score.relevance import hit_strength
from weftwork.types import Candidate


def structural(candidate: Candidate, facts: Facts) -> float | None:
    """1 − 0.1 for each hop in the tree (workspace contract, 4.1); 0.5 without a focus."""
    if facts.request.focus is None:
        return 0.5
    hops = facts.hops.get(candidate.node.id)
    return 0.0 if hops is None else max(0.0, 1.0 - hops * 0.1)


def distance(candidate: Candidate, facts: Facts) -> float | None:
    """1 / distance from the start of the walk (graph contract), or the closeness to all its topics.

    A start that was searched for, and not named, counts as much as the search is sure of it.
    """
    if candidate.distance == 0 and not candidate.asked:
        strength = hit_strength(candidate, facts)
        if strength is not None:
            return strength
    if candidate.reached:
        return closeness(candidate.reached)
    return None if candidate.distance is None else 1.0 / max(1, candidate.distance)
