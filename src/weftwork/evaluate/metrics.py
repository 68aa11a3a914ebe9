"""Retrieval metrics: pure functions of a ranking or of spans, and of the relevant ones.

A ranking is a sequence of ids, the best first; the relevant ones are a set of ids, or a mapping from ids to grades. A
repeated id counts where it comes first. Without anything relevant there is nothing to measure: that is a ValueError.
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
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """Recall, precision and intersection over union of spans."""

    recall: float
    precision: float
    iou: float
    """Intersection over union."""


def ndcg(ranking: Sequence[Hashable], grades: Mapping[Any, float], k: int) -> float:
    """Return nDCG of the first k; a grade of 0 or less gains nothing.

    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002), with the grade itself as gain.
    """
    gains = [max(0.0, grades.get(item, 0.0)) for item in _distinct(ranking)[:k]]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:k]
    _require(best)
    return _discounted(gains) / _discounted(best)


def recall(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int | None = None) -> float:
    """The share of the relevant ids among the first k; k None stands for all."""
    _require(relevant)
    return len(set(_distinct(ranking)[:k]) & set(relevant)) / len(set(relevant))


def precision(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int | None = None) -> float:
    """The share of relevant ids in the first k; 0 for an empty ranking."""
    _require(relevant)
    retrieved = _distinct(ranking)[:k]
    return len(set(retrieved) & set(relevant)) / len(retrieved) if retrieved else 0.0


def all_gold(ranking: Sequence[Hashable], relevant: Collection[Hashable], k: int | None = None) -> float:
    """1 if all relevant ids are among the first k, else 0."""
    return 1.0 if recall(ranking, relevant, k) == 1.0 else 0.0


def overlap(retrieved: Sequence[Span], relevant: Sequence[Span], *, unit: Sequence[int] = ()) -> Overlap:
    """Recall, precision and intersection over union of spans of one text.

    They are measured in characters, or in tokens: then `unit` holds the offsets at which the tokens begin. What is
    retrieved twice counts twice against precision, as it costs twice.
    """
    _require(relevant)
    gold = merged(relevant)
    distinct = merged(retrieved)
    common = _size(intersection(distinct, gold), unit)
    needed, spent = _size(gold, unit), _size(retrieved, unit)
    return Overlap(
        recall=common / needed if needed else 0.0,
        precision=common / spent if spent else 0.0,
        iou=common / (spent + needed - common) if spent + needed else 0.0,
    )


def merged(spans: Sequence[Span]) -> list[Span]:
    """Merge spans that overlap or touch, in order; drop empty ones."""
    result: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def intersection(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """The intersection of two lists of merged spans."""
    common = [(max(a[0], b[0]), min(a[1], b[1])) for a in left for b in right]
    return sorted(span for span in common if span[0] < span[1])


def bootstrap(values: Sequence[float], *, seed: int = 1, resampled: int = RESAMPLED) -> Interval:
    """The mean and its bootstrap confidence interval."""
    _require(values)
    rng = random.Random(seed)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(resampled))
    edge = (1.0 - CONFIDENCE) / 2
    return Interval(statistics.fmean(values), _quantile(means, edge), _quantile(means, 1.0 - edge))


def paired(left: Sequence[float], right: Sequence[float], *, seed: int = 1) -> Interval:
    """The mean difference of paired values with its interval; noise if the interval holds 0."""
    return bootstrap([a - b for a, b in zip(left, right, strict=True)], seed=seed)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _size(spans: Sequence[Span], unit: Sequence[int]) -> int:
    """The total length of spans, in characters or in tokens that begin inside them."""
    if not unit:
        return sum(end - start for start, end in spans)
    return sum(bisect_left(unit, end) - bisect_left(unit, start) for start, end in spans)


def _distinct(ranking: Sequence[Hashable]) -> list[Hashable]:
    return list(dict.fromkeys(ranking))


def _require(relevant: Collection[object]) -> None:
    if not relevant:
        raise ValueError("there is nothing to measure: leave out questions that nothing answers")
