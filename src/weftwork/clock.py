"""Time: the wall clock that recency is measured against, and the stopwatch of the stages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The present time in UTC."""
    return datetime.now(UTC)


def whole_minute(moment: datetime) -> datetime:
    """The minute that a moment falls in: within it, the same request gives the same bytes."""
    return moment.replace(second=0, microsecond=0)


def aware(moment: datetime) -> datetime:
    """The moment with its zone; one without is taken as UTC."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


class Stopwatch:
    """Adds up milliseconds by stage."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a block."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.timings[stage] = self.timings.get(stage, 0.0) + spent
