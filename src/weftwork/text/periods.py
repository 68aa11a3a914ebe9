"""Stretches of time that texts name: dates, months, "last week", "three days ago", "in the summer", "since May"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta

MONTHS = (
    "january february march april may june july august september october november december".split()
)  # fmt: skip
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
FIRST_YEAR, LAST_YEAR = 2, 9999
"""Years at the ends of the calendar, beside which nothing is relative."""
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of each season."""
_COUNTS = {word: number for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)}
_FEW = {"few": (2, 5), "several": (2, 5), "couple of": (2, 2), "couple": (2, 2)}
"""The least and the most that is meant by a number that nobody counted."""
_COUNTED = rf"(?P<count>\d{{1,3}}|an?|one|{'|'.join(_COUNTS)}|(?:a )?(?:{'|'.join(_FEW)}))"
_AGO = re.compile(rf"\b{_COUNTED} (?P<unit>day|week|weekend|month|year)s? ago\b")
_ON_DAY = re.compile(rf"\b(?:last|on|this past|over the|at the) (?P<day>{'|'.join(WEEKDAYS)}|weekend)\b(?!s)")
_COMING = re.compile(rf"\b(?:on|by|until|next|this) ({'|'.join(WEEKDAYS)})\b")
_IN_SEASON = re.compile(
    r"\b(?P<last>last )?(?:(?<=last )|in (?:the )?|during (?:the )?|this |over the )"
    r"(?P<season>spring|summer|autumn|fall|winter)\b(?! (?:boot|framework|mvc|cloud|data|security))"
    r"(?: of)?(?: (?P<year>(?:19|20)\d\d))?"
)
_DATE = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_PAST = re.compile(rf"\b(?:last|past) (?:{_COUNTED} )?(?P<unit>day|week|month|year)(?P<many>s?)\b")
_BEFORE = "in|on|during|of|by|from|since|until|before|after|last|early|mid|late|the"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
_NAMED = tuple(
    re.compile(rf"\b(?P<before>(?:{_BEFORE}) )?{form}\b(?:,? (?P<year>\d{{4}})\b)?")
    for form in (rf"{_DAY}(?: of)? {_MONTH}", rf"{_MONTH} {_DAY}", _MONTH)
)
_YEAR = re.compile(r"\b(?:in|during|throughout) ((?:19|20)\d\d)\b")
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_OF_YEAR = r"(?: (?P<year>(?:19|20)\d\d))?"
_QUARTER = re.compile(
    rf"\b(?:q(?P<number>[1-4])|(?P<place>first|second|third|fourth|last|this) quarter)\b(?: of)?{_OF_YEAR}"
)
_PLACES = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_CHRISTMAS = re.compile(rf"\b(?:over|at|in|during|last|this|around) christmas\b{_OF_YEAR}")
_DECADE = re.compile(r"\b(?:in|during) the ((?:19|20)\d)0s\b")
_TIME = (
    r"(?:(?:the )?\d|q[1-4]\b|last |this |yesterday|today|christmas|early |mid |late "
    rf"|(?:the )?(?:{'|'.join((*MONTHS, *SEASONS))})\b|(?:{'|'.join(WEEKDAYS)})\b)"
)
"""What a time begins with, right behind a word that bounds it."""
_BOUND = re.compile(rf"\b(?P<bound>before|prior to|until|till|since|after) (?={_TIME})")
_BETWEEN = re.compile(
    rf"\b(?:between (?={_TIME})(?P<first>.{{3,30}}?) and"
    rf"|from (?={_TIME})(?P<start>.{{3,30}}?) (?:to|until|till)) (?={_TIME})"
)
_BESIDE = re.compile(
    rf"\bthe (?P<unit>day|week|weekend|{'|'.join(WEEKDAYS)}) (?P<side>before|after|of) (?={_TIME}|yesterday)"
)
_HAS_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, its end excluded."""

    start: datetime
    end: datetime


def ahead_of(text: str, now: datetime) -> Period | None:
    """A stretch of time to come, which only a due date can be in."""
    today = datetime.combine(now.date(), time(), tzinfo=now.tzinfo)
    monday = today + timedelta(days=7 - today.weekday())
    named = {
        "tomorrow": Period(today + timedelta(days=1), today + timedelta(days=2)),
        "next week": Period(monday, monday + timedelta(days=7)),
        "next month": _month(today.year, today.month + 1, now),
    }
    if match := _COMING.search(text):
        day = today + timedelta(days=(WEEKDAYS.index(match[1]) - today.weekday()) % 7)
        return Period(day, day + timedelta(days=1))
    return next((period for words, period in named.items() if re.search(rf"\b{words}\b", text)), None)


def period_of(text: str, now: datetime) -> Period | None:
    """The stretch of time that a text in lower case names, if any; relative ones against `now`."""
    if not FIRST_YEAR < now.year < LAST_YEAR - 1:
        return None
    return _between(text, now) or _beside(text, now) or _bounded(text, now) or _named_period(text, now)


def _between(text: str, now: datetime) -> Period | None:
    """Between May and July, from Monday to Friday: from the start of one to the end of the other."""
    match = _BETWEEN.search(text)
    if match is None:
        return None
    first, rest = match["first"] or match["start"], text[match.end() :]
    year = _HAS_YEAR.search(rest)
    if year is not None and not _HAS_YEAR.search(first):
        first = f"{first} {year[0]}"
    start, end = _named_period(f"in {first}", now), _named_period(f"in {rest}", now)
    return Period(start.start, end.end) if start and end and start.start < end.end else None


def _beside(text: str, now: datetime) -> Period | None:
    """The week of 23 August, the Friday before 17 July, the day before yesterday."""
    match = _BESIDE.search(text)
    beside = None if match is None else _named_period(f"in {text[match.end() :]}", now)
    if match is None or beside is None or beside.end.year >= LAST_YEAR:
        return None
    unit, day = match["unit"], timedelta(days=1)
    if match["side"] == "of":
        monday = _before(beside.start, beside.start.weekday())
        return Period(monday, monday + 7 * day) if unit == "week" else beside
    edge = beside.start if match["side"] == "before" else beside.end + 7 * day
    if unit in WEEKDAYS or unit == "weekend":
        return _weekday(f"last {unit}", edge)
    length = 7 if unit == "week" else 1
    start = _before(beside.start, length) if match["side"] == "before" else beside.end
    return Period(start, start + length * day)


def _bounded(text: str, now: datetime) -> Period | None:
    """Before June, until 2024, since last week, after 5 May."""
    match = _BOUND.search(text)
    named = None if match is None else _named_period(f"in {text[match.end() :]}", now)
    if match is None or named is None:
        return None
    tomorrow = datetime.combine(now.date(), time(), tzinfo=now.tzinfo) + timedelta(days=1)
    if match["bound"] in ("before", "prior to"):
        return Period(_start(1, 1, now), named.start)
    if match["bound"] in ("until", "till"):
        return Period(_start(1, 1, now), named.end)
    start = named.start if match["bound"] == "since" else named.end
    return Period(start, max(start, tomorrow))


def _named_period(text: str, now: datetime) -> Period | None:
    today = datetime.combine(now.date(), time(), tzinfo=now.tzinfo)
    monday = today - timedelta(days=today.weekday())
    named = {
        "(?:today|tonight|this (?:morning|afternoon|evening))": Period(today, today + timedelta(days=1)),
        "yesterday": Period(_before(today, 1), today),
        "last night": Period(_before(today, 1), today + timedelta(days=1)),
        "this week": Period(monday, monday + timedelta(days=7)),
        "last week": Period(monday - timedelta(days=7), monday),
        "this month": _month(today.year, today.month, now),
        "last month": _month(today.year, today.month - 1, now),
        "this year": Period(_start(today.year, 1, now), _start(today.year + 1, 1, now)),
        "last year": Period(_start(today.year - 1, 1, now), _start(today.year, 1, now)),
    }
    for words, period in named.items():
        if re.search(rf"\b{words}\b", text):
            return period
    if match := _PAST.search(text):
        _, count = _counted(match["count"] or "1")
        return Period(_before(today, count * _UNITS[match["unit"]]), today + timedelta(days=1))
    relative = _ago(text, today) or _weekday(text, today) or _season(text, now) or _quarter(text, now)
    return relative or _dated(text, now)


def _counted(count: str) -> tuple[int, int]:
    """The least and the most that a number in figures or words means."""
    if count.isdigit():
        return int(count), int(count)
    return _FEW.get(count.removeprefix("a "), (_COUNTS.get(count, 1), _COUNTS.get(count, 1)))


def _ago(text: str, today: datetime) -> Period | None:
    """Three days ago, a week ago, a few months ago, two weekends ago."""
    match = _AGO.search(text)
    if match is None:
        return None
    least, most = _counted(match["count"])
    latest, earliest = _so_long_ago(least, match["unit"], today), _so_long_ago(most, match["unit"], today)
    return Period(earliest.start, latest.end)


def _so_long_ago(count: int, unit: str, today: datetime) -> Period:
    if unit == "weekend":
        return _weekday("last weekend", _before(today, 7 * (count - 1))) or Period(today, today)
    if unit == "day":
        start = _before(today, count)
        return Period(start, start + timedelta(days=1))
    if unit == "week":  # nobody counts the days: the week around that day
        start = _before(today, 7 * count + 3)
        return Period(start, start + timedelta(days=7))
    if unit == "month":
        return _month(today.year, today.month - count, today)
    return Period(_start(today.year - count, 1, today), _start(today.year - count + 1, 1, today))


def _before(today: datetime, days: int) -> datetime:
    """So many days before; the first day of all where there are not so many."""
    return today - timedelta(days=min(days, today.toordinal() - 1))


def _weekday(text: str, today: datetime) -> Period | None:
    """Last Friday, on Monday, at the weekend: the last one before today."""
    match = _ON_DAY.search(text)
    if match is None:
        return None
    if match["day"] == "weekend":
        saturday = _before(today, (today.weekday() - 5) % 7 or 7)
        return Period(saturday, saturday + timedelta(days=2))
    start = _before(today, (today.weekday() - WEEKDAYS.index(match["day"])) % 7 or 7)
    return Period(start, start + timedelta(days=1))


def _season(text: str, now: datetime) -> Period | None:
    """Last summer, in the spring, in winter 2023: of the northern half; without a year, the last that has begun."""
    match = _IN_SEASON.search(text)
    if match is None:
        return None
    first = SEASONS[match["season"]]
    year = int(match["year"] or now.year - (now.month < first))
    if match["last"] and not match["year"] and _start(year, first + 3, now) > now:
        year -= 1
    return Period(_start(year, first, now), _start(year, first + 3, now))


def _quarter(text: str, now: datetime) -> Period | None:
    """Q3 2025, the third quarter, last quarter, over Christmas."""
    if match := _QUARTER.search(text):
        own = (now.month + 2) // 3
        number = int(match["number"] or _PLACES.get(match["place"], own - (match["place"] == "last")))
        first = 3 * number - 2
        year = int(match["year"] or now.year - (number > own))
        return Period(_start(year, first, now), _start(year, first + 3, now))
    if match := _CHRISTMAS.search(text):
        year = int(match["year"] or now.year - (now.month < 12))
        return Period(_start(year, 12, now) + timedelta(days=19), _start(year + 1, 1, now) + timedelta(days=1))
    return None


def _dated(text: str, now: datetime) -> Period | None:
    """2026-05-01, 2026-05, 1 May 2026, May 1st, May 2026, in May, in 2026."""
    if match := _DATE.search(text):
        year, month, day = int(match[1]), int(match[2]), match[3]
        if day is not None:
            return _day(year, month, int(day), now)
        return _month(year, month, now) if 1 <= month <= 12 else None
    for form in _NAMED:
        for match in form.finditer(text):
            if period := _named(match.groupdict(), now):
                return period
    if match := _DECADE.search(text):
        return Period(_start(int(match[1]) * 10, 1, now), _start(int(match[1]) * 10 + 10, 1, now))
    if match := _YEAR.search(text):
        return Period(_start(int(match[1]), 1, now), _start(int(match[1]) + 1, 1, now))
    return None


def _named(parts: Mapping[str, str | None], now: datetime) -> Period | None:
    """A day or a month by its name; without a year, the last one that has begun."""
    # "may" and "march" are verbs too: they name no month without a year, or a word such as "in" or "on" before them.
    name, day = str(parts["month"]), int(parts.get("day") or 0)
    if name in ("may", "march") and not (parts["year"] or parts["before"]):
        return None
    month = MONTHS.index(name) + 1
    year = int(parts["year"] or now.year - ((month, day) > (now.month, now.day)))
    if parts.get("day"):
        return _day(year, month, day, now)
    return _month(year, month, now) if year >= 1 else None


def _day(year: int, month: int, day: int, now: datetime) -> Period | None:
    try:
        start = datetime(year, month, day, tzinfo=now.tzinfo)
        return Period(start, start + timedelta(days=1))
    except (ValueError, OverflowError):
        return None


def _month(year: int, month: int, now: datetime) -> Period:
    return Period(_start(year, month, now), _start(year, month + 1, now))


def _start(year: int, month: int, now: datetime) -> datetime:
    """The first day of a month; months beyond 1 to 12 run over into other years, which stay in range."""
    months = min(max(year * 12 + month - 1, 12), 9999 * 12 + 11)
    return datetime(months // 12, months % 12 + 1, 1, tzinfo=now.tzinfo)
