"""Random workspaces in which every word gives away the node that it comes from, and who may see which.

Who may see what is worked out here a second time, by plain recursion over a dictionary, and shares nothing
with the store.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b
from itertools import product
from random import Random
from typing import Literal

from hypothesis import strategies as st

from weftwork import Edge, Node, Weft
from weftwork.store.contract.kit import NOW

ROOT = "root"
"""Stands on every list: the user with all rights, who fills the caches first."""
PEOPLE = ("ben", "cleo")
GROUPS = ("red", "blue")
PRINCIPALS = (*PEOPLE, *(f"group:{group}" for group in GROUPS), "*")
SIZE = 12
EDGE_TYPES = ("reference", "relation", "field")
KINDS = ("id", "title", "text", "tag", "field", "value", "source", "type", "conversation")

MARKER = re.compile(r"zk[0-9a-f]{8}q")
COMMON = "harbour lantern"
TEXTS = ("harbour lantern", "harbour lantern mirror", " ".join(f"harbour lantern plank{n}" for n in range(30)))
"""Words that nodes share, so that they compete for ranks and budgets; the longest ones are near-duplicates."""


def marker(kind: str, *numbers: int) -> str:
    """A word that stands in one place of one node only, and resembles no other."""
    return f"zk{blake2b(repr((kind, numbers)).encode(), digest_size=4).hexdigest()}q"


ABSENT = marker("id", -1)


def name(number: int) -> str:
    """The id of a node."""
    return marker("id", number)


@dataclass(frozen=True)
class Spec:
    """Where a node hangs, and whom it admits itself."""

    parent: int | None = None
    own: frozenset[str] | None = None
    owner: str | None = None
    text: int = 0
    plain: bool = True

    def node(self, number: int) -> Node:
        """The node with a marker in each of its places."""
        return Node(
            id=name(number),
            type="page" if self.plain else marker("type", number),
            title=marker("title", number),
            text=f"{marker('text', number)} {TEXTS[self.text]}",
            parent=None if self.parent is None else name(self.parent),
            position=number,
            tags=("shared", marker("tag", number)),
            fields={marker("field", number): marker("value", number), "due": f"2026-03-{number + 1:02}"},
            source=f"notes/{marker('source', number)}.md",
            conversation=marker("conversation", number),
            created_at=NOW - timedelta(days=number),
            updated_at=NOW - timedelta(hours=number),
            owner=self.owner,
            access=self.own,
        )


@dataclass(frozen=True)
class Link:
    """An edge between two nodes; its label gives away both."""

    source: int
    target: int
    type: str

    @property
    def label(self) -> str:
        return marker("label", self.source, self.target)

    def edge(self) -> Edge:
        """The edge itself."""
        return Edge(source=name(self.source), target=name(self.target), type=self.type, label=self.label)


@dataclass(frozen=True)
class Plan:
    """A workspace at its start, and what happens to it."""

    default: frozenset[str]
    groups: dict[str, tuple[str, ...]]
    specs: tuple[Spec, ...]
    links: tuple[Link, ...]
    actions: tuple[tuple, ...]
    busy: bool = False
    """Whether everybody has looked at and changed everything, before it was hidden from them."""


class World:
    """A workspace in a store, beside the oracle's own account of it."""

    def __init__(self, weft: Weft, workspace: str, plan: Plan, *, batch: int = SIZE) -> None:
        self.weft = weft
        self.workspace = workspace
        self.default = plan.default
        self.groups: dict[str, tuple[str, ...]] = {ROOT: ()}
        self.specs: dict[int, Spec] = dict(enumerate(plan.specs))
        self.links: set[Link] = set(plan.links)
        self.removed: dict[int, frozenset[str]] = {}
        weft.create_workspace(workspace, owner=ROOT, access=plan.default)
        for user, groups in plan.groups.items():
            self.join(user, groups)
        nodes = [spec.node(number) for number, spec in self.specs.items()]
        edges = [link.edge() for link in plan.links]
        for start in range(0, len(nodes), batch):
            weft.add(nodes[start : start + batch], workspace=workspace)
        for start in range(0, len(edges), batch):
            weft.add([], edges[start : start + batch], workspace=workspace)
        if plan.busy:
            with weft.atomic(workspace) as writes:
                for user, number in product(self.groups, self.specs):
                    writes.record(user, name(number), "edit" if number % 2 else "view", NOW - timedelta(hours=number))
                    writes.give_feedback(user, name(number), number % 3 > 0, NOW)
                    writes.count_use(user, [name(number)])

    def __enter__(self) -> World:
        return self

    def __exit__(self, *error: object) -> None:
        self.weft.store.drop_workspace(self.workspace)

    def admitted(self, number: int) -> frozenset[str]:
        """Whom a node admits: by its own list, or else as its parent does; and its owner."""
        spec = self.specs[number]
        inherited = self.default if spec.parent is None else self.admitted(spec.parent)
        return (inherited if spec.own is None else spec.own) | ({spec.owner} if spec.owner else set())

    def belongs(self, user: str, principals: frozenset[str]) -> bool:
        """Whether a list admits a user."""
        return bool(principals & {user, "*", *(f"group:{group}" for group in self.groups[user])})

    def visible(self, user: str) -> set[int]:
        """The nodes that a user may see."""
        return {number for number in self.specs if self.belongs(user, self.admitted(number))}

    def visible_links(self, user: str) -> set[Link]:
        """The edges of which a user may see both ends."""
        seen = self.visible(user)
        return {link for link in self.links if {link.source, link.target} <= seen}

    def secrets(self, user: str) -> set[str]:
        """Every marker that this user must not meet."""
        seen = self.visible(user)
        hidden = set(range(SIZE)) - seen
        words = {marker(kind, number) for number in hidden for kind in KINDS}
        words |= {link.label for link in self.links - self.visible_links(user)}
        # The change log may say that something is gone to those who could see it until then.
        return words - {name(number) for number, was in self.removed.items() if self.belongs(user, was)}

    def above(self, user: str, number: int) -> list[int]:
        """The ancestors of a visible node, from the nearest upwards, before the first that is hidden."""
        seen, found = self.visible(user), []
        while (number := self.specs[number].parent) in seen:
            found.append(number)
        return found

    def around(self, user: str, number: int, count: int) -> list[int]:
        """The visible siblings of a visible node under a visible parent: those before it, then those after it."""
        parent = self.specs[number].parent
        if parent not in self.visible(user):
            return []
        others = [each for each in self.under(user, parent) if each != number]
        before = [each for each in reversed(others) if each < number]
        return before[:count] + [each for each in others if each > number][:count]

    def under(self, user: str, number: int) -> list[int]:
        """The visible children of a node in their order."""
        return [each for each in sorted(self.visible(user)) if self.specs[each].parent == number]

    def below(self, number: int) -> set[int]:
        """A node and everything under it."""
        found = {number}
        while more := {child for child, spec in self.specs.items() if spec.parent in found} - found:
            found |= more
        return found

    def do(self, action: tuple) -> None:
        """Carry out one action, unless what it is about is not there."""
        verb, *rest = action
        getattr(self, verb)(*rest)

    def join(self, user: str, groups: tuple[str, ...]) -> None:
        self.groups[user] = groups
        self.weft.add_user(user, groups=groups, workspace=self.workspace)

    def place(self, number: int, spec: Spec) -> None:
        """Insert or replace a node; an id that was removed is not used again."""
        if number in self.removed:
            return
        if spec.parent not in self.specs or (number in self.specs and spec.parent in self.below(number)):
            spec = replace(spec, parent=None)
        self.specs[number] = spec
        self.weft.add([spec.node(number)], workspace=self.workspace)

    def move(self, number: int, parent: int | None) -> None:
        if number in self.specs and parent in {None, *self.specs} - self.below(number):
            self.specs[number] = replace(self.specs[number], parent=parent)
            with self.weft.atomic(self.workspace) as batch:
                batch.move(name(number), None if parent is None else name(parent), number)

    def admit(self, number: int, own: frozenset[str] | None) -> None:
        if number in self.specs:
            self.specs[number] = replace(self.specs[number], own=own)
            with self.weft.atomic(self.workspace) as batch:
                batch.set_access(name(number), own)

    def remove(self, number: int) -> None:
        if number in self.specs:
            gone = self.below(number)
            self.removed |= {each: self.admitted(each) for each in gone}
            self.specs = {each: spec for each, spec in self.specs.items() if each not in gone}
            self.links = {link for link in self.links if not gone & {link.source, link.target}}
            assert self.weft.remove([name(number)], workspace=self.workspace) == len(gone)

    def link(self, link: Link) -> None:
        if {link.source, link.target} <= self.specs.keys():
            self.links.add(link)
            with self.weft.atomic(self.workspace) as batch:
                batch.link([link.edge()])

    def unlink(self, link: Link) -> None:
        self.links.discard(link)
        with self.weft.atomic(self.workspace) as batch:
            batch.unlink([link.edge()])

    def touch(self, user: str, number: int, kind: Literal["view", "edit"]) -> None:
        if number in self.specs:
            with self.weft.atomic(self.workspace) as batch:
                batch.record(user, name(number), kind, NOW - timedelta(minutes=number))
                batch.count_use(user, [name(number)])

    def judge(self, user: str, number: int, useful: bool) -> None:
        if number in self.specs:
            with self.weft.atomic(self.workspace) as batch:
                batch.give_feedback(user, name(number), useful, NOW)


