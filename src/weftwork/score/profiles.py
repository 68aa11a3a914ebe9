"""Profiles: which signals count, and how much. The first five come from the contracts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from weftwork.errors import InvalidInput, UnknownName
from weftwork.score.facts import Facts
from weftwork.score.signals import SIGNALS, Signal
from weftwork.types import Candidate


@dataclass(frozen=True, slots=True)
class Profile:
    """Named weights; those of signals that do not apply to a candidate are shared out among the rest."""

    name: str
    weights: Mapping[str, float]
    without_embeddings: Mapping[str, float] | None = None
    """Weights to use when there is no similarity to weigh, where a contract names them."""
    adjustments: Mapping[str, float] = field(default_factory=dict)
    """Signals beside the weights, each with the most that it may add (at 1) or take away (at 0); 1/2 adds nothing."""
    own: Mapping[str, Signal] = field(default_factory=dict)
    """Signals handed in: functions by the names that the weights give them, before built-in ones of the same name."""

    def __post_init__(self) -> None:
        for weights in (self.weights, self.without_embeddings):
            if weights is not None:
                self._check(weights)
        for signal, bound in self.adjustments.items():
            self._check_signal(signal, bound)

    @property
    def signals(self) -> frozenset[str]:
        """The names of all signals that count."""
        return frozenset(self.weights) | frozenset(self.adjustments)

    def signal(self, name: str) -> Signal:
        """The function behind the name of a signal; what one that was handed in returns is checked."""
        return _checked(name, self.own[name]) if name in self.own else SIGNALS[name]

    def _check_signal(self, signal: str, weight: float) -> None:
        if signal not in self.own and signal not in SIGNALS:
            raise UnknownName("signal", signal, (*SIGNALS, *self.own))
        if not callable(self.own.get(signal, SIGNALS.get(signal))):
            raise InvalidInput(f"signal {signal!r} must be a function, got {self.own[signal]!r}")
        if not 0 <= weight < math.inf:
            raise InvalidInput(f"weight of {signal} in profile {self.name!r} must be 0 or more, got {weight!r}")

    def _check(self, weights: Mapping[str, float]) -> None:
        for signal, weight in weights.items():
            self._check_signal(signal, weight)
        if not sum(weights.values()) > 0:
            raise InvalidInput(f"profile {self.name!r} needs at least one weight above 0")


def _checked(name: str, signal: Signal) -> Signal:
    def value(candidate: Candidate, facts: Facts) -> float | None:
        given = signal(candidate, facts)
        if given is not None and not (isinstance(given, (int, float)) and 0.0 <= given <= 1.0):
            raise InvalidInput(f"signal {name!r} gave {given!r} for {candidate.node.id!r}: give 0 to 1, or None")
        return given

    return value


FEEDBACK = {"feedback": 0.05}
"""The most by which a user's own feedback moves a score (docs/activity.md)."""

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "balanced",
            {
                "evidence": 0.60, "structural": 0.12, "recency_linear": 0.08, "type_match": 0.06, "affinity": 0.04,
                "usage": 0.03, "period": 0.20, "confidence": 0.03,
            },
            # Weighed as a share, a word of praise (2/3) would lower what scores higher than that.
            adjustments=FEEDBACK,
        ),
        Profile(
            "workspace",
            {
                "relevance": 0.35, "structural": 0.25, "recency_linear": 0.15, "type_match": 0.15, "affinity": 0.10,
            },
        ),
        Profile(
            "conversation",
            {"window": 0.97, "period": 0.30, "recency_linear": 0.01, "affinity": 0.01, "confidence": 0.01},
        ),
        Profile("memory", {"fused": 0.6, "recency_inverse": 0.2, "confidence": 0.2}),
        Profile(
            "thread",
            {
                "text_similarity": 0.35, "keyword_match": 0.25, "recency_hourly": 0.15, "source_priority": 0.15,
                "usage": 0.10,
            },
            # The contract records feedback and gives it no weight. Inside the five it would change all of them.
            adjustments=FEEDBACK,
        ),
        Profile(
            "graph",
            {"distance": 0.40, "likeness": 0.35, "recency_monthly": 0.25},
            without_embeddings={"distance": 0.60, "recency_monthly": 0.40},
        ),
        Profile("research", {"page_words": 0.70, "page_meaning": 0.05, "page_look": 0.25}),
    )
}  # fmt: skip


def get_profile(name: str) -> Profile:
    """A built-in profile by name."""
    if name not in PROFILES:
        raise UnknownName("profile", name, PROFILES)
    return PROFILES[name]
