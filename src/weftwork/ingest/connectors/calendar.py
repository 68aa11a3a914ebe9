"""Calendars (iCalendar, .ics): a page for each event, a task for each to-do.

https://www.rfc-editor.org/rfc/rfc5545
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from weftwork.ingest.connectors.exports import digest, export_top
from weftwork.ingest.connectors.folders import FoundFile, walk
from weftwork.ingest.connectors.protocol import Listed, Named, Source, Unread, Yielded
from weftwork.ingest.events import Refused, Skipped
from weftwork.ingest.files import identity, shown, text_of
from weftwork.types import FieldValue, Node

KINDS = {"VEVENT": "page", "VTODO": "todo", "VJOURNAL": "page"}
STATUSES = {"NEEDS-ACTION": "open", "IN-PROCESS": "in progress", "COMPLETED": "done", "CANCELLED": "cancelled"}
_LINE = re.compile(r'^([A-Za-z0-9-]+)((?:;[^:;=]+=(?:"[^"]*"|[^:;]*))*):(.*)$')
_ESCAPE = re.compile(r"\\([\\;,nN])")


@dataclass(slots=True)
class _Entry:
    """An event, a to-do or a journal entry."""

    kind: str
    values: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Values with their parameters, by name."""

    def text(self, name: str) -> str:
        """The first value of a property; empty if it has none."""
        value = self.values.get(name, [("", "")])[0][1]
        return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value).strip()

    def moment(self, name: str) -> str:
        """A date, or a time in UTC, in ISO format."""
        parameters, value = self.values.get(name, [("", "")])[0]
        return _iso(value, parameters)

    @property
    def key(self) -> str:
        """Identity of an event: a changed occurrence of a repeated event is another one."""
        return " ".join(filter(None, [self.text("UID") or digest(self.text("SUMMARY"), self.moment("DTSTART")),
                                      self.moment("RECURRENCE-ID")]))  # fmt: skip

    @property
    def revision(self) -> tuple[int, str]:
        """The order in which several entries with one key were written."""
        number = self.text("SEQUENCE")
        return int(number) if re.fullmatch("[0-9]{1,9}", number) else 0, self.moment("DTSTAMP")


class Calendar:
    """Events and to-dos of iCalendar files."""

    name = "calendar"
    summary = "Calendars: .ics files and folders of them"
    version = 1

    def recognises(self, path: Path) -> float:
        """An .ics file."""
        if not path.is_file() or path.suffix.lower() not in (".ics", ".ifb", ".ical"):
            return 0.0
        with path.open("rb") as file:
            return 0.95 if b"BEGIN:VCALENDAR" in file.read(1000).upper() else 0.0

    def sources(self, path: Path) -> Iterator[Listed]:
        """A source for each event, by its latest revision; those that are cancelled are none."""
        entries: dict[str, tuple[str, _Entry]] = {}
        title = ""
        for found in walk(path):
            if isinstance(found, (Unread, Skipped)):
                yield found
            elif isinstance(found, FoundFile):
                try:
                    name, inside = read_calendar(text_of(found.path))
                except Refused as error:
                    yield Skipped(shown(str(found.path)), str(error))
                    continue
                title = title or name
                for entry in inside:
                    known = entries.get(entry.key)
                    if known is None or entry.revision >= known[1].revision:
                        entries[entry.key] = (shown(str(found.path)), entry)
        top = export_top(path, "calendar", title or shown(path.resolve().stem))
        yield top
        for key, (where, entry) in entries.items():
            if entry.kind == "VEVENT" and entry.text("STATUS") == "CANCELLED":
                continue
            content = digest(*(f"{name}{value}" for name, values in sorted(entry.values.items()) for value in values
                               if name != "DTSTAMP"))  # fmt: skip
            yield Source(
                key=f"event/{key}",
                id=identity("event", key),
                what=entry.text("SUMMARY") or where,
                fingerprint=partial(str, content),
                stamp=content,
                read=partial(_read, entry, top.id, where),
                movable=False,
            )


def read_calendar(text: str) -> tuple[str, list[_Entry]]:
    """The name of a calendar and its entries; alarms and time zones within are left out."""
    name, entries, inside = "", [], []
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        key, parameters, value = match[1].upper(), match[2], match[3]
        if key == "BEGIN":
            inside.append(value.upper())
            if value.upper() in KINDS:
                entries.append(_Entry(value.upper()))
        elif key == "END" and inside:
            inside.pop()
        elif inside[-1:] == ["VCALENDAR"] and key in ("X-WR-CALNAME", "NAME"):
            name = value
        elif entries and inside[-1:] == [entries[-1].kind]:
            entries[-1].values.setdefault(key, []).append((parameters, value))
    return name, entries


def _read(entry: _Entry, top: str, where: str, source_id: str) -> Iterator[Yielded]:
    start, end = entry.moment("DTSTART"), entry.moment("DTEND")
    fields: dict[str, FieldValue] = {
        "start": start, "end": end, "due": entry.moment("DUE"), "where": entry.text("LOCATION"),
        "status": STATUSES.get(entry.text("STATUS"), "open" if entry.kind == "VTODO" else ""),
        "repeat": entry.text("RRULE"), "organizer": _person(entry.values.get("ORGANIZER", [])),
        "attendees": tuple(_person([each]) for each in entry.values.get("ATTENDEE", [])),
        "link": entry.text("URL"),
    }  # fmt: skip
    title = " ".join(entry.text("SUMMARY").split()) or "Event"
    tags = tuple(tag.strip().replace(" ", "-") for tag in entry.text("CATEGORIES").split(",") if tag.strip())
    when = " to ".join(filter(None, [start, end]))
    place = entry.text("LOCATION")
    lines = [f"When: {when}" if when else "", f"Where: {place}" if place else "", entry.text("DESCRIPTION")]
    yield Node(
        id=source_id, type=KINDS[entry.kind], title=title, text="\n\n".join(filter(None, lines)), parent=top,
        source=where, tags=tags, fields={name: value for name, value in fields.items() if value},
        created_at=_time(entry.moment("CREATED")), updated_at=_time(entry.moment("LAST-MODIFIED")),
        position=_position(start or entry.moment("DUE")),
    )  # fmt: skip
    yield Named(source_id, title)


def _person(values: Sequence[tuple[str, str]]) -> str:
    """The name of somebody, or the address."""
    for parameters, value in values:
        name = re.search(r'CN="?([^";]+)', parameters)
        return name[1] if name else re.sub("^mailto:", "", value, flags=re.IGNORECASE)
    return ""


def _iso(value: str, parameters: str) -> str:
    try:
        if len(value) == 8:
            return datetime.strptime(value, "%Y%m%d").date().isoformat()
        moment = datetime.strptime(value.rstrip("Z"), "%Y%m%dT%H%M%S")
    except ValueError:
        return ""
    zone = re.search(r'TZID="?([^";:]+)', parameters)
    if value.endswith("Z"):
        return moment.replace(tzinfo=UTC).isoformat()
    if zone is None:
        return moment.isoformat()
    try:
        return moment.replace(tzinfo=ZoneInfo(zone[1])).isoformat()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return moment.isoformat()


def _time(text: str) -> datetime | None:
    moment = datetime.fromisoformat(text) if text else None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def _position(start: str) -> int:
    """Events in the order of their days."""
    return int(start[:10].replace("-", "")) if start else 0
