"""Signals of freshness: one curve for each contract."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

from weftwork.score.facts import Facts
from weftwork.text.periods import period_of
from weftwork.types import Candidate

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MONTH = 30 * DAY
_NONE = timedelta(0)
_RELATIVE = re.compile(r"\b(?:yesterday|ago|last (?:night|week|month|year|\w+day|weekend))\b", re.IGNORECASE)
"""Times that a text names from its own day on."""


def _age(moment: datetime | None, now: datetime) -> timedelta | None:
    return None if moment is None else max(_NONE, now - moment)


def linear(candidate: Candidate, facts: Facts) -> float | None:
    """1 − age / 30 days since the last change; 0.5 where it is unknown (workspace contract, 4.1)."""
    age = _age(candidate.node.updated_at, facts.now)
    return 0.5 if age is None else max(0.0, 1.0 - age / MONTH)


def inverse(candidate: Candidate, facts: Facts) -> float | None:
    """1 / (1 + days since creation) (memory contract); a type of its own decay fades at that pace."""
    age = _age(candidate.node.created_at, facts.now)
    return None if age is None else 1.0 / (1.0 + age / DAY / facts.request.decay.get(candidate.node.type, 1.0))


def hourly(candidate: Candidate, facts: Facts) -> float | None:
    """e^(−0.01 · hours since creation); 0.5 where it is unknown (thread contract)."""
    age = _age(candidate.node.created_at, facts.now)
    return 0.5 if age is None else math.exp(-0.01 * (age / HOUR))


def monthly(candidate: Candidate, facts: Facts) -> float | None:
    """e^(−days since the last change / 30), for graphs, where notes live long."""
    age = _age(candidate.node.updated_at, facts.now)
    return None if age is None else math.exp(-(age / DAY) / 30)


def period(candidate: Candidate, facts: Facts) -> float | None:
    """1 inside the stretch of time that the query names, else 0; None if it names none.

    What a text says of "yesterday" is of the day before it was written.
    """
    span, moment = facts.question.period, candidate.node.updated_at
    if span is None or moment is None:
        return None
    if span.start <= moment < span.end:
        return 1.0
    told = period_of(candidate.passage.text.lower(), moment) if _RELATIVE.search(candidate.passage.text) else None
    return 1.0 if told is not None and told.start < span.end and span.start < told.end else 0.0
