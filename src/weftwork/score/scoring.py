"""Combine signals into scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weftwork.score.facts import Facts
from weftwork.score.profiles import Profile
from weftwork.score.signals import Signal
from weftwork.types import Candidate, Signals

OVERDUE = 0.9
"""The least score of what is due where that was asked for: it outweighs words, the earliest date most."""


def score(candidates: Sequence[Candidate], profile: Profile, facts: Facts) -> list[Candidate]:
    """Candidates with their signals and score, the best first, in a total order."""
    weights = profile.weights
    if profile.without_embeddings is not None and not facts.similarities:
        weights = profile.without_embeddings
    signals = {name: profile.signal(name) for name in (*weights, *profile.adjustments)}
    scored = [_scored(candidate, signals, weights, profile.adjustments, facts) for candidate in candidates]
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.passage.citation, candidate.key))


def _scored(
    candidate: Candidate,
    functions: Mapping[str, Signal],
    weights: Mapping[str, float],
    adjustments: Mapping[str, float],
    facts: Facts,
) -> Candidate:
    signals: dict[str, float | None] = {name: signal(candidate, facts) for name, signal in functions.items()}
    total = weigh(signals, weights)
    if any([signals[name] is not None for name in adjustments]):
        total = min(1.0, max(0.0, total + adjustment(signals, adjustments)))
    boost = boosted(candidate, facts.request.boosts)
    if boost:
        signals["boost"] = boost
        total = min(1.0, max(0.0, total + boost))
    due = candidate.found_as("due")
    if due is not None:
        signals["overdue"] = lift = round(OVERDUE + (1.0 - OVERDUE) * due - total, 9)
        total += lift
    return _with_score(candidate, signals, round(total, 9))


def boosted(candidate: Candidate, boosts: Mapping[str, float]) -> float:
    """Return the boost of the node's tags and type, ignoring case."""
    if not boosts:
        return 0.0
    marks = {mark.lstrip("#").casefold() for mark in (*candidate.node.tags, candidate.node.type)}
    return sum(value for tag, value in boosts.items() if tag.lstrip("#").casefold() in marks)


def _with_score(candidate: Candidate, signals: Signals, total: float) -> Candidate:
    """The same as `dataclasses.replace`, at a third of its cost: this runs for every candidate."""
    return Candidate(
        candidate.node, candidate.passage, candidate.section, candidate.findings, candidate.trail,
        candidate.distance, candidate.path, signals, total, candidate.reached, candidate.hubs, candidate.more,
        candidate.note, candidate.document, candidate.depth, candidate.asked, candidate.levels,
    )  # fmt: skip


def adjustment(signals: Signals, bounds: Mapping[str, float]) -> float:
    """Return the sum of the adjustments: nothing at 1/2, plus their bound at 1, minus it at 0."""
    values = ((signals.get(name), bound) for name, bound in bounds.items())
    return sum((2.0 * value - 1.0) * bound for value, bound in values if value is not None)


def weigh(signals: Signals, weights: Mapping[str, float]) -> float:
    """Weighted mean of the signals that apply; 0 if none does."""
    total = reached = 0.0
    for name, weight in weights.items():
        if (value := signals.get(name)) is not None:
            total += weight
            reached += weight * value
    return reached / total if total else 0.0


def shares(signals: Signals, profile: Profile, total: float) -> dict[str, float]:
    """Split a score into the contributions of its signals, and "other" for clamping or a custom ranking.

    The score tells which of a profile's two sets of weights was in use.
    """
    sets = [profile.weights, *([profile.without_embeddings] if profile.without_embeddings else [])]
    splits = [_shares(signals, weights, profile.adjustments) for weights in sets]
    best = min(splits, key=lambda split: abs(total - sum(split.values())))
    rest = total - sum(best.values())
    return best if abs(rest) < 1e-6 else {**best, "other": rest}


def _shares(signals: Signals, weights: Mapping[str, float], bounds: Mapping[str, float]) -> dict[str, float]:
    values = {name: value for name, value in signals.items() if value is not None}
    whole = sum(weight for name, weight in weights.items() if name in values)
    parts = {name: weight * values[name] / whole for name, weight in weights.items() if name in values and whole}
    parts |= {name: (2.0 * values[name] - 1.0) * bound for name, bound in bounds.items() if name in values}
    return parts | {name: values[name] for name in ("boost", "overdue") if name in values}
