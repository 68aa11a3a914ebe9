"""A Markdown note as a page with its blocks: what Obsidian, Foam and plain Markdown folders have in common.

The paragraph that follows a title or a heading stands with it, as its text; so a page or a section says what it is
about. All other blocks are nodes of their own below it.
"""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from weftwork.ingest.connectors import frontmatter, inline
from weftwork.ingest.connectors.block_ids import BlockNames
from weftwork.ingest.connectors.folders import Found
from weftwork.ingest.connectors.markdown import Block, TooDeep, blocks, plain
from weftwork.ingest.connectors.plain import modified, path_names, source_of
from weftwork.ingest.connectors.protocol import Anchor, Link, Named, Source, Yielded
from weftwork.ingest.events import Note, Skipped
from weftwork.ingest.files import shown
from weftwork.types import ABOUT, FieldValue, Node, subject_of

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
LONGEST_TITLE = 200
_NAME_ALONE = re.compile(r"\^[A-Za-z0-9-]+\s*\Z")
_OWN_NAME = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+\s*\Z")
_SPLIT_TAGS = re.compile(r"[,\s]+")


def is_note(found: Found) -> bool:
    """Whether a file is Markdown."""
    return found.key.lower().endswith(SUFFIXES)


def note_source(found: Found, *, title_from_heading: bool = False) -> Source | Skipped:
    """A Markdown file as a page; its first heading may give the title that its name gives otherwise."""
    return source_of(found, "file", partial(_read, title_from_heading=title_from_heading))


def _read(found: Found, name: str, title_from_heading: bool) -> Iterator[Yielded]:
    what = shown(str(found.path))
    text = found.text()
    matter, body = frontmatter.split(text)
    told: dict[str, Any] = {}
    try:
        told = frontmatter.values(matter) if matter else {}
    except frontmatter.NotYaml as error:
        yield Note(what, f"its front matter is taken for text, because it is not YAML ({error})")
        body = text
    try:
        top = blocks(body)
    except TooDeep as error:
        yield Note(what, f"{error}: it is split into paragraphs only")
        top = plain(body)
    yield from _Page(found, name, what).yielded(told, top, title_from_heading)


