"""Outliners: pages of nested blocks with `[[links]]`, `((block references))`, #tags, `key:: value` and tasks.

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
    """What is to be done, with the words that say so taken out of the text."""

    text: str
    status: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block and what is below it."""

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
    """A page: what is said of it, and its blocks."""

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


def page_pieces(page: Page, own: str) -> Iterator[Yielded]:
    """The page, its blocks, its names, and its links."""
    fields = shown_properties(page.properties)
    if page.day:
        fields["date"] = page.day.isoformat()
    outline = Outline(
        Node(
            id=own,
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
    outline.page.note(ids=page.names, links=property_links(own, page.properties))
    _add_blocks(outline, page, own)
    yield from outline.pieces()
    yield Named(own, page.title)
    yield from (Named(own, alias, "alias") for alias in page.aliases)
    if "/" in page.title.strip("/") and not page.day:
        yield Link(source=own, names=(page.title.rpartition("/")[0],), label="namespace")


def _add_blocks(outline: Outline, page: Page, own: str) -> None:
    """Blocks from the top down; an own stack, so that no nesting is too deep. Below an empty one, they move up."""
    names, taken = BlockNames(), set[str]()
    waiting = [(outline.page, 0, block) for block in reversed(page.blocks)]
    while waiting:
        above, level, block = waiting.pop()
        alone = stands_alone(block) or (level == 0 and len(block.text) >= LONG)
        if alone or block.text.strip():
            key = block.key if _KEY.fullmatch(block.key) and block.key not in taken else ""
            taken.add(key)
            if alone:
                name = f"{own}#{key or names.name('block', block.text)}"
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
    """Whether a block is a node of its own for what it is."""
    return bool(block.task or block.heading or block.properties or _HEADING.match(block.text))


def block_node(block: Block, name: str, page: Page) -> Node:
    """A block that stands alone: a task, a heading with what it says below its first line, or an item."""
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
    """When a block was made and changed, else when its page was."""
    created = block.created_at or (start_of(page.day) if page.day else None)
    return created, block.updated_at or block.created_at or page.updated_at


def links(node: str, text: str) -> Iterator[Link]:
    """All that a text refers to, each once: pages, tags, blocks, and what it embeds."""
    said = without_code(text)
    embeds = [match.end() for match in _EMBED.finditer(said)]

    def label(start: int) -> str:
        return "embed" if any(0 <= start - end <= 1 for end in embeds) else ""

    found: dict[tuple[str, str], None] = {}
    for start, target in page_links(said):
        tagged = start > 0 and said[start - 1] == "#"
        found[target, "tag" if tagged else label(start)] = None
    found.update({(match[1], "tag"): None for match in _TAG.finditer(said) if match[1]})
    found.update({(match[1], label(match.start()) or "block"): None for match in _BLOCK.finditer(said)})
    for target, kind in found:
        if kind == "embed":
            yield Link(source=node, names=(target,), type="embed")
        else:
            yield Link(source=node, names=(target,), label=kind)


def page_links(text: str) -> list[tuple[int, str]]:
    """Where each `[[link]]` begins and what it calls, those inside of others too."""
    open_at: list[int] = []
    found = []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] == "[[":
            open_at.append(bracket.start())
        elif open_at:
            start = open_at.pop()
            target = text[start + 2 : bracket.start()].strip()
            if target and "\n" not in target and target.lower() not in _WORDS:
                found.append((start, target))
    return sorted(found)


_WORDS = frozenset({"todo", "done", "embed", "table", "query", "kanban", "mermaid", "video"})
"""Names of what stands in double braces: they are commands, not pages."""


def tags_of(text: str) -> tuple[str, ...]:
    """The tags of a text, short and long."""
    said = without_code(text)
    tags = [match[1] for match in _TAG.finditer(said) if match[1]]
    tags += [target for start, target in page_links(said) if start > 0 and said[start - 1] == "#"]
    return tuple(dict.fromkeys(tags))


def without_code(text: str) -> str:
    """The text with code blanked out: what looks like a link there is none."""
    return _CODE.sub(lambda code: " " * len(code[0]), text)


def plain(text: str) -> str:
    """The text as it reads: aliased links by their words."""
    return _ALIASED.sub(lambda link: link[1], text)


def property_links(node: str, properties: Mapping[str, str]) -> Iterator[Link]:
    """What the values of properties refer to, each labelled with the property's name."""
    for name, value in properties.items():
        said = without_code(value)
        targets = [target for _, target in page_links(said)]
        targets += [match[1] for match in _TAG.finditer(said) if match[1]]
        targets += [match[1] for match in _BLOCK.finditer(said)]
        for target in dict.fromkeys(targets):
            yield Link(source=node, names=(target,), type="field", label=name)


def listed(value: str) -> tuple[str, ...]:
    """The values of a property that may have several: `[[a]], b, #c`."""
    parts = [target for _, target in page_links(value)]
    rest = _BRACKETS.sub("\0", value).split("\0")[::2] if parts else [value]
    parts += [part for piece in rest for part in re.split(r"[,，]", piece)]
    return tuple(dict.fromkeys(name for part in parts if (name := part.strip().lstrip("#").strip())))


def tags_of_properties(properties: Mapping[str, str]) -> tuple[str, ...]:
    """What the property `tags` lists."""
    return tuple(tag for name, value in properties.items() if name.lower() == "tags" for tag in listed(value))


def shown_properties(properties: Mapping[str, str]) -> dict[str, FieldValue]:
    """Properties as fields, links in them by their names."""
    return {name: _BRACKETS.sub("", value).strip() for name, value in properties.items() if name.lower() != "tags"}
