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
from weftwork.render import explain, to_dict
from weftwork.render.builtin import BUILTIN
from weftwork.score.profiles import PROFILES
from weftwork.server.output_cap import OutputCap
from weftwork.server.overview import overview
from weftwork.server.tools import McpTools
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
SECRETS = ("quokka", "obelisk", "Zephyr Plan", "marzipan vault", "MVK")
"""Words and titles that stand in hidden nodes alone."""
FILLING = (
    "anchor winch sluice gate basin pontoon crane hoist bollard fender quay tide ledger pilot beacon buoy mast rigging "
    "keel rudder galley cargo manifest customs berth mooring dredger silt lock weir"
).split()
PROBES = (*SECRETS, "quoka", "obelsk plan", "quok*", "[[Zephyr Plan]]", "what is MVK?", "notes/quokka.md", "marzipan")
RECIPES = ("default", "graph", "memory", "thread", "workspace", "conversation")
FILLED = (0, 42, 60)
"""Notes that everybody sees: below fifty nothing is known of the support of a question."""
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
    made: int = 0

    @classmethod
    def make(cls, seed: int, stores: Callable[[], tuple[Store, Store]]) -> Pair:
        """Make both alike."""
        plan = planned(Random(seed), SIZE, 4)
        # By words alone there is a support for each question; what the cosines of this embedder mean nobody knows.
        tools = Tools(CharacterCounter(), None if seed // len(FILLED) % 2 else EMBEDDER)
        wefts = [Weft(store, tools, clock=lambda: NOW) for store in stores()]
        bare, full = (World(weft, "pair", plan) for weft in wefts)
        threads = []
        notes = filling(Random(seed), FILLED[seed % len(FILLED)])
        for world in (bare, full):
            world.weft.add(notes, workspace="pair")
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
                batch.give_feedback(ROOT, node.id, rng.random() < 0.5, NOW, COMMON)
                batch.count_use(OTHER, [node.id] * rng.randrange(1, 9))
            batch.give_feedback(OTHER, rng.choice(sorted(map(name, self.full.specs))), True, NOW, COMMON)
            batch.mark("imports", {f"hidden-{rng.random()}": "1"})
        self._speak()

    def _add_hidden(self) -> None:
        rng, world = self.random, self.full
        self.made = self.made + 100
        nodes = [
            self._varied(twin(world, self.made + number, rng.randrange(SIZE), rng.choice(OUTSIDE)))
            for number in range(rng.choice((1, 2, 3, 4, 40)))
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
        kind = rng.randrange(9)
        if kind >= 6:
            words = " ".join(rng.choices((*SECRETS, *FILLING), k=rng.randrange(3, 30)))
            title, source = rng.choice((*SECRETS, node.title)), rng.choice(("notes/quokka.md", node.source))
            return replace(node, title=title, source=source, text=f"The Marzipan Vault Keeper (MVK): {words}")
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


def filling(random: Random, count: int) -> list[Node]:
    """Notes that everybody sees, about what nothing else is about."""
    return [
        Node(
            id=f"filling-{number}",
            type="page",
            title=" ".join(random.sample(FILLING, 2)),
            text=" ".join(random.choices(FILLING, k=random.randrange(6, 40))),
            access=frozenset({"*"}),
            created_at=NOW - timedelta(days=number),
            updated_at=NOW - timedelta(days=number),
        )
        for number in range(count)
    ]


def query(random: Random) -> str:
    """A random question, of what is there, hidden or nowhere."""
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(PROBES)
    if kind == 1:
        return f"which {random.choice(FILLING)} is at the {random.choice((*FILLING, *PROBES))}?"
    return QUERIES[random.choice(sorted(QUERIES))](random.randrange(SIZE))


def drawn(random: Random) -> Ask:
    """A random request."""
    some = random.choice
    number = random.randrange(SIZE)
    return Ask(
        query=query(random),
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
        *usual(weft, random),
    ]
    kind = random.randrange(6)
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
    elif kind == 4:
        calls.append(lambda: weft.feedback(name(number), number % 2 == 0, query=ask.query, **where))
    else:
        calls.append(lambda: [replace(each, version=0) for each in weft.receipts.list(**where)])
    return [*told, *(answer(call) for call in calls)]


def usual(weft: Weft, random: Random) -> list[Callable[[], object]]:
    """What a user asks through the surfaces, by recipes as they come."""
    where: dict[str, Any] = {"user": USER, "workspace": "pair"}
    asked, recipe, budget = query(random), random.choice(RECIPES), random.choice((200, 800, 3000))
    tools = McpTools(weft, workspace="pair", user=USER, cap=OutputCap(weft.tools.counter, 10_000))
    tool = random.choice(("weftwork_context", "weftwork_explain", "weftwork_search"))
    probe = random.choice((asked, "hidden-101", "Zephyr Plan", "filling-3"))

    def context() -> object:
        built = weft.context(asked, budget=budget, recipe=recipe, **where)
        return {**to_dict(built), "account": explain(built), "ended": built.ended, "support": built.support}

    return [
        context,
        lambda: overview(weft, USER, "pair"),
        lambda: tools.call(tool, {"query": asked}).text,
        lambda: weft.read(probe, **where),
        lambda: weft.node(probe, **where),
    ]


def answer(call: Callable[[], object]) -> str:
    """The answer to a call as text, or the error."""
    try:
        return json.dumps(encode(call()), sort_keys=True, default=repr)
    except WeftError as error:
        return f"{type(error).__name__}: {error}"
