"""Values of the variables of an item's template; each but the content is one quoted line."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from weftwork.compose.reading import TURNS
from weftwork.render.quote import clean, in_brackets, inline
from weftwork.render.templates import Template
from weftwork.types import Candidate, Excerpt, FieldValue, Item, NodeInfo, shown_fields

_MOST = 20
_LONGEST_FIELD = 400
_DEEPEST = 4
"""From here on all headings are of the lowest level."""
_NEAREST = 2
"""Folders above a document that are named."""
_NO_NUMBER = "000"
"""As long as any number that takes its place later, so that a count made with it holds."""
LONGEST_FILE_NAME = 90
"""Characters of a file's name, so that the number of the page behind it always stands in the line."""
_DATED = frozenset({"thread", "message", "email", "memory", "conversation"})
"""Types of documents whose heading shows the day."""
_TALKS = frozenset({"thread", "conversation"})

_VALUES: Mapping[str, Callable[[Excerpt, _Names], str]] = {
    "about": lambda excerpt, names: names.about,
    "citation": lambda excerpt, names: f"[{excerpt.citation}]",
    "confidence": lambda excerpt, names: _confidence(lead_of(excerpt).node.confidence),
    "file": lambda excerpt, names: inline(file_name(lead_of(excerpt).node), LONGEST_FILE_NAME) or "untitled",
    "file_path": lambda excerpt, names: names.located,
    "heading": lambda excerpt, names: "#" * (2 + min(_DEEPEST, lead_of(excerpt).distance or 0)),
    "page": lambda excerpt, names: f"[{in_brackets(names.page)}] " if names.page else "",
    "page_number": lambda excerpt, names: str(page_number(lead_of(excerpt).node)),
    "path": lambda excerpt, names: _after(" in ", names.path),
    "route": lambda excerpt, names: _after(" | from ", _route(lead_of(excerpt))),
    "score": lambda excerpt, names: f"{excerpt.score:.2f}",
    "similarity": lambda excerpt, names: _confidence(_similarity(lead_of(excerpt))),
    "source": lambda excerpt, names: inline(excerpt.document.source),
    "tags": lambda excerpt, names: "".join(f" #{tag}" for tag in _tags(_shown_node(excerpt).tags)),
    "timestamp": lambda excerpt, names: (
        iso(moment) if (moment := lead_of(excerpt).node.created_at or lead_of(excerpt).node.updated_at) else "unknown"
    ),
    "title": lambda excerpt, names: names.title,
    "type": lambda excerpt, names: in_brackets(inline(lead_of(excerpt).node.type, 40)),
}
_METADATA = frozenset({"fields", "path", "route", "tags"})


def _similarity(candidate: Candidate) -> float | None:
    """The similarity that a candidate was ranked by: words and meaning fused, or the cosine alone."""
    fused = candidate.signals.get("fused")
    return candidate.signals.get("similarity") if fused is None else fused


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """The choice of fields to show: all or none, beside those that always come first."""

    show: bool = True
    first: tuple[str, ...] = ()
    details: frozenset[str] = frozenset()
    """Details in headings beside names and dates: "type", "tags", "score", "route", "origin"."""

    def of(self, fields: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
        """The fields that have a value: the chosen ones first, as people spell them, then the author's order."""
        fields = shown_fields(fields)
        places = {_spelled(name): place for place, name in enumerate(self.first)}
        last = len(places)
        filled = [
            (places.get(_spelled(name), places.get(_spelled(_DATE.sub("", name)), last)), name)
            for name, value in fields.items()
            if value is not None
        ]
        ranked = sorted(filled, key=lambda entry: entry[0])
        return {name: fields[name] for place, name in ranked if self.show or place < last}


ALL_FIELDS = FieldChoice()
_DATE = re.compile(r"(?<=\w)[\s_-]*(?:date|Date|on|at)$")
"""The ending that people give the name of a field with a date: "due date" is "due"."""
_BREAKS = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=1024)
def _spelled(name: str) -> str:
    """The name of a field without regard to case, spaces, hyphens and underscores."""
    return _BREAKS.sub(" ", name.strip()).casefold()


