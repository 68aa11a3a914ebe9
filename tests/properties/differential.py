"""Two stores that differ only in what a user may not see, and everything that this user gets from either."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any

from weftwork import Edge, Message, Node, Weft, WeftError
from weftwork.context_cache import ContextCache
from weftwork.faces.memory import MEMORY, Memories
from weftwork.pack import PACKERS
from weftwork.render.builtin import BUILTIN
from weftwork.score.profiles import PROFILES
from weftwork.store.contract.kit import NOW
from weftwork.store.protocol import Store
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools
from weftwork.wire import encode

from .asking import QUERIES, Ask
from .sight import EMBEDDER, MODES
from .test_isolation import OUTSIDE, USER, twin
from .world import COMMON, EDGE_TYPES, ROOT, SIZE, Chance, World, name, planned

OTHER = "cleo"
HIDDEN_EDGES = (*EDGE_TYPES, "supersedes", "contradicts", "mention", "child")
ROUNDS = 10
"""Pairs that one world is good for: before each, more is hidden, or hidden things change."""


@dataclass
class Pair:
    """The same world in a store without the hidden things, and in one with them."""

    bare: World
    full: World
    random: Random
    hidden: list[Node]
    threads: tuple[str, str]

    @classmethod
    def make(cls, seed: int, stores: Callable[[], tuple[Store, Store]]) -> Pair:
        """Make both alike."""
        plan = planned(Random(seed), SIZE, 4)
        tools = Tools(CharacterCounter(), EMBEDDER)
        wefts = [Weft(store, tools, clock=lambda: NOW) for store in stores()]
        bare, full = (World(weft, "pair", plan) for weft in wefts)
        threads = []
        for world in (bare, full):
            for action in plan.actions:
                world.do(action)
            world.weft.add_user("dora", groups=["green"], workspace="pair")
            threads.append(world.weft.threads.create("Lanterns", user=USER, workspace="pair").id)
            Memories(world.weft).remember(f"I like the {COMMON}.", user=USER, workspace="pair")
        return cls(bare, full, Random(seed), [], (threads[0], threads[1]))

    def hide(self) -> None:
        """Write into the full store what the user may not see, or change or remove some of it."""
        rng, weft = self.random, self.full.weft
        if self.hidden and rng.random() < 0.25:
            self._disturb()
        else:
            self._add_hidden()
        with weft.atomic("pair") as batch:
            for node in rng.sample(self.hidden, min(3, len(self.hidden))):
                batch.record(ROOT, node.id, rng.choice(("view", "edit")), NOW - timedelta(hours=rng.randrange(50)))
                batch.give_feedback(ROOT, node.id, rng.random() < 0.5, NOW)
                batch.count_use(OTHER, [node.id] * rng.randrange(1, 9))
            batch.mark("imports", {f"hidden-{rng.random()}": "1"})
        self._speak()

    def _add_hidden(self) -> None:
        rng, world = self.random, self.full
        nodes = [
            self._varied(twin(world, len(self.hidden) + number, rng.randrange(SIZE), rng.choice(OUTSIDE)))
            for number in range(rng.randrange(1, 5))
        ]
        self.hidden += nodes
        ends = [node.id for node in self.hidden] + [name(number) for number in world.specs]
        edges = []
        for _ in range(rng.randrange(6)):
            pair = [rng.choice(nodes).id, rng.choice(ends)]
            rng.shuffle(pair)
            if pair[0] != pair[1]:
                weight = rng.choice((0.1, 1.0, 50.0))
                edges.append(Edge(source=pair[0], target=pair[1], type=rng.choice(HIDDEN_EDGES), weight=weight))
        world.weft.add(nodes, edges, workspace="pair")

    def _varied(self, node: Node) -> Node:
        """The same as a memory, a message of a thread, something that is over, or of another origin."""
        rng = self.random
        kind = rng.randrange(6)
        if kind == 0:
            return replace(node, tags=(*node.tags, MEMORY), type=rng.choice(("memory", "preference")), confidence=0.9)
        if kind == 1:
            return replace(node, type="message", fields={**node.fields, "role": "user"})
        if kind == 2:
            moment = NOW + timedelta(minutes=rng.randrange(-90, 90))
            return replace(node, valid_from=rng.choice((None, moment)), valid_until=rng.choice((None, moment)))
        if kind == 3:
            return replace(node, origin=rng.choice(("web", "tool", "upload")), writer=OTHER, owner=OTHER)
        return node

    def _disturb(self) -> None:
        rng, weft = self.random, self.full.weft
        node = rng.choice(self.hidden)
        if rng.random() < 0.5:
            self.hidden = [each for each in self.hidden if each.id != node.id]
            with weft.atomic("pair") as batch:
                # What hangs below goes along, as always: the user's own pages never hang below hidden twins.
                batch.remove([node.id])
            with weft.store.view("pair", ROOT) as view:
                left = {each.id for each in view.nodes([each.id for each in self.hidden])}
            kept = weft.store.unchecked_nodes("pair", [each.id for each in self.hidden])
            assert left <= kept
            self.hidden = [each for each in self.hidden if each.id in kept]
            return
        with weft.atomic("pair") as batch:
            batch.set_access(node.id, rng.choice(OUTSIDE))
            batch.move(node.id, rng.choice([None, *map(name, self.full.specs)]), rng.randrange(-9, 9))

    def _speak(self) -> None:
        """Let another user talk, ask and remember: receipts, earlier contexts, caches."""
        rng, weft = self.random, self.full.weft
        where: dict[str, Any] = {"user": OTHER, "workspace": "pair"}
        kind = rng.randrange(4)
        if kind == 0:
            weft.context(COMMON, budget=300, remember=True, **where)
        elif kind == 1:
            thread = weft.threads.create(f"Lanterns {rng.random()}", **where).id
            weft.turn(thread, f"{COMMON} {rng.random()}", budget=800, **where)
        elif kind == 2:
            Memories(weft).remember(f"I hate the {COMMON} number {rng.randrange(99)}.", **where)
        else:
            weft.search(COMMON, **where)

    def change(self) -> None:
        """Let something happen in both that the user may see."""
        chance = Chance(self.random, SIZE)
        number, spec = self.random.randrange(SIZE), chance.spec(chance.parent(SIZE))
        link, place = chance.link(), self.random.random() < 0.5
        for world in (self.bare, self.full):
            world.place(number, spec) if place else world.link(link)

    def answers(self) -> tuple[list[str], list[str]]:
        """What the user gets from either, for the same random questions; the second time from caches."""
        seed = self.random.random()
        told: list[list[str]] = []
        for world, thread in zip((self.bare, self.full), self.threads, strict=True):
            if self.random.random() < 0.3:
                world.weft.context_cache = ContextCache()
            told.append(received(world, thread, Random(seed)))
        return told[0], told[1]

    def close(self) -> None:
        """Drop both."""
        for world in (self.bare, self.full):
            world.weft.receipts.write_pending()
            world.weft.tools.pool.shutdown()
            world.weft.store.drop_workspace("pair")


def drawn(random: Random) -> Ask:
    """A random request."""
    some = random.choice
    number = random.randrange(SIZE)
    return Ask(
        query=QUERIES[some(sorted(QUERIES))](number),
        budget=some((1, 40, 150, 600, 1200)),
        focus=some((None, None, random.randrange(SIZE))),
        include=tuple(random.sample(range(SIZE), some((0, 0, 1, 2)))),
        exclude=tuple(random.sample(range(SIZE), some((0, 0, 1)))),
        tag=some((None, None, None, number)),
        depth=some((None, 1, 3)),
        edge_types=some(((), (), ("reference", "child"), EDGE_TYPES)),
        said=some(((), ("the lantern is lit",))),
        packer=some(PACKERS),
        template=some(sorted(BUILTIN)),
        profile=some(sorted(PROFILES)),
        lines=random.random() < 0.5,
    )


def received(world: World, thread: str, random: Random) -> list[str]:
    """Everything that the user gets for some random questions, byte by byte."""
    weft = world.weft
    where: dict[str, Any] = {"user": USER, "workspace": "pair"}
    ask, number = drawn(random), random.randrange(SIZE)
    how: dict[str, Any] = {"mode": random.choice(MODES)}
    least, trust = random.choice((None, 0.2, 0.6)), random.choice((None, "own", "workspace", "imported"))
    told = [ask.answer(weft, "pair", USER), ask.answer(weft, "pair", USER)]
    calls: list[Callable[[], object]] = [
        lambda: ask.put_to(weft, "pair", USER, min_support=least, trust=trust).text,
        lambda: [(each.node, each.score, each.excerpt) for each in weft.search(ask.query, **where, **how)],
        lambda: weft.stats(**where),
        lambda: weft.read(name(number), **where),
        lambda: Memories(weft).list(**where),
    ]
    kind = random.randrange(5)
    if kind == 0:
        calls += [
            lambda: weft.turn(thread, ask.query or "and now?", budget=900, **where).messages,
            lambda: weft.threads.messages(thread, **where),
            lambda: weft.threads.list(**where),
        ]
    elif kind == 1:
        calls.append(lambda: Memories(weft).search(COMMON, limit=3, **where))
    elif kind == 2:
        calls.append(lambda: Memories(weft).remember(f"I like the {COMMON} {random.randrange(9)}.", **where))
    elif kind == 3:
        calls.append(lambda: weft.threads.post(thread, Message("user", ask.query or "so"), **where))
    else:
        calls.append(lambda: [replace(each, version=0) for each in weft.receipts.list(**where)])
    return [*told, *(answer(call) for call in calls)]


def answer(call: Callable[[], object]) -> str:
    """The answer to a call as text, or the error."""
    try:
        return json.dumps(encode(call()), sort_keys=True, default=repr)
    except WeftError as error:
        return f"{type(error).__name__}: {error}"
