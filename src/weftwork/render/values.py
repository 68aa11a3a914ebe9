"""What the variables of an item's template stand for; everything but the content is one quoted line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from weftwork.render.quote import inline
from weftwork.render.templates import Template
from weftwork.types import Candidate, FieldValue, NodeInfo, shown_fields

_MOST = 20
_DEEPEST = 4
"""From here on all headings are of the lowest level."""
_NO_NUMBER = "000"
"""As long as any number that takes its place later, so that a count made with it holds."""

_Titles = tuple[str, ...]
_VALUES: Mapping[str, Callable[[Candidate, _Titles], str]] = {
    "about": lambda candidate, titles: _about(candidate.node.type, titles),
    "citation": lambda candidate, titles: f"[{candidate.passage.citation}]",
    "confidence": lambda candidate, titles: _confidence(candidate.node.confidence),
    "heading": lambda candidate, titles: "#" * (2 + min(_DEEPEST, candidate.distance or 0)),
    "page": lambda candidate, titles: "".join(f"[{title}] " for title in titles[:1]),
    "path": lambda candidate, titles: _lead(" in ", " > ".join(reversed(titles[1:]))),
    "route": lambda candidate, titles: _lead(" | from ", _route(candidate)),
    "score": lambda candidate, titles: f"{candidate.score:.2f}",
    "similarity": lambda candidate, titles: _confidence(candidate.signals.get("similarity")),
    "source": lambda candidate, titles: inline(candidate.node.source),
    "tags": lambda candidate, titles: "".join(f" #{tag}" for tag in _tags(candidate.node.tags)),
    "timestamp": lambda candidate, titles: _timestamp(candidate.node.created_at or candidate.node.updated_at),
    "title": lambda candidate, titles: (*titles, "Untitled")[0],
    "type": lambda candidate, titles: inline(candidate.node.type, 40),
}
_METADATA = frozenset({"fields", "path", "route", "tags"})


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """Which fields are shown: all or none, but for those that always are, and first."""

    show: bool = True
    first: tuple[str, ...] = ()

    def of(self, fields: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
        """The fields that have a value, in the order in which they are shown; the case of a name does not matter."""
        fields = shown_fields(fields)
        places = {name.casefold(): place for place, name in enumerate(self.first)}
        last = len(places)
        filled = [(places.get(name.casefold(), last), name) for name, value in fields.items() if value is not None]
        return {name: fields[name] for place, name in sorted(filled) if self.show or place < last}


ALL_FIELDS = FieldChoice()


def values_of(
    names: Iterable[str],
    candidate: Candidate,
    template: Template,
    number: int | None = None,
    choice: FieldChoice = ALL_FIELDS,
) -> dict[str, str]:
    """The values of the variables with these names; `content` is not among them."""
    titles = titles_of(candidate)
    values: dict[str, str] = {}
    for name in names:
        if name == "number":
            values[name] = _NO_NUMBER if number is None else str(number)
        elif name == "section":
            values[name] = inline(template.title_of(candidate.section))
        elif name in _METADATA and not template.include_metadata:
            values[name] = ""
        elif name == "fields":
            shown = (validity_of(candidate.node), fields_of(candidate.node.fields, choice))
            values[name] = _lead(" | ", "; ".join(filter(None, shown)))
        else:
            values[name] = _VALUES[name](candidate, titles)
    return values


def titles_of(candidate: Candidate) -> tuple[str, ...]:
    """The titles of the node and of its ancestors, from the nearest that has one upwards."""
    titles = (inline(title, 120) for title in (candidate.node.title, *candidate.trail))
    return tuple(title for title in titles if title)


def validity_of(node: NodeInfo) -> str:
    """From when and until when a node holds, where it has an end or began later than it was made."""
    start = node.valid_from if node.valid_from != node.created_at else None
    edges = (("valid from", start), ("valid until", node.valid_until))
    return "; ".join(f"{name}: {iso(moment)}" for name, moment in edges if moment is not None)


def fields_of(fields: Mapping[str, FieldValue], choice: FieldChoice = ALL_FIELDS) -> str:
    """The fields in order of their names, `owner: Ana; status: open`."""
    filled = list(choice.of(fields).items())
    shown = [f"{inline(name, 60)}: {_field(value)}" for name, value in filled[:_MOST]]
    return "; ".join([*shown, f"{len(filled) - _MOST} more"] if len(filled) > _MOST else shown)


def iso(moment: datetime) -> str:
    """The moment in UTC, to the second; one without a zone is taken to be in UTC."""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _about(kind: str, titles: _Titles) -> str:
    """` Title (type) in Path`, without what the title says already; nothing for what has no title."""
    if not titles:
        return ""
    path = [title for title in reversed(titles[1:]) if title not in titles[0]]
    return f" {titles[0]} ({inline(kind, 40)})" + _lead(" in ", " > ".join(path))


def _route(candidate: Candidate) -> str:
    """The way from where the walk started, `finch → child mirror ← reference (see) base`."""
    if not candidate.reached or not candidate.path:
        return ""
    parts = [inline(candidate.reached[0].start, 60)]
    for step in candidate.path:
        label = f" ({inline(step.label, 60)})" if step.label else ""
        arrow = "→" if step.direction == "out" else "←"
        parts.append(f"{arrow} {inline(step.edge, 40)}{label} {inline(step.node, 60)}")
    return " ".join(parts)


def _lead(mark: str, text: str) -> str:
    return mark + text if text else ""


def _confidence(value: float | None) -> str:
    return "unknown" if value is None else f"{round(value, 2):g}"


def _timestamp(moment: datetime | None) -> str:
    return "unknown" if moment is None else iso(moment)


def _field(value: FieldValue) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return inline(", ".join(value))
        case _:
            return inline(str(value))


def _tags(tags: tuple[str, ...]) -> list[str]:
    marks = (inline(tag.lstrip("#"), 60).replace(" ", "-") for tag in tags[:_MOST])
    return [mark for mark in marks if mark]