def values_of(
    names: Iterable[str],
    excerpt: Excerpt,
    template: Template,
    choice: FieldChoice = ALL_FIELDS,
    *,
    headings: Sequence[str] = (),
    title: str = "",
    number: int | None = None,
) -> dict[str, str]:
    """The values of the variables with these names; `content` is not among them.

    `headings` stand above all that is shown; `title` is that of the only node that is shown, if the heading needs it.
    """
    called = _names(excerpt, headings, title, choice.details)
    values: dict[str, str] = {}
    for name in names:
        if name == "number":
            values[name] = _NO_NUMBER if number is None else str(number)
        elif name == "section":
            values[name] = inline(template.title_of(excerpt.section))
        elif name in _METADATA and not template.include_metadata:
            values[name] = ""
        elif name == "fields":
            node = _shown_node(excerpt)
            shown = (validity_of(node), fields_of(node.fields, choice))
            values[name] = _after(" | ", "; ".join(filter(None, shown)))
        else:
            values[name] = _VALUES[name](excerpt, called)
    return values


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of an excerpt and of its place."""

    title: str
    page: str
    path: str
    about: str
    located: str
    """The path of its file and the heading; `about` for what is no file."""


def _names(excerpt: Excerpt, headings: Sequence[str], title: str, details: Collection[str]) -> _Names:
    """Names of the document, the headings above the excerpt, and the folders above; never ids."""
    lead, document = lead_of(excerpt), excerpt.document
    above = [name for title in excerpt.trail if (name := inline(title, 80))]
    document_name = inline(document.title, 120) or _file_name(document.source)
    if not document_name:
        # What people do not give titles to is named by its kind.
        kind = "Memory" if _is_memory(document) else "Conversation" if document.type in _TALKS else ""
        document_name = kind or (above.pop(0) if above else "")
    within = [name for heading in headings if (name := inline(heading, 120))]
    # A note that is called by its file often has its real name as its first heading.
    slug = " " not in document_name and ("-" in document_name or "_" in document_name)
    named_within = within and (slug or _bare(within[0]) == _bare(document_name))
    name = within.pop(0) if named_within else document_name
    # The title of a page of a document begins with that of the document.
    title = inline(title, 120).removeprefix(f"{name}, ")
    last = within[-1:] or ([title] if title and _bare(title) != _bare(name) else [])
    where = _where(document, above, name)
    remarks = "; ".join(filter(None, (_day_of(excerpt), validity_of(lead.node), *_details(excerpt, details))))
    remarks = f" ({remarks})" if remarks else ""
    about = " › ".join((name or "Untitled", *last)) + (f" · {where}" if where else "") + remarks
    file = "" if document.type in _TALKS | TURNS else inline(file_path(document, excerpt.trail))
    located = " › ".join((file, *last)) + remarks if file else about
    path = [*([document_name] if document_name and last else []), *above]
    return _Names((*last, name)[0] or "Untitled", document_name, " > ".join(reversed(path[:_DEEPEST])), about, located)


@lru_cache(maxsize=8192)
def _bare(name: str) -> str:
    """A name as it is compared: letters and digits alone."""
    return "".join(character for character in name.casefold() if character.isalnum())


def _details(excerpt: Excerpt, details: Collection[str]) -> Iterator[str]:
    """The details of an excerpt that were asked for."""
    if "type" in details:
        yield inline(_shown_node(excerpt).type, 40)
    if "tags" in details:
        yield " ".join(f"#{tag}" for tag in _tags(_shown_node(excerpt).tags))
    if "score" in details:
        yield f"score {excerpt.score:.2f}"
    if "route" in details:
        yield _after("from ", _route(lead_of(excerpt)))
    if "origin" in details:
        yield _origin_of(lead_of(excerpt).node)


def _origin_of(node: NodeInfo) -> str:
    """The writer of a text, the way by which it came, and when."""
    by = node.writer or node.owner
    day = f"{node.updated_at:%Y-%m-%d}" if node.updated_at else ""
    return ", ".join(filter(None, (by and f"by {inline(by, 40)}", _WAYS[node.origin], day)))


_WAYS: Mapping[str, str] = {
    "written": "",
    "chat": "said in a conversation",
    "connector": "read from files",
    "upload": "uploaded",
    "tool": "answered by a tool",
    "web": "from the web",
}


def _where(document: NodeInfo, above: Sequence[str], name: str) -> str:
    """The last folders above a document and its file name, unless that is `name` already."""
    folders = list(reversed(above[: _NEAREST if len(above) > 1 else 0]))
    file = inline(document.title, 80) if document.source else ""
    return "/".join([*folders, *([file] if file and _bare(file) != _bare(name) else [])])


def _file_name(source: str) -> str:
    name = source.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return inline(name, 80) if "." in name and " " not in name.rpartition(".")[2] else ""


def _day_of(excerpt: Excerpt) -> str:
    """The day of a message or conversation; empty for turns of several days, which have their own."""
    days = turn_days(excerpt.items)
    if days:
        return days[0] if len(days) == 1 else ""
    document = excerpt.document
    return day(document.created_at) if document.type in _DATED or _is_memory(document) else ""


def _is_memory(document: NodeInfo) -> bool:
    return document.type == "memory" or "memory" in document.tags


def turn_days(items: Iterable[Item]) -> list[str]:
    """The days on which turns of a conversation were said."""
    turns = (item.candidate.node for item in items if item.candidate.node.type in TURNS)
    return sorted({when for node in turns if (when := day(node.created_at))})


def day(moment: datetime | None) -> str:
    """A day as it is written, empty where there is none."""
    return "" if moment is None else f"{moment:%Y-%m-%d}"


def lead_of(excerpt: Excerpt) -> Candidate:
    """The main candidate of an excerpt: the one that was asked for, or its best hit."""
    best = max(excerpt.items, key=lambda item: (item.candidate.asked, item.hit, item.candidate.score))
    return best.candidate


def _shown_node(excerpt: Excerpt) -> NodeInfo:
    """The node whose type and tags are shown: the only one in the excerpt, or the document."""
    nodes = {item.candidate.node.id: item.candidate.node for item in excerpt.items}
    return next(iter(nodes.values())) if len(nodes) == 1 else excerpt.document


def file_name(node: NodeInfo) -> str:
    """The name of the file that a page comes from; its title, if it comes from none."""
    return str(node.fields.get("filename") or node.source.replace("\\", "/").rpartition("/")[2] or node.title)


def file_path(node: NodeInfo, trail: Sequence[str]) -> str:
    """The path of a node's file: one from the root begins with the folders that the reader sees above it."""
    path = node.source.replace("\\", "/")
    if not path.startswith("/"):
        return path
    *folders, name = path.split("/")
    for start in range(len(trail)):  # headings may stand before the folders
        seen = list(reversed(trail[start:]))
        if folders[-len(seen) :] == seen:
            return "/".join([*seen, name])
    return "/".join([*folders[-1:], name])