numbers = st.integers(0, SIZE - 1)


class Chance:
    """Draws the parts of a plan.

    Hypothesis draws the sizes and the seed: drawn piece by piece, most trees were flat or copies of each other,
    and one in fifty changes of a list reached a child.
    """

    def __init__(self, random: Random, count: int) -> None:
        self.random = random
        self.count = count

    def known(self) -> int:
        return self.random.randrange(self.count)

    def principals(self) -> frozenset[str]:
        return frozenset({ROOT, *self.random.sample(PRINCIPALS, self.random.choice((0, 1, 1, 2)))})

    def own(self) -> frozenset[str] | None:
        return self.random.choice((None, None, None, self.principals(), self.principals()))

    def parent(self, count: int) -> int | None:
        return self.random.randrange(count) if count and self.random.random() < 0.8 else None

    def groups(self) -> tuple[str, ...]:
        return self.random.choice(((), ("red",), ("blue",), GROUPS))

    def link(self) -> Link:
        return Link(self.known(), self.known(), self.random.choice(EDGE_TYPES))

    def spec(self, parent: int | None) -> Spec:
        return Spec(
            parent=parent,
            own=self.own(),
            owner=self.random.choice((None, None, None, *PEOPLE)),
            text=self.random.randrange(len(TEXTS)),
            plain=self.random.random() < 0.5,
        )

    def action(self) -> tuple:
        """Something that happens; most of it changes who may see what."""
        draw, user = self.random, self.random.choice((ROOT, *PEOPLE))
        return draw.choice(
            (
                ("admit", self.known(), self.own()),
                ("move", self.known(), self.parent(self.count)),
                ("join", draw.choice(PEOPLE), self.groups()),
                ("place", draw.randrange(SIZE), self.spec(self.parent(self.count))),
                ("remove", self.known()),
                (draw.choice(("link", "unlink")), self.link()),
                ("touch", user, self.known(), draw.choice(("view", "edit"))),
                ("judge", user, self.known(), draw.random() < 0.5),
            )
        )


def planned(random: Random, count: int, steps: int) -> Plan:
    """A tree of so many nodes with lists, owners, groups and edges, and so many things that happen to it."""
    chance = Chance(random, count)
    return Plan(
        default=chance.principals(),
        groups={person: chance.groups() for person in PEOPLE},
        specs=tuple(chance.spec(chance.parent(number)) for number in range(count)),
        links=tuple(dict.fromkeys(chance.link() for _ in range(random.randrange(10)))),
        actions=tuple(chance.action() for _ in range(steps)),
        busy=random.random() < 0.5,
    )


def plans(most: int = 8) -> st.SearchStrategy[Plan]:
    """Workspaces of up to twelve nodes, to which up to so many things happen."""
    counts, steps = st.integers(1, SIZE) | st.just(SIZE), st.integers(0, most) | st.just(most)
    return st.builds(planned, st.randoms(use_true_random=True), counts, steps)
