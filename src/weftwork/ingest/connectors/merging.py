"""Merging the plain blocks of an outline into the text of the nearest node above them.

Plain blocks become a nested list. A node of its own ends the text of the one above it: plain blocks that follow it are
a node of the type `paragraph`, so that the nodes in reading order say what the outline says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from weftwork.ingest.connectors.block_ids import BlockNames
from weftwork.ingest.connectors.protocol import Link, Named, NameKind, Yielded
from weftwork.types import ABOUT, IDS, UNSEEN, FieldValue, Node, subject_of

DEEPEST = 64
"""Levels below which nodes stand side by side, and lines of a list too: nobody nests deeper on purpose."""
LONGEST_SUBJECT = 200


@dataclass(slots=True)
class Holder:
    """A node while plain blocks are merged into its text."""

    node: Node
    above: Holder | None = None
    depth: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)
    """Plain blocks, each with its level in the list."""
    names: list[tuple[str, NameKind]] = field(default_factory=list)
    """Its names for links, with the ids of merged blocks."""
    links: list[Link] = field(default_factory=list)
    """Links of its blocks, with any source."""
    tags: dict[str, None] = field(default_factory=dict)
    children: int = 0
    current: Holder | None = None
    """The holder of the next plain block below it: itself, or the paragraph after the last node."""

    def __post_init__(self) -> None:
        """Take plain blocks by itself at first."""
        self.current = self

    def note(self, ids: Iterable[str] = (), links: Iterable[Link] = (), tags: Iterable[str] = ()) -> None:
        """Add the ids, links and tags of a block that is merged into it."""
        self.names += [(block, "id") for block in ids]
        self.links += links
        self.tags.update(dict.fromkeys(tags))

    def date(self, created: datetime | None, updated: datetime | None) -> None:
        """Set the node's update time to the newest of its blocks, and a paragraph's creation to its first."""
        times = [time for time in (self.node.updated_at, updated) if time]
        first = created if self.node.type == "paragraph" else None
        self.node = replace(self.node, created_at=self.node.created_at or first, updated_at=max(times, default=None))

    def fields(self) -> Mapping[str, FieldValue]:
        """The fields of its node, with the ids of its blocks."""
        fields, ids = self.node.fields, tuple(dict.fromkeys(name for name, kind in self.names if kind == "id"))
        unseen = fields.get(UNSEEN)
        return {**fields, IDS: ids, UNSEEN: (*(unseen if isinstance(unseen, tuple) else ()), IDS)} if ids else fields


class Outline:
    """The nodes of a page in reading order."""

    def __init__(self, page: Node) -> None:
        self.page = Holder(page)
        self._holders = [self.page]
        self._names = BlockNames()

    def add(self, above: Holder, node: Node) -> Holder:
        """Append a node below another one."""
        target = above
        target.current = None
        while target.above is not None and target.depth >= DEEPEST:
            target = target.above
            target.current = None
        about = subject_of(above.node.title, above.node.fields)[:LONGEST_SUBJECT]
        placed = replace(node, parent=target.node.id, position=target.children, fields={**node.fields, ABOUT: about})
        holder = Holder(placed, target, target.depth + 1)
        target.children += 1
        self._holders.append(holder)
        return holder

    def merge(self, above: Holder, level: int, text: str) -> Holder:
        """Append a plain block to the list below a node, and return the node whose text holds it."""
        if above.current is None:
            above.current = self.add(above, Node(id="", type="paragraph", source=above.node.source))
        above.current.lines.append((min(level, DEEPEST), text))
        return above.current

    def pieces(self) -> Iterator[Yielded]:
        """Yield the nodes with their names and links."""
        for holder in self._holders:
            text = "\n".join(filter(None, (holder.node.text, nested_list(holder.lines))))
            name = holder.node.id or f"{self.page.node.id}#{self._names.name('paragraph', text)}"
            tags = tuple(dict.fromkeys((*holder.node.tags, *holder.tags)))
            yield replace(holder.node, id=name, text=text, tags=tags, fields=holder.fields())
            yield from (Named(name, *named) for named in dict.fromkeys(holder.names))
            yield from (replace(link, source=name) for link in holder.links)


def nested_list(lines: Sequence[tuple[int, str]]) -> str:
    """Format blocks as a Markdown list with two spaces per level."""
    lowest = min((level for level, _ in lines), default=0)
    return "\n".join(_item(level - lowest, text) for level, text in lines)


def _item(level: int, text: str) -> str:
    first, *others = text.split("\n")
    margin = "  " * level
    return "\n".join((f"{margin}- {first}", *(f"{margin}  {line}" if line.strip() else "" for line in others)))
