"""Clocks and percentiles."""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager


class Laps:
    """Milliseconds by name, one entry for each time that something was measured."""

    def __init__(self) -> None:
        self.laps: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}
        """The same in time of the processor, which a busy machine does not stretch."""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time a block."""
        started, used = time.perf_counter(), time.process_time()
        yield
        spent = time.perf_counter() - started
        self.cpu.setdefault(name, []).append((time.process_time() - used) * 1000)
        self.add(name, spent * 1000)

    def add(self, name: str, milliseconds: float) -> None:
        """Enter a time that was measured elsewhere."""
        self.laps.setdefault(name, []).append(milliseconds)

    def summary(self) -> dict[str, dict[str, float]]:
        """Mean and median of each name."""
        return {
            name: {"mean_ms": round(statistics.fmean(times), 3), "p50_ms": round(percentile(times, 50), 3)}
            for name, times in self.laps.items()
        }


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest value that so many percent of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def totals(laps: Mapping[str, Sequence[float]]) -> list[float]:
    """What all names took together, measurement by measurement."""
    return [sum(times) for times in zip(*laps.values(), strict=True)]


def say(text: str) -> None:
    """Tell whoever is watching; standard output is for results."""
    print(text, file=sys.stderr, flush=True)
