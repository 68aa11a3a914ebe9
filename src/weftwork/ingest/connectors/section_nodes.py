"""The nodes of a Markdown page: its sections, and their standalone blocks.

The text of a page or section is what stands directly below its title. A standalone block is a node below it, and what
follows such a block is a node of the type `paragraph`: in reading order the nodes say what the file says.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from weftwork.ingest.connectors import inline
from weftwork.ingest.connectors.block_ids import BlockNames
from weftwork.ingest.connectors.levels import heading_fields, item_fields, with_written
from weftwork.ingest.connectors.markdown import Block, Section, Stretch
from weftwork.ingest.connectors.protocol import Anchor, Link, Yielded
from weftwork.types import ABOUT, FieldValue, Node, subject_of

LONGEST_TITLE = 200
NO_FIELDS: Mapping[str, FieldValue] = MappingProxyType({})
Part = Stretch | Block


@dataclass(frozen=True, slots=True)
class _Above:
    """The parent of other nodes, and its subject."""

    id: str
    subject: str


@dataclass(slots=True, kw_only=True)
class SectionNodes:
    """Builds the nodes of one page; `pieces` has them in reading order, each before its links."""

    page: str
    """The id of the page's own node, which is not among the pieces."""
    title: str
    source: str
    links: Callable[[str, str], Iterable[Link]]
    """The links in a text without code that stands in a node."""
    tags: Callable[[str], Sequence[str]] = inline.tags
    """The tags in a text without code."""
    clean: Callable[[str], str] = str
    """Clean a text before it is stored."""
    updated_at: datetime | None = None
    pieces: list[Yielded] = field(default_factory=list)
    all_tags: dict[str, None] = field(default_factory=dict)
    page_fields: dict[str, FieldValue] = field(default_factory=dict)
    """Fields in the page's own text, once it began."""
    _names: BlockNames = field(default_factory=BlockNames)
    _taken: set[str] = field(default_factory=set)
    _children: Counter[str] = field(default_factory=Counter)

    def begin(self, section: Section) -> str:
        """Add what stands before the first heading, and return the page's own text."""
        stretch, below = _own(section.parts)
        self._anchor(self.page, (section.name, *section.names, *stretch.names))
        readable, tags = self._scanned((section.heading, *stretch.prose))
        self._note_links(self.page, readable, tags)
        self.page_fields = _bracketed(readable)
        self._add_parts(_Above(self.page, self.title), below)
        return self.clean(stretch.text)

    def add(self, sections: Iterable[Section]) -> None:
        """Add the following sections, each below the nearest heading of a higher rank."""
        above = [(0, _Above(self.page, self.title))]
        for section in sections:
            if not section.heading and not section.parts:
                continue
            while above[-1][0] >= section.level:
                above.pop()
            above.append((section.level, self._add_section(section, above[-1][1])))

    def _add_section(self, section: Section, above: _Above) -> _Above:
        stretch, below = _own(section.parts)
        written = self.clean(section.heading)
        title = plain_heading(written)
        text = self.clean(stretch.text)
        if len(title) > LONGEST_TITLE:
            title, text = textwrap.shorten(title, LONGEST_TITLE, placeholder=" …"), f"{title}\n\n{text}".rstrip()
        fields = inline.line_fields(inline.without_code(section.lead)) | heading_fields(
            section.level, "" if written == title else written
        )
        node = self._add_node(
            "heading", section.heading, above, names=(section.name,), title=title, text=text, fields=fields,
            prose=(section.heading, *stretch.prose),
        )  # fmt: skip
        self.pieces.append(Anchor(node.id, section.heading))
        self._anchor(node.id, (*section.names, *stretch.names))
        here = _Above(node.id, _subject(node))
        self._add_parts(here, below)
        return here

    def _add_parts(self, above: _Above, parts: Sequence[Part]) -> None:
        for part in parts:
            if isinstance(part, Block):
                self._add_block(part, above)
            elif text := self.clean(part.text):
                node = self._add_node("paragraph", text, above, text=text, prose=part.prose)
                self._anchor(node.id, part.names)

    def _add_block(self, block: Block, above: _Above) -> None:
        """Add a task, or a paragraph or list item with a name or fields, unless it is empty."""
        stretch, below = _own(block.parts)
        first_paragraph, names = block.paragraphs[0], (*block.names, *stretch.names)
        task = inline.task(self.clean(first_paragraph)) if block.kind == "list_item" else None
        fields: dict[str, FieldValue] = dict(inline.line_fields(inline.without_code("\n\n".join(block.paragraphs))))
        title, text = _titled(task.text) if task else ("", self.clean(first_paragraph))
        text = _joined(text, self.clean(stretch.text), loose=stretch.loose)
        if title or text or names or below:
            node = self._add_node(
                "todo" if task else block.kind, first_paragraph, above, names=names, title=title, text=text,
                fields=fields | (task.fields if task else {}) | item_fields(block.indent),
                prose=(first_paragraph, *stretch.prose),
            )  # fmt: skip
            self._add_parts(_Above(node.id, _subject(node)), below)

    def _add_node(
        self, kind: str, content: str, above: _Above, *, names: Sequence[str] = (), title: str = "", text: str,
        fields: Mapping[str, FieldValue] = NO_FIELDS, prose: Sequence[str],
    ) -> Node:  # fmt: skip
        """Add a node, named by the first of its names or by its content."""
        name = next((f"^{name}" for name in names[:1] if name and name not in self._taken), "")
        self._taken.update(names[:1])
        readable, tags = self._scanned(prose)
        inner = {} if kind == "todo" else _bracketed(readable)
        fields = with_written({**inner, **fields}, f"{title}\n{text}")
        node = Node(
            id=f"{self.page}#{name or self._names.name(kind, content)}", type=kind, title=title, text=text,
            parent=above.id, position=self._children[above.id], tags=tags,
            fields={**fields, ABOUT: above.subject}, source=self.source, updated_at=self.updated_at,
        )  # fmt: skip
        self._children[above.id] += 1
        self.pieces.append(node)
        self._anchor(node.id, names)
        self._note_links(node.id, readable, tags)
        return node

    def _scanned(self, prose: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
        """Texts without code, and their tags."""
        readable = [inline.without_code(text) for text in prose]
        return readable, tuple(dict.fromkeys(tag for text in readable for tag in self.tags(text)))

    def _note_links(self, node: str, readable: Iterable[str], tags: Iterable[str]) -> None:
        self.all_tags.update(dict.fromkeys(tags))
        for text in readable:
            self.pieces += self.links(node, text)

    def _anchor(self, node: str, names: Iterable[str]) -> None:
        self.pieces += [Anchor(node, f"^{name}") for name in names if name]


def _bracketed(readable: Iterable[str]) -> dict[str, FieldValue]:
    """The fields within texts without code, `(name:: value)`."""
    return {name: value for text in readable for name, value in inline.bracketed_fields(text).items()}


def _own(parts: Sequence[Part]) -> tuple[Stretch, Sequence[Part]]:
    """The text of a section or block itself, and the parts below it."""
    if parts and isinstance(parts[0], Stretch):
        return parts[0], parts[1:]
    return Stretch(""), parts


def _subject(node: Node) -> str:
    return subject_of(node.title, node.fields)[:LONGEST_TITLE]


def _joined(text: str, more: str, *, loose: bool) -> str:
    return ("\n\n" if loose else "\n").join(filter(None, (text, more)))


def _titled(text: str) -> tuple[str, str]:
    """Split the text of a task into title and rest."""
    first, _, more = text.partition("\n")
    if len(first) <= LONGEST_TITLE:
        return first.strip(), more.strip()
    return textwrap.shorten(first, LONGEST_TITLE, placeholder=" …"), text


def plain_heading(heading: str) -> str:
    """A heading in one line, without the markup of links and emphasis."""
    heading = re.sub(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", heading)
    heading = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", heading)
    return " ".join(re.sub(r"(\*\*|__|==|~~|`|\*)(.+?)\1", r"\2", heading).split())
