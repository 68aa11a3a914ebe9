"""Outliners: pages of nested blocks with `[[links]]`, `((block references))`, tags and properties.

A task, a heading, a block with properties and a long one are nodes; all other blocks are lines of the node above them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from weftwork.ingest.connectors.block_ids import BlockNames
from weftwork.ingest.connectors.dates import start_of
from weftwork.ingest.connectors.levels import heading_fields
from weftwork.ingest.connectors.merging import Outline
from weftwork.ingest.connectors.protocol import Link, Named, Yielded
from weftwork.text.split import TARGET
from weftwork.types import FieldValue, Node

LONG = TARGET
"""Characters from which on a block that is no part of a list is a node of its own: it fills a passage by itself."""
_CODE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(`+)(?!`).*?(?<!`)\1(?!`)"
    r"|#\+BEGIN_(SRC|EXAMPLE|QUERY|EXPORT)\b.*?(?:#\+END_\2|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BRACKETS = re.compile(r"\[\[|\]\]")
_TAG = re.compile(r"(?:(?<=\s)|(?<=\()|^)#(?:\[\[|(\w[\w/.&-]*\w|\w))", re.MULTILINE)
_BLOCK = re.compile(r"\(\(([\w-]{2,64})\)\)")
_KEY = re.compile(r"[\w-]{1,64}")
_EMBED = re.compile(r"\{\{\s*(?:\[\[)?embed(?:-\w+)?(?:\]\])?\s*:?")
_ALIASED = re.compile(r"\[([^\[\]]+)\]\((?:\[\[(.+?)\]\]|\(\(([\w-]+)\)\))\)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(?=\S)")


@dataclass(frozen=True, slots=True)
class Task:
    """A task, its markers removed from the text."""

    text: str
    status: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block and its children."""

    text: str
    children: tuple[Block, ...] = ()
    key: str = ""
    """The id that the format gives it, by which others refer to it."""
    task: Task | None = None
    heading: bool = False
    level: int = 0
    """Of a heading, where it is known."""
    properties: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page with its properties and blocks."""

    title: str
    source: str
    parent: str
    position: int = 0
    blocks: tuple[Block, ...] = ()
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    day: date | None = None
    """The day that it is the journal of."""
    names: tuple[str, ...] = ()
    """Ids by which others refer to it."""
    created_at: datetime | None = None
    updated_at: datetime | None = None


def page_pieces(page: Page, source_id: str) -> Iterator[Yielded]:
    """Yield the page, its blocks, names and links."""
    fields = shown_properties(page.properties)
    if page.aliases:
        fields["aliases"] = page.aliases
    if page.day:
        fields["date"] = page.day.isoformat()
    outline = Outline(
        Node(
            id=source_id,
            type="page",
            title=page.title,
            parent=page.parent,
            position=page.position,
            tags=tags_of_properties(page.properties),
            fields=fields,
            source=page.source,
            created_at=page.created_at or (start_of(page.day) if page.day else None),
            updated_at=page.updated_at or page.created_at or (start_of(page.day) if page.day else None),
        )
    )
    outline.page.note(ids=page.names, links=property_links(source_id, page.properties))
    _add_blocks(outline, page, source_id)
    yield from outline.pieces()
    yield Named(source_id, page.title)
    yield from (Named(source_id, alias, "alias") for alias in page.aliases)
    if "/" in page.title.strip("/") and "://" not in page.title and not page.day:
        yield Link(source=source_id, names=(page.title.rpartition("/")[0],), label="namespace")


def _add_blocks(outline: Outline, page: Page, source_id: str) -> None:
    """Add blocks top down, without recursion, so that no nesting is too deep.

    Children of an empty block move up.
    """
    names, taken = BlockNames(), set[str]()
    waiting = [(outline.page, 0, block) for block in reversed(page.blocks)]
    while waiting:
        above, level, block = waiting.pop()
        alone = stands_alone(block) or (level == 0 and len(block.text) >= LONG)
        if alone or block.text.strip():
            key = block.key if _KEY.fullmatch(block.key) and block.key not in taken else ""
            taken.add(key)
            if alone:
                name = f"{source_id}#{key or names.name('block', block.text)}"
                holder = above = outline.add(above, block_node(block, name, page))
                level = 0
            else:
                holder = outline.merge(above, level, plain(block.text).strip())
                level += 1
            holder.date(*_times(block, page))
            holder.note(
                ids=filter(None, (key,)),
                links=(*property_links("", block.properties), *links("", block.text)),
                tags=(*tags_of(block.text), *tags_of_properties(block.properties)),
            )
        waiting += [(above, level, child) for child in reversed(block.children)]


def stands_alone(block: Block) -> bool:
    """Return True for a task, a heading, or a block with properties."""
    return bool(block.task or block.heading or block.properties or _HEADING.match(block.text))


def block_node(block: Block, name: str, page: Page) -> Node:
    """The node of a standalone block: a task, a heading with the rest of its text, or an item."""
    text, title, kind = plain(block.text).strip(), "", "list_item"
    fields = shown_properties(block.properties)
    marked = _HEADING.match(text)
    if block.task:
        kind = "todo"
        title, _, text = plain(block.task.text).strip().partition("\n")
        fields = {**fields, "status": block.task.status, **block.task.fields}
    elif block.heading or marked:
        kind = "heading"
        title, _, text = text[marked.end() if marked else 0 :].partition("\n")
        fields |= heading_fields(len(marked[1]) if marked else block.level)
    return Node(
        id=name, type=kind, title=title.strip(), text=text.strip(), fields=fields, source=page.source,
        created_at=_times(block, page)[0],
    )  # fmt: skip


def _times(block: Block, page: Page) -> tuple[datetime | None, datetime | None]:
    """The creation and update time of a block, else of its page."""
    created = block.created_at or (start_of(page.day) if page.day else None)
    return created, block.updated_at or block.created_at or page.updated_at


def links(node: str, text: str) -> Iterator[Link]:
    """The distinct references of a text: pages, tags, blocks, and embeds."""
    prose = without_code(text)
    embeds = [match.end() for match in _EMBED.finditer(prose)]

    def label(start: int) -> str:
        return "embed" if any(0 <= start - end <= 1 for end in embeds) else ""

    targets: dict[tuple[str, str], None] = {}
    for start, target in page_links(prose):
        tagged = start > 0 and prose[start - 1] == "#"
        targets[target, "tag" if tagged else label(start)] = None
    targets.update({(match[1], "tag"): None for match in _TAG.finditer(prose) if match[1]})
    targets.update({(match[1], label(match.start()) or "block"): None for match in _BLOCK.finditer(prose)})
    for target, kind in targets:
        if kind == "embed":
            yield Link(source=node, names=(target,), type="embed")
        else:
            yield Link(source=node, names=(target,), label=kind)


def page_links(text: str) -> list[tuple[int, str]]:
    """The position and target of each `[[link]]`, nested ones too."""
    open_at: list[int] = []
    targets = []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] == "[[":
            open_at.append(bracket.start())
        elif open_at:
            start = open_at.pop()
            target = text[start + 2 : bracket.start()].strip()
            if target and "\n" not in target and target.lower() not in _WORDS:
                targets.append((start, target))
    return sorted(targets)


_WORDS = frozenset({"todo", "done", "embed", "table", "query", "kanban", "mermaid", "video"})
"""Names of what stands in double braces: they are commands, not pages."""


def tags_of(text: str) -> tuple[str, ...]:
    """The tags of a text, short and long."""
    prose = without_code(text)
    tags = [match[1] for match in _TAG.finditer(prose) if match[1]]
    tags += [target for start, target in page_links(prose) if start > 0 and prose[start - 1] == "#"]
    return tuple(dict.fromkeys(tags))


def without_code(text: str) -> str:
    """The text with code blanked out, in which nothing is a link."""
    return _CODE.sub(lambda code: " " * len(code[0]), text)


def plain(text: str) -> str:
    """The text with aliased links replaced by their labels."""
    return _ALIASED.sub(lambda link: link[1], text)


def property_links(node: str, properties: Mapping[str, str]) -> Iterator[Link]:
    """The references in values of properties, labelled with the property's name."""
    for name, value in properties.items():
        prose = without_code(value)
        targets = [target for _, target in page_links(prose)]
        targets += [match[1] for match in _TAG.finditer(prose) if match[1]]
        targets += [match[1] for match in _BLOCK.finditer(prose)]
        for target in dict.fromkeys(targets):
            yield Link(source=node, names=(target,), type="field", label=name)


def listed(value: str) -> tuple[str, ...]:
    """The values of a property that may have several: `[[a]], b, #c`."""
    parts = [target for _, target in page_links(value)]
    rest = _BRACKETS.sub("\0", value).split("\0")[::2] if parts else [value]
    parts += [part for piece in rest for part in re.split(r"[,，]", piece)]
    return tuple(dict.fromkeys(name for part in parts if (name := part.strip().lstrip("#").strip())))


def tags_of_properties(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The tags in the property `tags`."""
    return tuple(tag for name, value in properties.items() if name.lower() == "tags" for tag in listed(value))


def shown_properties(properties: Mapping[str, str]) -> dict[str, FieldValue]:
    """Properties as fields, without link brackets."""
    return {name: _BRACKETS.sub("", value).strip() for name, value in properties.items() if name.lower() != "tags"}
