"""What a user may not see influences nothing that they get: not a score, not an order, not a count."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Edge, Node, Weft
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .asking import Ask, asks
from .sight import EMBEDDER, NAMES, Inventory, about, overall, searches
from .world import COMMON, ROOT, TEXTS, World, name, plans

USER = "ben"
OUTSIDE = [frozenset({ROOT}), frozenset({"cleo"}), frozenset({"group:green"}), frozenset()]
"""Lists that do not admit Ben, whatever red and blue groups he is in."""
WORKSPACES = (f"workspace {number}" for number in itertools.count())


@pytest.fixture(scope="module")
def weft(folder):
    store = SqliteStore(folder / "isolation.weft", clock=lambda: NOW)
    yield Weft(store, Tools(CharacterCounter(), EMBEDDER), clock=lambda: NOW)
    assert store.check() == []
    store.close()


def received(world, requests, inventory):
    """Everything that the user gets, byte by byte."""
    answers = [ask.answer(world.weft, world.workspace, USER) for ask in requests]
    with world.weft.store.view(world.workspace, USER) as view:
        told = [about(view, each, inventory.citation(each)) for each in NAMES], overall(view, inventory)
    return answers, repr(ordered(searches(world, USER))), repr(ordered(told))


def ordered(value):
    """The same with dictionaries as sorted pairs: a database may answer in any order what is looked up by its key."""
    if isinstance(value, dict):
        return sorted((key, ordered(item)) for key, item in value.items())
    return [ordered(item) for item in value] if type(value) in (list, tuple) else value


def twin(world, number, copied, access):
    """A hidden node; it has the words of a visible one where there is one, so that it competes with it."""
    seen = sorted(world.visible(USER))
    like = world.specs[seen[copied % len(seen)]].node(seen[copied % len(seen)]) if seen else None
    parents = [None, *map(name, world.specs)]
    return Node(
        id=f"hidden-{number}",
        type=like.type if like else "page",
        title=like.title if like else "",
        text=like.text if like and copied % 2 else f"{TEXTS[copied % len(TEXTS)]} " * (copied + 1),
        tags=like.tags if like else (),
        fields=like.fields if like else {},
        source=like.source if like else "",
        parent=parents[copied % len(parents)],
        position=copied,
        updated_at=NOW,
        access=access,
    )


def knotted(world, nodes, pairs):
    """Edges between the hidden nodes and any nodes."""
    ends = [node.id for node in nodes] + [name(number) for number in world.specs]
    return [
        Edge(source=nodes[left % len(nodes)].id, target=ends[right % len(ends)], label="hidden", weight=2.0)
        if left % 2
        else Edge(source=ends[right % len(ends)], target=nodes[left % len(nodes)].id, type="relation", label="hidden")
        for left, right in pairs
    ]


@settings(max_examples=some(100, part=6))
@given(
    plan=plans(),
    requests=st.lists(asks, min_size=1, max_size=3),
    hidden=st.lists(st.tuples(st.integers(0, 11), st.sampled_from(OUTSIDE)), min_size=1, max_size=6),
    pairs=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6),
)
def test_adding_changing_and_removing_what_is_hidden_changes_not_a_byte(weft, plan, requests, hidden, pairs):
    with World(weft, next(WORKSPACES), plan) as world:
        for action in plan.actions:
            world.do(action)
        inventory = Inventory(world)
        before = received(world, requests, inventory)

        nodes = [twin(world, number, copied, access) for number, (copied, access) in enumerate(hidden)]
        weft.add(nodes, knotted(world, nodes, pairs), workspace=world.workspace)
        assert received(world, requests, inventory) == before

        with weft.atomic(world.workspace) as batch:
            batch.add_user("cleo", ["red", "blue", "green"])
            batch.add_user("dora", ["green"])
            for node, access in zip(nodes, itertools.cycle(OUTSIDE), strict=False):
                batch.set_access(node.id, access)
                batch.move(node.id, None)
                batch.record(ROOT, node.id, "edit", NOW)
                batch.give_feedback(ROOT, node.id, True, NOW)
                batch.count_use("cleo", [node.id])
        assert received(world, requests, inventory) == before

        assert weft.remove([node.id for node in nodes], workspace=world.workspace) == len(nodes)
        assert received(world, requests, inventory) == before


@settings(max_examples=some(40))
@given(plan=plans(), other=plans(), requests=st.lists(asks, min_size=1, max_size=3))
def test_what_another_workspace_holds_changes_not_a_byte(weft, plan, other, requests):
    with World(weft, next(WORKSPACES), plan) as world:
        for action in plan.actions:
            world.do(action)
        inventory = Inventory(world)
        before = received(world, requests, inventory)
        with World(weft, next(WORKSPACES), other) as neighbour:
            weft.add([Node(id=each, title=each, text=COMMON * 20) for each in NAMES], workspace=neighbour.workspace)
            with weft.atomic(neighbour.workspace) as batch:
                batch.add_user(USER, ["red", "blue"])
                batch.record(USER, NAMES[0], "edit", NOW)
            assert received(world, requests, inventory) == before
        assert received(world, requests, inventory) == before


def test_more_hidden_access_lists_than_an_index_keeps_count_of_change_not_a_byte(weft):
    nodes = [Node(id=f"open-{n}", title=f"Open {n}", text=f"{COMMON} " * (n + 1)) for n in range(30)]
    weft.create_workspace("crowded", owner=ROOT)
    weft.add_user(USER, workspace="crowded")
    weft.add(nodes, workspace="crowded")
    requests = [Ask(), Ask(query="harbur lantren"), Ask(query='"harbour lantern" lant*', profile="thread")]

    def answers():
        found = [ask.answer(weft, "crowded", USER) for ask in requests]
        return [*found, repr(weft.search(COMMON, user=USER, workspace="crowded", limit=25))]

    before = answers()
    for part in range(4):
        weft.add(
            [
                Node(id=f"hidden-{n}", text=f"{COMMON} " * (n % 9 + 1), access=frozenset({f"group:{n}"}))
                for n in range(part * 40, part * 40 + 40)
            ],
            workspace="crowded",
        )
        assert answers() == before
