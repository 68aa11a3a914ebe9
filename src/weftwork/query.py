"""Parsing of a query: its words, the types it asks for, a period, explicit references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta

from weftwork.text.analysis import MARKS, is_unspaced, spaced
from weftwork.text.pointing import subject_of, wants_similar

MOST_QUOTED = 120
STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its itself just me more most my no nor not now of off on once only or other our
    out over own same she should so some such than that the their them then there these they this those through to
    too under until up us very was we were what when where which while who whom why will with would you your yours
    tell show give find please""".split()
)

INTENTS: dict[str, tuple[str, ...]] = {
    "task": ("todo", "kanban_card", "task"),
    "tasks": ("todo", "kanban_card", "task"),
    "subtask": ("todo", "kanban_card", "task"),
    "subtasks": ("todo", "kanban_card", "task"),
    "todo": ("todo", "kanban_card", "task"),
    "todos": ("todo", "kanban_card", "task"),
    "overdue": ("todo", "kanban_card", "task"),
    "summary": ("page",),
    "summarise": ("page",),
    "summarize": ("page",),
    "decision": ("decision",),
    "decisions": ("decision",),
    "decided": ("decision",),
    "meeting": ("meeting",),
    "meetings": ("meeting",),
    "file": ("file",),
    "files": ("file",),
}
"""Words that ask for a type of node."""

MONTHS = (
    "january february march april may june july august september october november december".split()
)  # fmt: skip

_LETTERS = rf"[^\W_](?:[^\W_]|[{MARKS}])*"
_WORD = re.compile(rf"{_LETTERS}(?:['’-]{_LETTERS})*")
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})")
_BLOCK = re.compile(r"\(\(([\w-]{9,64})\)\)")
_PATH = re.compile(r"(?:(?<=\s)|^)@?([\w./~-]*[\w-]\.[A-Za-z]\w{0,9})\b")
_TAG = re.compile(r"(?:(?<=\s)|^)#([\w/-]+)")
_DATE = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_AGO = re.compile(r"\b(?:last|past) (\d{1,3}) (day|week|month)s?\b")
_BEFORE = "in|on|during|of|by|from|since|until|before|after|last|early|mid|late|the"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
_NAMED = tuple(
    re.compile(rf"\b(?P<before>(?:{_BEFORE}) )?{form}\b(?:,? (?P<year>\d{{4}})\b)?")
    for form in (rf"{_DAY}(?: of)? {_MONTH}", rf"{_MONTH} {_DAY}", _MONTH)
)
_YEAR = re.compile(r"\b(?:in|during|throughout) ((?:19|20)\d\d)\b")
_UNITS = {"day": 1, "week": 7, "month": 30}
_OVERDUE = re.compile(r"\b(?:over-?due|past[ -]due|(?:past|missed|behind)(?: \w+)? (?:due dates?|deadlines?))\b")
_DUE = re.compile(r"\b(?:due|deadlines?|fällig)\b")
_PART = re.compile(r"[^\W_]+")
TASKS = frozenset(INTENTS["task"])
"""Types of tasks."""


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, its end excluded."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A query, read once."""

    text: str
    words: tuple[str, ...]
    """Lower-case words that carry meaning, in order, each once."""
    keywords: tuple[str, ...]
    """The words of more than three letters, as the thread contract matches them."""
    wanted_types: frozenset[str]
    titles: tuple[str, ...]
    """Things named by [[title]], ((block)) or a path."""
    tags: tuple[str, ...]
    period: Period | None
    overdue: bool = False
    """True if it asks for overdue tasks."""
    due: Period | None = None
    """The stretch of time for whose due tasks it asks."""
    search: str = ""
    """The text to search for."""
    wants_similar: bool = False
    """True if things like the focus would help."""

    def about_focus(self) -> Question:
        """The question of a user who has a focus: a command that points at it is not searched for."""
        subject = subject_of(self.text, STOP_WORDS)
        if subject is None:
            return self
        words = tuple(dict.fromkeys(subject.split()))
        return replace(self, search=subject, words=words, keywords=_keywords(words))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, in order, without the punctuation around them.

    Scripts without spaces give pairs of letters, as they are indexed.
    """
    return _WORD.findall(spaced(text).lower())


def read_query(text: str, now: datetime) -> Question:
    """Parse a query; any text is valid."""
    lowered = text.lower()
    all_words = list(dict.fromkeys(words_of(text)))
    words = tuple(word for word in all_words if word not in STOP_WORDS)
    types = frozenset(kind for word in _PART.findall(lowered) for kind in INTENTS.get(word, ()))
    # "Late" alone is no such question: a train can be late too.
    overdue = _OVERDUE.search(lowered) is not None or ("late" in all_words and types >= TASKS)
    due = _ahead(lowered, now) or _period(lowered, now) if _DUE.search(lowered) and not overdue else None
    return Question(
        text=text,
        words=words,
        keywords=_keywords(words),
        wanted_types=types | TASKS if overdue or due else types,
        titles=tuple(
            dict.fromkeys(
                [match.strip() for match in (*_LINK.findall(text), *_BLOCK.findall(text), *_PATH.findall(text))]
            )
        ),
        tags=tuple(dict.fromkeys(_TAG.findall(text))),
        period=_period(lowered, now),
        overdue=overdue,
        due=due,
        search=text,
        wants_similar=wants_similar(text),
    )


def _keywords(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if len(word) > 3 or is_unspaced(word))


def _ahead(text: str, now: datetime) -> Period | None:
    """A stretch of time to come, which only a due date can be in."""
    today = datetime.combine(now.date(), time(), tzinfo=now.tzinfo)
    monday = today + timedelta(days=7 - today.weekday())
    named = {
        "tomorrow": Period(today + timedelta(days=1), today + timedelta(days=2)),
        "next week": Period(monday, monday + timedelta(days=7)),
        "next month": _month(today.year, today.month + 1, now),
    }
    return next((period for words, period in named.items() if re.search(rf"\b{words}\b", text)), None)


def _period(text: str, now: datetime) -> Period | None:
    """The stretch of time that a query names, if any."""
    today = datetime.combine(now.date(), time(), tzinfo=now.tzinfo)
    monday = today - timedelta(days=today.weekday())
    named = {
        "today": Period(today, today + timedelta(days=1)),
        "yesterday": Period(today - timedelta(days=1), today),
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
    if match := _AGO.search(text):
        days = int(match[1]) * _UNITS[match[2]]
        return Period(today - timedelta(days=days), today + timedelta(days=1))
    return _dated(text, now)


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


def quoted(text: str) -> str:
    """A text in a message, which one that was pasted from a document would fill."""
    return repr(text if len(text) <= MOST_QUOTED else f"{text[:MOST_QUOTED]}…")
