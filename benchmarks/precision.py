"""Precision of the workspace face: the share of the items that it gives that help with the request.

`questions/workspace.jsonl` has 60 requests to real vaults and a real export: the three flows of the workspace contract
with its budgets (`summary` of a page, `tasks` in a chat, `breakdown` of a task), commands that point at a block
(`pointing`), and questions in a chat (`question`). Beside each stand the items that were judged, as the file and the
title or first words of the block: `relevant`, or `not`. They were judged one by one, in an order that says nothing
about score, section or whether the face or the floor had brought them.

An item is relevant if somebody who had to do what is asked would want it on their desk. What is only in the same
folder, shares a word, or answers another question is not. An excerpt is relevant if any block that it shows is.

  precision          relevant items in percent of those judged, for all items of all requests
  of_tokens          the share of the text that is relevant, in percent of the tokens of judged items
  first_precision    of the five items of a request with the highest relevance alone
  beside_focus       the same as precision, without the section of the focus, which is relevant nearly by definition
  by_half            precision of the requests that settings may be fitted to, and of those that check them
  unjudged           items that nobody judged, in percent: above a few, judge again with --unjudged
  floor_precision    of the first five items of BM25 over the sections of the same pages, asked for the words of the
                     request and the title of the focus: to be compared with first_precision
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.context_sets import USER, built, open_set
from benchmarks.corpus import data_folder
from benchmarks.floors import Floors, Piece, sections
from benchmarks.timing import say
from benchmarks.vaults import QUESTIONS, VAULTS, read_vault
from weftwork import Weft
from weftwork.embed import get_embedder
from weftwork.faces.workspace import ContextBuilder, ContextHints, ContextRequest, Focus, TokenBudget, User
from weftwork.ingest.connectors.registry import recognise
from weftwork.ingest.follow import follow
from weftwork.types import Filters, Node

FILE = QUESTIONS / "workspace.jsonl"
SETS = {
    **{name: VAULTS[name] for name in ("kb_blue_book", "kb_logseq_docs", "kb_foam_docs", "kb_kepano")},
    "notion": "export_samples/obsidian-importer/notion/Notion.Test.Export.zip",
}
BUDGETS = {
    "summary": TokenBudget(total=3000, focus=2500, semantic=200, relations=200, activity=0, history=0, system=100),
    "tasks": TokenBudget(total=4000, focus=0, semantic=2500, relations=500, activity=500, history=300, system=200),
    "breakdown": TokenBudget(total=2000, focus=1200, semantic=500, relations=200, activity=0, history=0, system=100),
}
"""Of the contract's flows (8); the other kinds have the configured one."""
HALVES = ("fit", "check")
"""Every other request: settings may be fitted to the first half alone."""
CHATS = ("tasks", "question")
FIRST = 5
"""Items of the floor that are judged for each request: its best."""
WORDS = 6
"""Words of a block without a short title that its key has."""
SNIPPET = 260
NODES = 100_000


@dataclass(frozen=True, slots=True)
class Judged:
    """A request, and its items by whether they help."""

    id: str
    set: str
    flow: str
    query: str
    focus: str = ""
    """The key of a page or a block."""
    relevant: frozenset[str] = frozenset()
    irrelevant: frozenset[str] = frozenset()

    def wants(self, item: Given) -> bool:
        """Return True if a block that the item shows was judged to be relevant."""
        return not self.relevant.isdisjoint((item.key, *item.blocks))


@dataclass(frozen=True, slots=True)
class Given:
    """An item that was given for a request."""

    key: str
    """Of the block that it is shown for."""
    content: str
    blocks: tuple[str, ...] = ()
    """The keys of all blocks that it shows."""
    in_focus: bool = False
    relevance: float = 0.0
    tokens: int = 0


