"""A Markdown note as a page with its sections: what Obsidian, Foam and plain Markdown folders have in common."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from weftwork.ingest.connectors import frontmatter, inline
from weftwork.ingest.connectors.folders import Found
from weftwork.ingest.connectors.levels import heading_fields
from weftwork.ingest.connectors.markdown import Kind, Section, TooDeep, lined, plain, sections
from weftwork.ingest.connectors.plain import modified, path_names, source_of
from weftwork.ingest.connectors.protocol import Anchor, Link, Named, Source, Yielded
from weftwork.ingest.connectors.section_nodes import SectionNodes, plain_heading
from weftwork.ingest.events import Note, Skipped
from weftwork.ingest.files import shown
from weftwork.types import FieldValue, Node

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_SPLIT_TAGS = re.compile(r"[,\s]+")


def is_note(found: Found) -> bool:
    """Whether a file is Markdown."""
    return found.key.lower().endswith(SUFFIXES)


def note_source(found: Found, *, title_from_heading: bool = False) -> Source | Skipped:
    """A Markdown file as a page; its first heading may give the title that its name gives otherwise."""
    return source_of(found, "file", partial(_read, title_from_heading=title_from_heading))


def _read(found: Found, name: str, title_from_heading: bool) -> Iterator[Yielded]:
    what = shown(str(found.path))
    text = lined(found.text())
    matter, body = frontmatter.split(text)
    told: dict[str, Any] = {}
    try:
        told = frontmatter.values(matter) if matter else {}
    except frontmatter.NotYaml as error:
        yield Note(what, f"its front matter is taken for text, because it is not YAML ({error})")
        body = text
    try:
        found_sections = sections(body, _stands_alone, named=True)
    except TooDeep as error:
        yield Note(what, f"{error}: it is split into paragraphs only")
        found_sections = plain(body)
    yield from _page(found, name, told, found_sections, title_from_heading)


def _stands_alone(kind: Kind, paragraphs: Sequence[str], *, first: bool) -> bool:
    """Whether a block is a task, is named, or has fields; those of a paragraph below a title are the title's."""
    if kind == "list_item" and inline.task(paragraphs[0]):
        return True
    if any(inline.block_name(each) for each in paragraphs):
        return True
    return not first and any(inline.line_fields(inline.without_code(each)) for each in paragraphs if "::" in each)


def _page(
    found: Found, name: str, told: dict[str, Any], top: list[Section], title_from_heading: bool
) -> Iterator[Yielded]:
    stem = posixpath.splitext(posixpath.basename(found.key))[0]
    given = told.pop("title", None)
    heading, first, rest = _first_heading(top)
    title = (given if isinstance(given, str) and given.strip() else "") or (title_from_heading and heading) or stem
    title = title.strip()
    tags = [tag for key in ("tags", "tag") for tag in _tags(told.pop(key, None))]
    aliases = [alias for key in ("aliases", "alias") for alias in frontmatter.texts(told.pop(key, None))]
    nodes = SectionNodes(
        page=name, title=title, source=shown(str(found.path)), links=partial(_links, found.key),
        updated_at=modified(found), all_tags=dict.fromkeys(tags),
    )  # fmt: skip
    written: dict[str, FieldValue] = {}
    if not heading or heading.casefold() != title.casefold():
        first, rest = top[0], top[1:]
    else:
        nodes.pieces.append(Anchor(name, heading))
        written = heading_fields(0, first.heading)
    text = nodes.begin(first)
    nodes.add(rest)
    yield Node(
        id=name, type="page", title=title, text=text, parent=found.parent, position=found.position,
        tags=tuple(nodes.all_tags), fields={**_fields(told, aliases, first.lead), **written},
        source=shown(str(found.path)),
        created_at=_created(told), updated_at=modified(found),
    )  # fmt: skip
    yield from _called(name, found.key, title, (heading, *aliases))
    yield from nodes.pieces
    for key, value in told.items():
        for each in frontmatter.texts(value):
            yield from _links(found.key, name, each, "field", key)


def _first_heading(top: list[Section]) -> tuple[str, Section, list[Section]]:
    """The heading that a note begins with, if it is of the first level, and the sections as if it were its title."""
    begins = len(top) > 1 and top[1].level == 1 and not top[0].parts
    return (plain_heading(top[1].heading), top[1], top[2:]) if begins else ("", top[0], top[1:])


def _called(name: str, key: str, title: str, others: tuple[str, ...]) -> Iterator[Named]:
    """The names by which links may call a note."""
    stem = posixpath.splitext(posixpath.basename(key))[0]
    yield from path_names(name, key)
    yield from path_names(name, posixpath.splitext(key)[0])
    yield Named(name, stem, "title")
    for other in dict.fromkeys((title, *others)):
        if other and other.casefold() != stem.casefold():
            yield Named(name, other, "alias")


def _fields(told: dict[str, Any], aliases: list[str], lead: str) -> dict[str, FieldValue]:
    found = frontmatter.fields(told)
    if aliases:
        found["aliases"] = tuple(aliases)
    return {**inline.line_fields(inline.without_code(lead)), **found}


def _links(key: str, node: str, text: str, kind: str = "", label: str = "") -> Iterator[Link]:
    """The links in a text without code, or in the value of a property."""
    for each in inline.references(text):
        yield Link(
            source=node,
            names=_targets(key, each),
            anchor=each.anchor,
            type=kind or ("embed" if each.embed else "reference"),
            label=label or each.label,
        )


def _targets(key: str, link: inline.Reference) -> tuple[str, ...]:
    """What a link may mean: a path from the note's folder on, one from the top on, a name."""
    if not link.target:
        return (key,)
    here = posixpath.normpath(posixpath.join(posixpath.dirname(key), link.target))
    written = posixpath.normpath(link.target).lstrip("/")
    relative = link.path or link.target.startswith(("./", "../"))
    return tuple(dict.fromkeys((here, written) if relative else (written, link.target)))


def _tags(value: Any) -> list[str]:
    """Tags as front matter writes them: a list, or one text with commas or spaces."""
    several = _SPLIT_TAGS.split(value) if isinstance(value, str) else frontmatter.texts(value)
    return [tag for tag in (each.strip().lstrip("#") for each in several) if tag]


def _created(told: dict[str, Any]) -> datetime | None:
    """When front matter says that a note was made."""
    for name in ("created", "created_at", "date created", "date"):
        value = told.get(name)
        try:
            moment = datetime.fromisoformat(str(value)) if value is not None else None
        except ValueError:
            continue
        if moment is not None and 1 < moment.year < 9999:
            return moment
    return None