@dataclass(slots=True)
class _Page:
    """A note while its blocks are made into nodes."""

    found: Found
    id: str
    what: str
    names: BlockNames = field(default_factory=BlockNames)
    tags: dict[str, None] = field(default_factory=dict)
    pieces: list[Yielded] = field(default_factory=list)

    def yielded(self, told: dict[str, Any], top: list[Block], title_from_heading: bool) -> list[Yielded]:
        stem = posixpath.splitext(posixpath.basename(self.found.key))[0]
        given = told.pop("title", None)
        heading = _plain(top[0].text) if top and top[0].kind == "heading" and top[0].level == 1 else ""
        title = (given if isinstance(given, str) and given.strip() else "") or (title_from_heading and heading) or stem
        title = title.strip()
        own_tags = [tag for name in ("tags", "tag") for tag in _tags(told.pop(name, None))]
        self.tags.update(dict.fromkeys(own_tags))
        aliases = [alias for name in ("aliases", "alias") for alias in frontmatter.texts(told.pop(name, None))]
        if heading and heading.casefold() == title.casefold():
            self.pieces.append(Anchor(self.id, heading))
            top = [*top[0].below, *top[1:]]
        text, rest = self._lead(self.id, top)
        self._below(self.id, title, rest)
        self._properties(told)
        page = Node(
            id=self.id, type="page", title=title, text=text, parent=self.found.parent, position=self.found.position,
            tags=tuple(self.tags), fields=self._fields(told, aliases, text), source=self.what,
            created_at=_created(told), updated_at=modified(self.found),
        )  # fmt: skip
        return [page, *self._called(title, stem, (heading, *aliases)), *self.pieces]

    def _called(self, title: str, stem: str, others: tuple[str, ...]) -> Iterator[Named]:
        yield from path_names(self.id, self.found.key)
        yield from path_names(self.id, posixpath.splitext(self.found.key)[0])
        yield Named(self.id, stem, "title")
        for other in dict.fromkeys((title, *others)):
            if other and other.casefold() != stem.casefold():
                yield Named(self.id, other, "alias")

    def _fields(self, told: dict[str, Any], aliases: list[str], text: str) -> dict[str, FieldValue]:
        found = frontmatter.fields(told)
        if aliases:
            found["aliases"] = tuple(aliases)
        return {**inline.line_fields(inline.without_code(text)), **found}

    def _properties(self, told: dict[str, Any]) -> None:
        """Links in the values of properties."""
        for name, value in told.items():
            for text in frontmatter.texts(value):
                self._links(self.id, text, "field", name)

    def _lead(self, node: str, found: list[Block]) -> tuple[str, list[Block]]:
        """The paragraph that stands with a title, and the other blocks."""
        if not found or found[0].kind in ("heading", "list_item") or _NAME_ALONE.match(found[0].text):
            return "", found
        return self._scanned(node, found[0].text), found[1:]

    def _scanned(self, node: str, text: str) -> str:
        """The text without the block's name; links, tags and the name are noted."""
        name = inline.block_name(text)
        if name:
            self.pieces.append(Anchor(node, f"^{name}"))
            text = _OWN_NAME.sub("", text)
        readable = inline.without_code(text)
        self.tags.update(dict.fromkeys(inline.tags(readable)))
        self._links(node, readable)
        return text

    def _links(self, node: str, text: str, kind: str = "", label: str = "") -> None:
        for each in inline.references(text):
            self.pieces.append(
                Link(
                    source=node,
                    names=self._targets(each),
                    anchor=each.anchor,
                    type=kind or ("embed" if each.embed else "reference"),
                    label=label or each.label,
                )
            )

    def _targets(self, link: inline.Reference) -> tuple[str, ...]:
        """What a link may mean: a path from the note's folder on, one from the top on, a name."""
        if not link.target:
            return (self.found.key,)
        here = posixpath.normpath(posixpath.join(posixpath.dirname(self.found.key), link.target))
        written = posixpath.normpath(link.target).lstrip("/")
        relative = link.path or link.target.startswith(("./", "../"))
        return tuple(dict.fromkeys((here, written) if relative else (written, link.target)))

    def _below(self, above: str, about: str, found: list[Block]) -> None:
        """The blocks below a node, and all below them, without recursion: notes may be nested deeply."""
        waiting = [(above, about, found)]
        while waiting:
            parent, about, siblings = waiting.pop()
            last = parent
            for position, block in enumerate(siblings):
                if block.kind == "paragraph" and _NAME_ALONE.match(block.text):
                    self.pieces.append(Anchor(last, block.text.strip()))
                    continue
                node, rest = self._node(parent, position, block, about)
                last = node.id
                if rest:
                    waiting.append((last, subject_of(node.title, node.fields)[:LONGEST_TITLE], rest))

    def _node(self, parent: str, position: int, block: Block, about: str) -> tuple[Node, list[Block]]:
        """A block as a node, and the blocks below it."""
        task = inline.task(block.text) if block.kind == "list_item" else None
        kind = "todo" if task else block.kind
        own = inline.block_name(block.text)
        node = f"{self.id}#{f'^{own}' if own else self.names.name(kind, block.text)}"
        place = len(self.pieces)
        text, rest = self._scanned(node, block.text), block.below
        tags = tuple(inline.tags(inline.without_code(text))) if block.kind not in ("code", "heading") else ()
        title, fields = "", dict[str, FieldValue](inline.line_fields(inline.without_code(text)))
        if task:
            title, text = _titled(task.text)
            fields |= task.fields
        elif block.kind == "heading":
            self.pieces.append(Anchor(node, text))
            title = _plain(text)
            text, rest = self._lead(node, rest)
        made = Node(
            id=node, type=kind, title=title, text=text, parent=parent, position=position, tags=tags,
            fields={**fields, ABOUT: about}, source=self.what, updated_at=modified(self.found),
        )  # fmt: skip
        self.pieces.insert(place, made)
        return made, rest


def _titled(text: str) -> tuple[str, str]:
    """A task's title and what else it says."""
    first, _, more = text.partition("\n")
    if len(first) <= LONGEST_TITLE:
        return first.strip(), more.strip()
    return textwrap.shorten(first, LONGEST_TITLE, placeholder=" …"), text


def _plain(heading: str) -> str:
    """A heading without what marks links and emphasis."""
    heading = re.sub(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", heading)
    heading = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", heading)
    return re.sub(r"(\*\*|__|==|~~|`|\*)(.+?)\1", r"\2", heading).strip()


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
