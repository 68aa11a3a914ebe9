"""Figures about a ranking, a set of spans, or many questions: pure functions of what was found and what was wanted.

A ranking is a sequence of ids, the best first; what is wanted is a set of ids, or a mapping from ids to grades. An id
that comes twice counts where it comes first. Where nothing is wanted there is nothing to measure: that is an error of
the caller.
"""

from __future__ import annotations

import math
import random
import statistics
from bisect import bisect_left
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]
"""A stretch of a text, its end excluded."""

RESAMPLED = 1_000
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and between which bounds it would lie for other questions of the same kind."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of what was wanted was retrieved, and how much of what was retrieved was wanted."""

    recall: float
    precision: float
    iou: float
    """What both have in common, as a share of all that either has."""


def ndcg(ranking: Sequence[Hashable], grades: Mapping[Any, float], k: int) -> float:
    """Discounted gain of the first k, as a share of the best possible one; a grade of 0 or less gains nothing.

    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002), with the grade itself as gain.
    """
    gains = [max(0.0, grades.get(each, 0.0)) for each in _distinct(ranking)[:k]]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    _require(best)
    return _discounted(gains) / _discounted(best)


def recall(ranking: Sequence[Hashable], wanted: Collection[Hashable], k: int | None = None) -> float:
    """Which share of what was wanted is among the first k; None stands for all."""
    _require(wanted)
    return len(set(_distinct(ranking)[:k]) & set(wanted)) / len(set(wanted))


def precision(ranking: Sequence[Hashable], wanted: Collection[Hashable], k: int | None = None) -> float:
    """Which share of the first k was wanted; 0 where nothing was found."""
    _require(wanted)
    found = _distinct(ranking)[:k]
    return len(set(found) & set(wanted)) / len(found) if found else 0.0


def all_gold(ranking: Sequence[Hashable], wanted: Collection[Hashable], k: int | None = None) -> float:
    """1 if everything that was wanted is among the first k, else 0."""
    return 1.0 if recall(ranking, wanted, k) == 1.0 else 0.0


def overlap(retrieved: Sequence[Span], wanted: Sequence[Span], *, unit: Sequence[int] = ()) -> Overlap:
    """Recall, precision and intersection over union of spans of one text.

    They are measured in characters, or in tokens: then `unit` holds the places at which the tokens begin. What is
    retrieved twice counts twice against precision, as it costs twice.
    """
    _require(wanted)
    gold = merged(wanted)
    found = merged(retrieved)
    common = _size(intersection(found, gold), unit)
    asked, spent = _size(gold, unit), _size(retrieved, unit)
    return Overlap(
        recall=common / asked if asked else 0.0,
        precision=common / spent if spent else 0.0,
        iou=common / (spent + asked - common) if spent + asked else 0.0,
    )


def merged(spans: Sequence[Span]) -> list[Span]:
    """The same places as spans that do not touch, in their order; empty ones vanish."""
    found: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def intersection(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """What two lists of merged spans have in common."""
    common = [(max(a[0], b[0]), min(a[1], b[1])) for a in left for b in right]
    return sorted(span for span in common if span[0] < span[1])


def bootstrap(values: Sequence[float], *, seed: int = 1, resampled: int = RESAMPLED) -> Interval:
    """The mean and its interval of confidence, from means of questions drawn again with replacement."""
    _require(values)
    rng = random.Random(seed)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(resampled))
    edge = (1.0 - CONFIDENCE) / 2
    return Interval(statistics.fmean(values), _quantile(means, edge), _quantile(means, 1.0 - edge))


def paired(left: Sequence[float], right: Sequence[float], *, seed: int = 1) -> Interval:
    """By how much the left is better than the right for the same questions; noise if the interval holds 0."""
    return bootstrap([a - b for a, b in zip(left, right, strict=True)], seed=seed)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _size(spans: Sequence[Span], unit: Sequence[int]) -> int:
    """How long spans are together, in characters or in the tokens that begin inside them."""
    if not unit:
        return sum(end - start for start, end in spans)
    return sum(bisect_left(unit, end) - bisect_left(unit, start) for start, end in spans)


def _distinct(ranking: Sequence[Hashable]) -> list[Hashable]:
    return list(dict.fromkeys(ranking))


def _require(wanted: Collection[object]) -> None:
    if not wanted:
        raise ValueError("there is nothing to measure: leave out questions that nothing answers")