def page_number(node: NodeInfo) -> int:
    """The number that a page has in its document, 1 for the first."""
    number = node.fields.get("page")
    return number if isinstance(number, int) else node.position


def validity_of(node: NodeInfo) -> str:
    """The validity of a node, where it has an end or began after its creation."""
    start = node.valid_from if node.valid_from != node.created_at else None
    edges = (("valid from", start), ("valid until", node.valid_until))
    return "; ".join(f"{name}: {iso(moment)}" for name, moment in edges if moment is not None)


_ANOTHER_FIELD = re.compile(r"[;；](?=[^:：;]{1,60}[:：])")
"""What a value has to say to pass for the next field."""


def fields_of(fields: Mapping[str, FieldValue], choice: FieldChoice = ALL_FIELDS) -> str:
    """The fields in the order of their author, `owner: Ana; status: open`."""
    filled = list(choice.of(fields).items())
    shown = [f"{inline(name, 60)}: {_ANOTHER_FIELD.sub(',', field_value(value))}" for name, value in filled[:_MOST]]
    return "; ".join([*shown, f"{len(filled) - _MOST} more"] if len(filled) > _MOST else shown)


def field_lines(fields: Mapping[str, FieldValue], choice: FieldChoice = ALL_FIELDS) -> list[str]:
    """The fields for use in content, a line each; brackets stay, since content is quoted as a whole."""
    filled = list(choice.of(fields).items())
    texts = (f"{name[:60]}: {_plain_value(value)}" for name, value in filled[:_MOST])
    lines = [
        line if len(line) <= _LONGEST_FIELD else line[: _LONGEST_FIELD - 1].rstrip() + "…"
        for line in (" ".join(clean(text).split()) for text in texts)
    ]
    return [*lines, f"{len(filled) - _MOST} more fields"] if len(filled) > _MOST else lines


def iso(moment: datetime) -> str:
    """The moment in UTC, to the second; one without a zone is taken to be in UTC."""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + "Z"


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


def _after(mark: str, text: str) -> str:
    return mark + text if text else ""


def _confidence(value: float | None) -> str:
    return "unknown" if value is None else f"{round(value, 2):g}"


def field_value(value: FieldValue) -> str:
    """A value of a field as a part of one line."""
    return inline(_plain_value(value))


def _plain_value(value: FieldValue) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(value)
        case _:
            return str(value)


def _tags(tags: tuple[str, ...]) -> list[str]:
    marks = (inline(tag.lstrip("#"), 60).replace(" ", "-") for tag in tags[:_MOST])
    return [mark for mark in marks if mark]
