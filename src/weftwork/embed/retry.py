"""Retry-After and exponential back-off."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

FIRST_WAIT = 0.5
LONGEST_BACKOFF = 30.0


def seconds_to_wait(attempt: int, headers: Mapping[str, str]) -> float:
    """Retry-After if the server sent it, else exponential back-off; attempts count from 0."""
    retry_seconds = retry_after(headers)
    return min(FIRST_WAIT * 2**attempt, LONGEST_BACKOFF) if retry_seconds is None else retry_seconds


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds; a date is read against the server's own Date, so that no clock must agree."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    until, now = _timestamp(value), _timestamp(headers.get("date", ""))
    return None if until is None or now is None else max(0.0, until - now)


def _timestamp(date: str) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None
