"""The passages of a document in reading order, and the surroundings of each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from weftwork.types import PAGE, Form, Outline, OutlineNode

TURNS = frozenset({"message"})
"""Types that are said one after the other."""
LISTED = frozenset({"list_item", "todo", "block"})
"""Types that stand in lists."""
ROWS = frozenset({"db_row", "row"})
"""Types that stand in tables."""
TURNS_AROUND = 2
LEAD_IN = 80
"""The most tokens of the lead-in of a list that come with an item."""
NESTED = 200
"""The most tokens of nested items, or of an item beside, that come with an item; longer ones stand by themselves."""
SHORT = 700
"""Tokens up to which a document is short enough to be offered whole without being asked for."""

Surroundings: TypeAlias = tuple[Form, tuple[int, ...], int]
"""The form of a part of a document, its passages, and the stored token counts of these together."""


@dataclass(slots=True)
class Reading:
    """A document as it is read: its nodes one after the other, each with its passages."""

    outline: Outline
    keys: list[int] = field(default_factory=list)
    """All passages, in reading order."""
    tokens: dict[int, int] = field(default_factory=dict)
    place: dict[int, int] = field(default_factory=dict)
    """The index in `keys` of a passage."""
    owner: dict[int, int] = field(default_factory=dict)
    """The position of the node that a passage belongs to."""
    position: dict[str, int] = field(default_factory=dict)
    """The position of a node by its id."""
    ends: list[int] = field(default_factory=list)
    """For each node, the position after the last one below it."""
    parents: list[int | None] = field(default_factory=list)
    """For each node, the position of its parent."""
    nodes: tuple[OutlineNode, ...] = ()
    """The nodes of the outline."""
    costs: dict[int, int] = field(default_factory=dict)
    """About the tokens of a passage as it is shown, with the title that stands before it."""
    saying: set[int] = field(default_factory=set)
    """The passages with text, or with a title that does not stand in a heading anyway."""
    _around: dict[int, tuple[Surroundings, ...]] = field(default_factory=dict)
    _said: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    _growing: dict[tuple[int, int, int], tuple[Surroundings, ...]] = field(default_factory=dict)
    _headings: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, outline: Outline) -> Reading:
        """The reading of an outline, worked out once for all requests."""
        reading = outline.derived.get(cls)
        if reading is None:
            reading = outline.derived[cls] = cls(outline)
        return cast(Reading, reading)

    def __post_init__(self) -> None:
        self.nodes = nodes = self.outline.nodes
        open_: list[int] = []
        self.ends = [len(nodes)] * len(nodes)
        for position, node in enumerate(nodes):
            self.position[node.id] = position
            while open_ and nodes[open_[-1]].depth >= node.depth:
                self.ends[open_.pop()] = position
            self.parents.append(open_[-1] if open_ else None)
            open_.append(position)
            titled = position > 0 and node.type != "heading"
            for key, tokens in zip(node.keys, node.tokens, strict=True):
                self.owner[key] = position
                self.costs[key] = tokens
                if titled or tokens > 0:
                    self.saying.add(key)
            if node.depth and node.title and node.keys:
                self.costs[node.keys[0]] += title_tokens(node)
            self.keys += node.keys
            self.tokens.update(zip(node.keys, node.tokens, strict=True))
        self.place = {key: place for place, key in enumerate(self.keys)}

    def node_of(self, key: int) -> OutlineNode:
        """The node that a passage belongs to."""
        return self.nodes[self.owner[key]]

    def says(self, key: int) -> bool:
        """Return True if a passage has text, or a title that does not stand in a heading anyway."""
        return key in self.saying

    def said(self, keys: tuple[int, ...]) -> tuple[int, ...]:
        """The passages among these that say something; worked out once, as `around` gives the same ones again."""
        said = self._said.get(keys)
        if said is None:
            said = self._said[keys] = tuple(key for key in keys if key in self.saying)
        return said

    def beginning(self, key: int) -> int:
        """The passage itself, or of a bare title the first words below it, if there are any."""
        if self.says(key) or self.node_of(key).keys[-1] != key:
            return key
        return next((other for other in self.below(self.owner[key]) if self.says(other)), key)

    def cost(self, keys: Iterable[int]) -> int:
        """The stored token counts of these passages together."""
        return sum(map(self.tokens.__getitem__, keys))

    def below(self, position: int, levels: int | None = None) -> list[int]:
        """The passages of a node and of all below it, or of as many levels."""
        nodes = self.nodes[position : self.ends[position]]
        deepest = None if levels is None else nodes[0].depth + levels
        return [key for node in nodes if deepest is None or node.depth <= deepest for key in node.keys]

    def above(self, position: int) -> Iterator[int]:
        """The positions of the nodes that one stands in, the nearest first; the document itself is the last."""
        parent = self.parents[position]
        while parent is not None:
            yield parent
            parent = self.parents[parent]

    def headings(self, position: int) -> list[int]:
        """The positions of the headings above a node and of itself, if it is one, the outermost first."""
        headings = self._headings.get(position)
        if headings is None:
            chain = [position, *self.above(position)]
            headings = [ancestor for ancestor in reversed(chain) if self.nodes[ancestor].type == "heading"]
            self._headings[position] = headings
        return headings

    def around(self, key: int) -> tuple[Surroundings, ...]:
        """The surroundings of a passage: its window, its section, and the whole of a short document."""
        around = self._around.get(key)
        if around is None:
            parts: list[tuple[Form, list[int]]] = [("window", self.window(key)), ("section", self.section(key))]
            if self.cost(self.keys) <= SHORT:
                parts.append(("whole", self.keys))
            around = tuple((form, tuple(keys), self.cost(keys)) for form, keys in parts)
            self._around[key] = around
        return around

    def growing(self, key: int, first: int, most: int) -> tuple[Surroundings, ...]:
        """The surroundings of a passage of at most so many tokens, each with what it has beyond those before it."""
        growing = self._growing.get((key, first, most))
        if growing is None:
            covered, parts = {first}, []
            for form, keys, tokens in self.around(key):
                new = tuple(other for other in keys if other in self.saying and other not in covered)
                if new and tokens <= most:
                    covered.update(new)
                    parts.append((form, new, tokens))
            growing = self._growing[key, first, most] = tuple(parts)
        return growing

    def section(self, key: int) -> list[int]:
        """The section of a passage: from its heading, or the start of its page, to the next heading."""
        start = self.owner[key]
        chain = (start, *self.above(start))
        first = next((ancestor for ancestor in chain if self._is_headed(ancestor)), chain[-1])
        keys = list(self.nodes[first].keys)
        for position in range(first + 1, self.ends[first]):
            if self._is_headed(position):
                break
            keys += self.nodes[position].keys
        return keys

    def _is_headed(self, position: int) -> bool:
        """Return True if a section begins at a node: a heading, a page, or a titled text."""
        node = self.nodes[position]
        return node.type in ("heading", PAGE) or (bool(node.title) and node.type not in LISTED | TURNS | ROWS)

    def window(self, key: int) -> list[int]:
        """A passage with what it cannot be understood without, in reading order."""
        position = self.owner[key]
        node = self.nodes[position]
        if node.type in TURNS:
            return self._turns_around(position)
        place = self.place[key]
        near = self.keys[max(0, place - 1) : place + 2]
        keys = {other for other in near if self.owner[other] == position}
        if node.type in LISTED:
            keys |= self._list_around(position)
        elif node.type == "code" and position > 0:
            keys |= set(self.nodes[position - 1].keys[-1:])
        return sorted(keys, key=self.place.__getitem__)

    def _turns_around(self, position: int) -> list[int]:
        """A turn with the turns just before and after it."""
        depth = self.nodes[position].depth
        keys = list(self.nodes[position].keys)
        for step in (-1, 1):
            place, count = position + step, 0
            while 0 < place < len(self.nodes) and count < TURNS_AROUND and self.nodes[place].depth == depth:
                keys += self.nodes[place].keys
                place, count = place + step, count + 1
        return sorted(keys, key=self.place.__getitem__)

    def _list_around(self, position: int) -> set[int]:
        """The lead-in of a list item, the items before and after it, and what is nested below it."""
        keys: set[int] = set()
        parent = next(self.above(position), 0)
        lead = list(self.nodes[parent].keys)
        if self.cost(lead) <= LEAD_IN:
            keys |= set(lead)
        nested = self.below(position)
        if self.cost(nested) <= NESTED:
            keys |= set(nested)
        depth = self.nodes[position].depth
        before = next(
            (sibling for sibling in range(position - 1, parent, -1) if self.nodes[sibling].depth == depth), None
        )
        after = self.ends[position]
        beside = [] if before is None else [before]
        if after < len(self.nodes) and self.nodes[after].depth == depth:
            beside.append(after)
        for sibling in beside:
            if self.nodes[sibling].type in LISTED and self.cost(self.nodes[sibling].keys) <= NESTED:
                keys |= set(self.nodes[sibling].keys)
        return keys


def title_tokens(node: OutlineNode) -> int:
    """Tokens of a node's title before its first passage; the document's stands in the heading."""
    return 2 + len(node.title) // 4