@dataclass
class Tally:
    """Items by what was judged of them."""

    relevant: int = 0
    judged: int = 0
    items: int = 0
    relevant_tokens: int = 0
    judged_tokens: int = 0

    def add(self, items: list[Given], request: Judged) -> None:
        """Count the items of a request."""
        relevant = [item for item in items if request.wants(item)]
        judged = [item for item in items if item in relevant or item.key in request.irrelevant]
        self.items += len(items)
        self.judged += len(judged)
        self.relevant += len(relevant)
        self.judged_tokens += sum(item.tokens for item in judged)
        self.relevant_tokens += sum(item.tokens for item in relevant)

    @property
    def precision(self) -> float:
        """In percent of what was judged."""
        return round(100 * self.relevant / max(1, self.judged), 1)

    @property
    def of_tokens(self) -> float:
        """In percent of the tokens of what was judged."""
        return round(100 * self.relevant_tokens / max(1, self.judged_tokens), 1)

    @property
    def unjudged(self) -> float:
        """In percent of all items."""
        return round(100 * (1 - self.judged / max(1, self.items)), 1)


@dataclass
class Place:
    """A set, its nodes by their keys, and its floor."""

    weft: Weft
    nodes: Mapping[str, Node] = field(init=False)
    keys: Mapping[str, str] = field(init=False)
    """The key of each node."""

    def __post_init__(self) -> None:
        with self.weft.store.view("main", USER) as view:
            ids = [node.id for node in view.select(Filters(), limit=NODES)]
            nodes = {node.id: node for node in view.nodes(ids)}
            self.keys = {name: _key(node, nodes) for name, node in nodes.items()}
        self.nodes = {}
        for name in sorted(nodes):
            self.nodes.setdefault(self.keys[name], nodes[name])

    @cached_property
    def floor(self) -> Floors:
        """BM25 over the sections of all pages."""
        pages = {key: node for key, node in self.nodes.items() if node.type in ("page", "database") and "#" not in key}
        texts = {
            key: self.weft.read(node.id, user=USER, workspace="main", tokens=None, ids=False).text
            for key, node in pages.items()
        }
        pieces = [
            Piece(_short_key(piece.heading), piece.text) for key, text in texts.items() for piece in sections(key, text)
        ]
        embedder = get_embedder("static")
        assert embedder is not None
        return Floors(pieces, embedder, self.weft.tools.counter)

    def given(self, asked: Judged) -> list[Given]:
        """The items of the face, but for the conversation."""
        payload = ContextBuilder(self.weft).build_sync(self._request(asked))
        return [
            Given(
                self.keys.get(item.block_id, item.block_id),
                item.content,
                tuple(self.keys.get(block, block) for block in item.block_ids),
                section.type == "focus",
                item.relevance,
                self.weft.tools.counter.count(item.content),
            )
            for section in payload.sections
            for item in section.items
            if section.type != "history"
        ]

    def first(self, asked: Judged) -> list[Given]:
        """The items of the floor."""
        title = self.nodes[asked.focus].title if asked.focus else ""
        order = self.floor.orders(f"{asked.query} {title}")["bm25"]
        pieces = [self.floor.pieces[number] for number in order]
        best = {piece.heading: Given(piece.heading, piece.text) for piece in reversed(pieces)}
        return [best[name] for name in dict.fromkeys(piece.heading for piece in pieces)][:FIRST]

    def _request(self, asked: Judged) -> ContextRequest:
        focus = None
        if asked.focus:
            node = self.nodes[asked.focus]
            whole = node.type == "page" and asked.flow == "summary"
            focus = Focus(page_id=node.id) if whole else Focus(block_id=node.id)
        return ContextRequest(
            query=asked.query,
            user=User(USER),
            type="chat" if asked.flow in CHATS else "assist",
            focus=focus,
            token_budget=BUDGETS.get(asked.flow),
            hints=ContextHints(prioritize_types=("todo", "kanban_card") if asked.flow == "tasks" else ()),
        )


