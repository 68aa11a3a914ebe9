"""Markdown notes as pages with sections, for Obsidian, Foam and plain Markdown folders."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from weftwork.ingest.connectors import frontmatter, inline
from weftwork.ingest.connectors.converted import converter_for, markdown_of
from weftwork.ingest.connectors.folders import FoundFile
from weftwork.ingest.connectors.levels import heading_fields, with_written
from weftwork.ingest.connectors.markdown import Kind, Section, TooDeep, lined, plain, sections
from weftwork.ingest.connectors.plain import modified, path_names, source_of
from weftwork.ingest.connectors.protocol import Anchor, Link, Named, Source, Yielded
from weftwork.ingest.connectors.section_nodes import SectionNodes, plain_heading
from weftwork.ingest.events import Note, Skipped
from weftwork.ingest.files import shown
from weftwork.types import FieldValue, Node

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_SPLIT_TAGS = re.compile(r"[,\s]+")


def is_note(file: FoundFile) -> bool:
    """Return True for a Markdown file, and for one that is converted to Markdown."""
    return file.key.lower().endswith(SUFFIXES) or converter_for(file.path) is not None


def note_source(file: FoundFile, *, title_from_heading: bool = False) -> Source | Skipped:
    """A Markdown file as a page, titled by its file name or its first heading."""
    return source_of(file, "file", partial(_read, title_from_heading=title_from_heading))


def _read(file: FoundFile, name: str, title_from_heading: bool) -> Iterator[Yielded]:
    what = shown(str(file.path))
    text = lined(markdown_of(file.path, file.text()))
    matter, body = frontmatter.split(text)
    properties: dict[str, Any] = {}
    try:
        properties = frontmatter.values(matter) if matter else {}
    except frontmatter.NotYaml as error:
        yield Note(what, f"its front matter is taken for text, because it is not YAML ({error})")
        body = text
    try:
        found_sections = sections(body, _stands_alone, named=True)
    except TooDeep as error:
        yield Note(what, f"{error}: it is split into paragraphs only")
        found_sections = plain(body)
    yield from _page(file, name, properties, found_sections, title_from_heading)


def _stands_alone(kind: Kind, paragraphs: Sequence[str], *, first: bool) -> bool:
    """Return True for a task, a named block or one with fields.

    Fields of the first paragraph below a title belong to the title; those within a sentence to its section.
    """
    if kind == "list_item" and (inline.task(paragraphs[0]) or _has_bracketed_fields(paragraphs)):
        return True
    if any(inline.block_name(paragraph) for paragraph in paragraphs):
        return True
    return not first and any(
        inline.line_fields(inline.without_code(paragraph)) for paragraph in paragraphs if "::" in paragraph
    )


def _has_bracketed_fields(paragraphs: Sequence[str]) -> bool:
    return any(inline.bracketed_fields(inline.without_code(text)) for text in paragraphs if ":: " in text)


def _page(
    file: FoundFile, name: str, properties: dict[str, Any], top: list[Section], title_from_heading: bool
) -> Iterator[Yielded]:
    stem = posixpath.splitext(posixpath.basename(file.key))[0]
    own_title = properties.pop("title", None)
    heading, first, rest = _first_heading(top)
    title = (
        (own_title if isinstance(own_title, str) and own_title.strip() else "")
        or (title_from_heading and heading)
        or stem
    )
    title = title.strip()
    tags = [tag for key in ("tags", "tag") for tag in _tags(properties.pop(key, None))]
    aliases = [alias for key in ("aliases", "alias") for alias in frontmatter.texts(properties.pop(key, None))]
    nodes = SectionNodes(
        page=name, title=title, source=shown(str(file.path)), links=partial(_links, file.key),
        updated_at=modified(file), all_tags=dict.fromkeys(tags),
    )  # fmt: skip
    written: dict[str, FieldValue] = {}
    if not heading or heading.casefold() != title.casefold():
        first, rest = top[0], top[1:]
    else:
        nodes.pieces.append(Anchor(name, heading))
        written = heading_fields(0, first.heading)
    text = nodes.begin(first)
    nodes.add(rest)
    fields = {**nodes.page_fields, **_fields(properties, aliases, first.lead), **written}
    yield Node(
        id=name, type="page", title=title, text=text, parent=file.parent, position=file.position,
        tags=tuple(nodes.all_tags), fields=with_written(fields, text),
        source=shown(str(file.path)), created_at=_created(properties), updated_at=modified(file),
    )  # fmt: skip
    yield from _called(name, file.key, title, (heading, *aliases))
    yield from nodes.pieces
    for key, value in properties.items():
        for text_value in frontmatter.texts(value):
            yield from _links(file.key, name, text_value, "field", key)


def _first_heading(top: list[Section]) -> tuple[str, Section, list[Section]]:
    """The level-1 heading that a note begins with, and the sections below it; empty if there is none."""
    begins = len(top) > 1 and top[1].level == 1 and not top[0].parts
    return (plain_heading(top[1].heading), top[1], top[2:]) if begins else ("", top[0], top[1:])


def _called(name: str, key: str, title: str, others: tuple[str, ...]) -> Iterator[Named]:
    """The names of a note for links."""
    stem = posixpath.splitext(posixpath.basename(key))[0]
    yield from path_names(name, key)
    yield from path_names(name, posixpath.splitext(key)[0])
    yield Named(name, stem, "title")
    for other in dict.fromkeys((title, *others)):
        if other and other != stem:
            yield Named(name, other, "alias")


def _fields(properties: dict[str, Any], aliases: list[str], lead: str) -> dict[str, FieldValue]:
    fields = frontmatter.fields(properties)
    if aliases:
        fields["aliases"] = tuple(aliases)
    return {**inline.line_fields(inline.without_code(lead)), **fields}


def _links(key: str, node: str, text: str, kind: str = "", label: str = "") -> Iterator[Link]:
    """The links in a text without code, or in the value of a property."""
    for reference in inline.references(text):
        yield Link(
            source=node,
            names=_targets(key, reference),
            anchor=reference.anchor,
            type=kind or ("embed" if reference.embed else "reference"),
            label=label or reference.label,
        )


def _targets(key: str, link: inline.Reference) -> tuple[str, ...]:
    """The candidate targets of a link: relative to the note's folder, relative to the top, or a name."""
    if not link.target:
        return (key,)
    here = posixpath.normpath(posixpath.join(posixpath.dirname(key), link.target))
    written = posixpath.normpath(link.target).lstrip("/")
    relative = link.path or link.target.startswith(("./", "../"))
    return tuple(dict.fromkeys((here, written) if relative else (written, link.target)))


def _tags(value: Any) -> list[str]:
    """Tags in front matter: a list, or a string with commas or spaces."""
    several = _SPLIT_TAGS.split(value) if isinstance(value, str) else frontmatter.texts(value)
    return [tag for tag in (tag.strip().lstrip("#") for tag in several) if tag]


def _created(properties: dict[str, Any]) -> datetime | None:
    """The creation time in front matter."""
    for name in ("created", "created_at", "date created", "date"):
        value = properties.get(name)
        try:
            moment = datetime.fromisoformat(str(value)) if value is not None else None
        except ValueError:
            continue
        if moment is not None and 1 < moment.year < 9999:
            return moment
    return None
