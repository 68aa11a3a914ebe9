"""Dates as people and exports write them, as ISO dates."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = (
    ("january", "januar", "jänner"), ("february", "februar"), ("march", "märz"), ("april",), ("may", "mai"),
    ("june", "juni"), ("july", "juli"), ("august",), ("september",), ("october", "oktober"), ("november",),
    ("december", "dezember"),
)  # fmt: skip
_NUMBERS = {form: place for place, names in enumerate(_MONTHS, 1) for name in names for form in (name, name[:3])}
_NUMBERS["sept"] = 9
_NAME = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?P<y>\d{4})[-/](?P<m>\d{2})[-/](?P<d>\d{2})",
        rf"(?P<name>{_NAME})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y>\d{{4}})",
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)? (?P<name>{_NAME})\.?,? (?P<y>\d{{4}})",
        r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})",
        r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4})",
    )
)
_DIGIT = re.compile(r"\d")
_AROUND = re.compile(r"^[\s@\[<(]+|[\s\])>]+$")
_DAYS = "(?:mon|tue|wed|thu|fri|sat|sun|die|mit|don|fre|sam|son)[a-z]*"
_WEEKDAY = re.compile(rf"^{_DAYS}\.?,? | {_DAYS}$")
_TIME = re.compile(r"[ ,t]+(?P<h>\d{1,2}):(?P<min>\d{2})(?: ?(?P<half>am|pm))?(?: ?(?:uhr|utc))?")
_RANGE = re.compile(r"\s*(?:→|–|—| to | bis )\s*")


def iso_date(text: str) -> str | None:
    """The last date of a text that is nothing but a date or a range of dates; None for everything else.

    `3/4/2026` may be of March or of April, and is no date.
    """
    if not _DIGIT.search(text):
        return None
    parts = [_one(part) for part in _RANGE.split(text.strip().lower())]
    return parts[-1] if all(part is not None for part in parts) else None


def _one(text: str) -> str | None:
    bare = _WEEKDAY.sub("", _AROUND.sub("", text))
    for form in _FORMS:
        match = form.match(bare)
        if match:
            time = _TIME.fullmatch(bare[match.end() :])
            if time is None and match.end() < len(bare):
                return None
            day = _day(match.groupdict())
            return None if day is None else day + (_time(time.groupdict()) if time else "")
    return None


def _day(parts: dict[str, str | None]) -> str | None:
    month, day = parts.get("m"), parts.get("d")
    if parts.get("name"):
        month = str(_NUMBERS[str(parts["name"])])
    elif parts.get("a"):
        month, day = parts["a"], parts["b"]
        if int(str(month)) > 12:
            month, day = day, month
        elif int(str(day)) <= 12 and month != day:
            return None
    try:
        return date(int(str(parts["y"])), int(str(month)), int(str(day))).isoformat()
    except ValueError:
        return None


def _time(parts: dict[str, str | None]) -> str:
    hour, minute = int(str(parts["h"])), int(str(parts["min"]))
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"] == "pm" else 0)
    return f"T{hour:02}:{minute:02}" if hour < 24 and minute < 60 else ""
