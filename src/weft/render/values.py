"""What the variables of an item's template stand for; everything but the content is one quoted line."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from weft.render.quote import inline
from weft.render.templates import Template
from weft.types import Candidate, FieldValue, NodeInfo

_MOST = 20
_NO_NUMBER = "000"
"""As long as any number that takes its place later, so that a count made with it holds."""


def values_of(candidate: Candidate, template: Template, number: int | None = None) -> dict[str, str]:
    """The value of each variable but `content`."""
    node = candidate.node
    shown = template.include_metadata
    titles = titles_of(candidate)
    return {
        "citation": f"[{candidate.passage.citation}]",
        "confidence": "unknown" if node.confidence is None else f"{round(node.confidence, 2):g}",
        "fields": _lead(" | ", fields_of(node.fields)) if shown else "",
        "number": _NO_NUMBER if number is None else str(number),
        "page": f"[{titles[0]}] " if titles else "",
        "path": _lead(" in ", " > ".join(reversed(titles[1:]))) if shown else "",
        "score": f"{candidate.score:.2f}",
        "section": inline(template.title_of(candidate.section)),
        "source": inline(node.source),
        "tags": _tags(node.tags) if shown else "",
        "timestamp": _timestamp(node),
        "title": titles[0] if titles else "Untitled",
        "type": inline(node.type, 40),
    }


def titles_of(candidate: Candidate) -> tuple[str, ...]:
    """The titles of the node and of its ancestors, from the nearest that has one upwards."""
    titles = (inline(title, 120) for title in (candidate.node.title, *candidate.trail))
    return tuple(title for title in titles if title)


def fields_of(fields: Mapping[str, FieldValue]) -> str:
    """The fields in order of their names, `owner: Ana; status: open`."""
    filled = [(name, fields[name]) for name in sorted(fields) if fields[name] is not None]
    shown = [f"{inline(name, 60)}: {_field(value)}" for name, value in filled[:_MOST]]
    return "; ".join([*shown, f"{len(filled) - _MOST} more"] if len(filled) > _MOST else shown)


def iso(moment: datetime) -> str:
    """The moment in UTC, to the second; one without a zone is taken to be in UTC."""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _lead(mark: str, text: str) -> str:
    return mark + text if text else ""


def _field(value: FieldValue) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return inline(", ".join(value))
        case _:
            return inline(str(value))


def _tags(tags: tuple[str, ...]) -> str:
    marks = [inline(tag.lstrip("#"), 60).replace(" ", "-") for tag in tags[:_MOST]]
    return "".join(f" #{mark}" for mark in marks if mark)


def _timestamp(node: NodeInfo) -> str:
    moment = node.created_at or node.updated_at
    return "unknown" if moment is None else iso(moment)
