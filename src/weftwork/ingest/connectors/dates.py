"""Dates and times of exports, parsed into aware datetimes."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from weftwork.clock import aware

_ORDINAL = re.compile(r"(?<=\d)(st|nd|rd|th)\b", re.IGNORECASE)
_WRITTEN = (
    "%B %d, %Y %I:%M %p", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d", "%Y_%m_%d", "%m-%d-%Y", "%m/%d/%Y",
)  # fmt: skip
_LATEST_SECONDS = 100_000_000_000
"""Numbers above it count milliseconds: as seconds, they would be after the year 5000."""


def moment(value: Any) -> datetime | None:
    """Parse seconds or milliseconds since 1970, or ISO 8601; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        if isinstance(value, str) and not _is_number(value):
            return aware(datetime.fromisoformat(value.strip())).astimezone(UTC)
        number = float(value)
        return datetime.fromtimestamp(number / 1000 if abs(number) >= _LATEST_SECONDS else number, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def written_date(text: str) -> date | None:
    """Parse a date in the title of a journal page or a property: "Oct 22nd, 2020", "2020-10-22"."""
    plain = _ORDINAL.sub("", text.strip().lstrip("@").strip())
    try:
        return datetime.fromisoformat(plain).date()
    except ValueError:
        pass
    for form in _WRITTEN:
        try:
            return datetime.strptime(plain, form).date()
        except ValueError:
            continue
    return None


def start_of(day: date) -> datetime:
    """The start of a day in UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*-?\d{5,}(\.\d+)?\s*", text) is not None
