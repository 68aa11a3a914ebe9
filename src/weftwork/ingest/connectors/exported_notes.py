"""Notes of an export as pages with sections: what Evernote, Keep, Bear and Apple Notes have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from weftwork.ingest.connectors import inline
from weftwork.ingest.connectors.folders import place_of
from weftwork.ingest.connectors.markdown import Kind, TooDeep, lined, plain, sections
from weftwork.ingest.connectors.protocol import Link, Named, Yielded
from weftwork.ingest.connectors.section_nodes import SectionNodes
from weftwork.ingest.events import Note
from weftwork.types import FieldValue, Node


def links_by_title(node: str, text: str) -> Iterator[Link]:
    """The `[[titles]]` in a text without code."""
    for reference in inline.references(text):
        if not reference.path:
            yield Link(source=node, names=(reference.target,), anchor=reference.anchor, label=reference.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedNote:
    """A note as an export has it, its text as Markdown."""

    id: str
    title: str
    text: str
    parent: str
    source: str
    tags: Sequence[str] = ()
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    links: Callable[[str, str], Iterable[Link]] = links_by_title
    tags_in: Callable[[str], Sequence[str]] = inline.tags
    """The tags in a text without code."""


def note_pieces(note: ExportedNote) -> Iterator[Yielded]:
    """The page of a note, its sections and tasks, and its name for links."""
    body = lined(note.text)
    begin, _, below = body.lstrip().partition("\n")
    if begin.strip() == note.title:  # a note without a title is called what it begins with
        body = below
    try:
        top = sections(body, _is_task)
    except TooDeep as error:
        yield Note(note.source, f"{error}: it is split into paragraphs only")
        top = plain(body)
    nodes = SectionNodes(
        page=note.id, title=note.title, source=note.source, links=note.links, tags=note.tags_in,
        updated_at=note.updated_at, all_tags=dict.fromkeys(note.tags),
    )  # fmt: skip
    first, rest = top[0], top[1:]
    if not first.parts and rest and rest[0].heading.strip() in ("", note.title):
        first, rest = rest[0], rest[1:]
    text = nodes.begin(first)
    nodes.add(rest)
    yield Node(
        id=note.id, type="page", title=note.title, text=text, parent=note.parent, position=place_of(note.title),
        tags=tuple(nodes.all_tags), fields={**nodes.page_fields, **note.fields}, source=note.source,
        created_at=note.created_at, updated_at=note.updated_at or note.created_at,
    )  # fmt: skip
    yield Named(note.id, note.title)
    yield from nodes.pieces


def _is_task(kind: Kind, paragraphs: Sequence[str], *, first: bool) -> bool:
    return kind == "list_item" and inline.task(paragraphs[0]) is not None


def first_line(text: str) -> str:
    """The first line with words, without the marks of a heading: the title of a note that has no other."""
    lines = (line.strip().lstrip("#").strip() for line in text.split("\n"))
    return next((line for line in lines if line), "")[:200]
