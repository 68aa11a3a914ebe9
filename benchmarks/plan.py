"""What stands in a workspace: nodes and edges in the order in which they can be written."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from benchmarks.corpus import Document
from benchmarks.people import ACCESS, ME, may_see
from weftwork import Edge, Node
from weftwork.text.split import spans

PAGES_PER_FOLDER = 12
TAGS = """research draft review archived urgent reading idea meeting decision howto reference python database
    aerodynamics medicine library history music biography tooling security testing writing startup""".split()
REFERRED = 3
"""Pages that each thread refers to."""
STATES = ("open", "in progress", "done", "blocked")


@dataclass(frozen=True, slots=True)
class Portion:
    """Nodes with the edges that can be written with them."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()

    def __add__(self, other: Portion) -> Portion:
        return Portion(self.nodes + other.nodes, self.edges + other.edges)

    @property
    def passages(self) -> int:
        """How many passages its nodes will be split into."""
        return sum(map(_passages, self.nodes))


class Planner:
    """Plans a workspace and remembers what was planned."""

    def __init__(self, documents: Iterator[Document], rng: random.Random, now: datetime) -> None:
        self._documents = documents
        self._rng = rng
        self._now = now
        self._folders: dict[str, tuple[str, int]] = {}
        self._made = 0
        self._pages: list[str] = []
        self.passages = 0
        self.visible: list[str] = []
        """Pages and blocks that the measured user may see."""
        self.threads: list[str] = []

    def pages(self, wanted: int) -> Iterator[Portion]:
        """Page after page, with the folders that they need, until there are so many passages."""
        while self.passages < wanted:
            yield self._counted(self._page(next(self._documents), wanted - self.passages))

    def talk(self, said: Sequence[str], threads: int, messages: int, memories: int) -> Iterator[Portion]:
        """Threads with messages and the memories of the measured user."""
        lines = iter([*said] * (1 + (threads * messages + memories) // len(said)))
        for number in range(threads):
            name = f"thread-{number}"
            self.threads.append(name)
            nodes = [self._node(name, "thread", f"Conversation {number + 1}", access=frozenset({ME}))]
            for position in range(messages):
                nodes.append(self._message(name, position, next(lines)))
            yield self._counted(Portion(tuple(nodes)))
        for number in range(memories):
            confidence = round(self._rng.uniform(0.4, 1.0), 2)
            text = f"{ME} asked: {next(lines)}"
            node = self._node(f"memory-{number}", "memory", text=text, confidence=confidence, access=frozenset({ME}))
            yield self._counted(Portion((node,)))

    def _message(self, thread: str, position: int, text: str) -> Node:
        role = ("user", "assistant")[position % 2]
        node = self._node(f"{thread}-{position}", "message", role, text=text, parent=thread, position=position)
        at = self._now - timedelta(minutes=10 * (100 - position))
        return replace(node, conversation=thread, created_at=at, updated_at=at)

    def _counted(self, portion: Portion) -> Portion:
        self.passages += portion.passages
        return portion

    def _page(self, document: Document, room: int) -> Portion:
        above, folder = self._folder(document.origin)
        number = len(self._pages)
        name = f"page-{number}"
        page = self._node(
            name, "page", document.title, parent=folder, position=number, source=f"{document.origin}/{number}.md",
            tags=tuple(sorted({self._rng.choice(TAGS) for _ in range(3)})),
            fields={"state": self._rng.choice(STATES), "year": self._rng.randint(2019, 2026), "set": document.origin},
        )  # fmt: skip
        room -= sum(map(_passages, above)) + 1
        blocks = []
        for position, text in enumerate(document.paragraphs):
            block = self._block(f"{name}-{position}", text, name, position)
            if (size := _passages(block)) <= room:
                blocks.append(block)
                room -= size
        if may_see(ACCESS[self._folder_number(folder)]):
            self.visible += [name, *(block.id for block in blocks)]
        edges = tuple(self._links(name, number))
        self._pages.append(name)
        return Portion((*above, page, *blocks), edges)

    def _block(self, name: str, text: str, page: str, position: int) -> Node:
        kind = "todo" if self._rng.random() < 0.05 else "block"
        return self._node(name, kind, text=text, parent=page, position=position)

    def _links(self, name: str, number: int) -> Iterator[Edge]:
        """A few references to near pages, some to old ones that become hubs, now and then a relation."""
        if number < REFERRED * len(self.threads):
            yield Edge(source=self.threads[number % len(self.threads)], target=name)
        near = [number - self._rng.randint(1, 2 * PAGES_PER_FOLDER) for _ in range(self._rng.randint(0, 4))]
        far = [int(number * self._rng.random() ** 4) for _ in range(self._rng.randint(0, 2))]
        for target in sorted({each for each in near + far if 0 <= each < number}):
            related = self._rng.random() < 0.1
            yield Edge(source=name, target=self._pages[target], type="relation" if related else "reference")

    def _folder(self, origin: str) -> tuple[tuple[Node, ...], str]:
        """The folder for the next page of a data set, and the nodes that have to be made for it."""
        name, pages = self._folders.get(origin, ("", PAGES_PER_FOLDER))
        made: tuple[Node, ...] = ()
        if pages == PAGES_PER_FOLDER:
            if not name:
                made = (self._node(f"area-{origin}", "folder", origin.replace("_", " ")),)
            name, pages = f"folder-{self._made}", 0
            title, access = f"{origin.replace('_', ' ')} {self._made}", ACCESS[self._folder_number(name)]
            made += (self._node(name, "folder", title, parent=f"area-{origin}", position=self._made, access=access),)
            self._made += 1
        self._folders[origin] = (name, pages + 1)
        return made, name

    @staticmethod
    def _folder_number(folder: str) -> int:
        return int(folder.removeprefix("folder-")) % len(ACCESS)

    def _node(self, name: str, kind: str, title: str = "", **more: Any) -> Node:
        age = timedelta(minutes=int(self._rng.expovariate(1 / (120 * 24 * 60))))
        changed = self._now - age
        created = changed - timedelta(days=self._rng.randint(0, 90))
        return Node(id=name, type=kind, title=title, created_at=created, updated_at=changed, **more)


def _passages(node: Node) -> int:
    return len(spans(node.text))
