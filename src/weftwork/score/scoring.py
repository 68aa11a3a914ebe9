"""Combine signals into scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weftwork.score.facts import Facts
from weftwork.score.profiles import Profile
from weftwork.score.signals import CONSTANTS, SIGNALS
from weftwork.types import Candidate, Signals

OVERDUE = 0.9
"""The least score of what is due where that was asked for: it outweighs words, the earliest date most."""


def score(candidates: Sequence[Candidate], profile: Profile, facts: Facts) -> list[Candidate]:
    """Candidates with their signals and score, the best first, in a total order."""
    weights = profile.weights
    if profile.without_embeddings is not None and not facts.similarities:
        weights = profile.without_embeddings
    names = (*weights, *profile.adjustments)
    columns = [_column(name, profile, candidates, facts) for name in names]
    is_due = any(finding.kind == "due" for candidate in candidates for finding in candidate.findings)
    scored = [
        _scored(candidate, dict(zip(names, values, strict=True)), weights, profile.adjustments, facts, is_due=is_due)
        for candidate, values in zip(candidates, zip(*columns, strict=True), strict=True)
    ]
    return sorted(scored, key=_rank)


def _rank(candidate: Candidate) -> tuple[float, str, int]:
    passage = candidate.passage
    return (-candidate.score, passage.citation, passage.key)


def _column(name: str, profile: Profile, candidates: Sequence[Candidate], facts: Facts) -> Sequence[float | None]:
    """The values of a signal for all candidates; where the request makes them all the same, it is asked once."""
    constant = CONSTANTS.get(name)
    if constant is not None and candidates and name not in profile.own and constant(facts):
        return [SIGNALS[name](candidates[0], facts)] * len(candidates)
    signal = profile.signal(name)
    return [signal(candidate, facts) for candidate in candidates]


def _scored(
    candidate: Candidate,
    signals: dict[str, float | None],
    weights: Mapping[str, float],
    adjustments: Mapping[str, float],
    facts: Facts,
    *,
    is_due: bool,
) -> Candidate:
    total = weigh(signals, weights)
    for name in adjustments:
        if signals[name] is not None:
            total = min(1.0, max(0.0, total + adjustment(signals, adjustments)))
            break
    boost = boosted(candidate, facts.request.boosts) if facts.request.boosts else 0.0
    if boost:
        signals["boost"] = boost
        total = min(1.0, max(0.0, total + boost))
    due = candidate.found_as("due") if is_due else None
    if due is not None:
        signals["overdue"] = lift = round(OVERDUE + (1.0 - OVERDUE) * due - total, 9)
        total += lift
    return _with_score(candidate, signals, round(total, 9))


def boosted(candidate: Candidate, boosts: Mapping[str, float]) -> float:
    """Return the boost of the node's tags and type, ignoring case."""
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