def measure(path: Path = FILE) -> dict[str, Any]:
    """The figures of all requests, and of each kind."""
    face: dict[str, Tally] = {}
    beside, first, floor = Tally(), Tally(), Tally()
    halves = {name: HALVES[place % 2] for place, name in enumerate(sorted(request.id for request in read(path)))}
    for asked, place in _asked(path):
        items = place.given(asked)
        for name in ("all", asked.flow, halves[asked.id]):
            face.setdefault(name, Tally()).add(items, asked)
        beside.add([item for item in items if not item.in_focus], asked)
        first.add(sorted(items, key=lambda item: -item.relevance)[:FIRST], asked)
        floor.add(place.first(asked), asked)
    everything = face.pop("all")
    by_half = {name: face.pop(name).precision for name in HALVES}
    return {
        "requests": len(read(path)),
        "items": everything.items,
        "precision": everything.precision,
        "of_tokens": everything.of_tokens,
        "first_precision": first.precision,
        "beside_focus": beside.precision,
        "unjudged": everything.unjudged,
        "by_half": by_half,
        "by_kind": {name: tally.precision for name, tally in sorted(face.items())},
        "floor_precision": floor.precision,
        "floor_unjudged": floor.unjudged,
    }


def unjudged(seed: int, path: Path = FILE) -> Iterator[dict[str, Any]]:
    """What has to be judged: for each request its new items, shuffled, with their first words."""
    for asked, place in _asked(path):
        given = (*place.given(asked), *place.first(asked))
        items = {item.key: item.content for item in given if not asked.wants(item)}
        new = sorted(items.keys() - asked.irrelevant)
        random.Random(f"judge/{seed}/{asked.id}").shuffle(new)
        shown = [{"key": key, "begins": " ".join(items[key].split())[:SNIPPET]} for key in new]
        yield {"id": asked.id, "query": asked.query, "focus": asked.focus, "items": shown}


def irrelevant(path: Path = FILE) -> Iterator[tuple[str, str, str]]:
    """The items that the face gives and should not, each with its request."""
    for asked, place in _asked(path):
        for item in place.given(asked):
            if item.key in asked.irrelevant:
                yield asked.id, asked.query, item.key


def read(path: Path = FILE) -> list[Judged]:
    """The requests with their judgements."""
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [
        Judged(
            line["id"], line["set"], line["flow"], line["query"], line.get("focus", ""),
            frozenset(line.get("relevant", ())), frozenset(line.get("not", ())),
        )
        for line in lines
    ]  # fmt: skip


def _asked(path: Path) -> Iterator[tuple[Judged, Place]]:
    """Each request with its place, set by set."""
    requests = read(path)
    for name in dict.fromkeys(request.set for request in requests):
        source = data_folder() / SETS[name]

        def fill(weft: Weft, source: Path = source) -> None:
            follow(weft, source, recognise(source))

        store = built(name if name in VAULTS else f"workspace-{name}", _texts(source), fill)
        with open_set(store) as weft:
            say(f"{name} …")
            place = Place(weft)
            yield from ((request, place) for request in requests if request.set == name)


def _texts(source: Path) -> Iterator[str]:
    """The texts by which a built store is known, for vaults as `contexts` has them."""
    if source.is_file():
        yield source.read_bytes().hex()
    else:
        yield from (text for pair in read_vault(source).items() for text in pair)


def _key(node: Node, nodes: Mapping[str, Node]) -> str:
    """The file or page of a node, and its own title or first words."""
    document, _, block = node.id.partition("#")
    page = document.partition("vault/")[2] or (nodes[document].title if document in nodes else document)
    return _short_key(f"{page} > {node.title or node.text}" if block else page)


def _short_key(name: str) -> str:
    """A key of a piece or a block: not more of its text than a few words."""
    page, _, heading = name.partition(" > ")
    return "#".join(filter(None, (page, " ".join(heading.split()[:WORDS]))))
