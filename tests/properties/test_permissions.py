"""Nothing of what a user may not see reaches them, by any way, after any history, from any cache."""

import itertools
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Weft, WeftError
from weftwork.render import to_dict
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .asking import asks
from .sight import EMBEDDER, NAMES, NO_CITATION, Inventory, about, overall, searches
from .world import ABSENT, COMMON, MARKER, PEOPLE, ROOT, SIZE, World, marker, name, plans

WORKSPACES = (f"workspace {number}" for number in itertools.count())


@pytest.fixture(scope="module")
def engines(folder):
    """An engine with an embedder and one without, over one store."""
    store = SqliteStore(folder / "permissions.weft", clock=lambda: NOW)
    yield [Weft(store, Tools(CharacterCounter(), embedder), clock=lambda: NOW) for embedder in (None, EMBEDDER)]
    assert store.check() == []
    store.close()


def marks(*things):
    """The markers that stand in anything."""
    return set(MARKER.findall(repr(things)))


def check_contexts(world, user, requests):
    """No context, trace or error names a secret, other than one that the request itself names."""
    secrets = world.secrets(user)
    found = {"history-1", *(name(number) for number in world.visible(user))}
    for ask in requests:
        with suppress(WeftError):
            ask.put_to(world.weft, world.workspace, ROOT)
        answer = ask.answer(world.weft, world.workspace, user)
        named = marks(ask.query) | {name(each) for each in (ask.focus, ask.thread, *ask.include) if each is not None}
        assert not secrets & marks(answer) - named, ask
        if not answer.startswith("NotFound"):
            context = to_dict(ask.put_to(world.weft, world.workspace, user))
            nodes = [each["node"] for each in context["decisions"] + context["citations"]]
            nodes += [each["document"] for each in context["overflow"]]
            assert set(nodes) <= found, ask


def check_searches(world, user):
    """No result names a secret, and what is visible is found by its own word."""
    seen = world.visible(user)
    common, marked = searches(world, user)
    assert not world.secrets(user) & marks(common, marked)
    for number, results in enumerate(marked):
        assert (name(number) in {result.node.id for result in results}) == (number in seen)


def check_view(world, user, inventory):
    """No method of a view names a secret, and what is hidden looks like what is absent."""
    seen, secrets = world.visible(user), world.secrets(user)
    with world.weft.store.view(world.workspace, user) as view:
        assert {node.id for node in view.nodes(NAMES)} == {name(number) for number in seen}
        asked = [about(view, each, inventory.citation(each)) for each in NAMES]
        assert not secrets & marks(asked, overall(view, inventory))
        nothing = about(view, ABSENT)
        assert all(asked[number] == nothing for number in range(SIZE) if number not in seen)
        check_structure(world, user, view)
        check_numbers(world, user, view, inventory)


def check_structure(world, user, view):
    """The tree and the edges are those between visible nodes, and no step leads through a hidden one."""
    for number in world.visible(user):
        node = name(number)
        assert ids(view.ancestors(node, SIZE)) == [name(each) for each in world.above(user, number)]
        assert ids(view.siblings(node, 3)) == [name(each) for each in world.around(user, number, 3)]
        assert ids(view.children(node, SIZE)) == [name(each) for each in world.under(user, number)]
    linked = {edge for number in world.visible(user) for edge, _ in view.neighbours(name(number))}
    assert linked == {link.edge() for link in world.visible_links(user)}


def ids(nodes):
    return [node.id for node in nodes]


def check_numbers(world, user, view, inventory):
    """What is counted and measured is what is visible."""
    seen = world.visible(user)
    counts = view.counts()
    assert world.weft.stats(user=user, workspace=world.workspace) == counts
    assert counts["nodes"] == counts["passages"] == len(seen)
    assert counts["edges"] == len(world.visible_links(user))
    assert counts["tags"] == len(seen) + bool(seen)
    own = [inventory.passages[name(number)] for number in seen]
    measured = view.similarities(EMBEDDER.embed(COMMON), inventory.keys, model=EMBEDDER.model)
    assert measured.keys() <= {passage.key for passage in own}
    assert view.vectors(inventory.digests, model=EMBEDDER.model).keys() <= {passage.digest for passage in own}
    words = [marker("text", number) for number in range(SIZE)]
    rarity = view.idf([*words, ABSENT])
    if seen:
        assert {number for number in range(SIZE) if rarity[words[number]] < rarity[ABSENT]} == seen
    else:
        assert rarity == {}


def failure(call, *arguments, **options):
    """How a call fails."""
    with pytest.raises(WeftError) as caught:
        call(*arguments, **options)
    return type(caught.value), str(caught.value)


def failures(world, user, node, citation):
    """How the calls fail that name a node which is hidden, or absent."""
    weft, where = world.weft, {"user": user, "workspace": world.workspace}
    found = [
        failure(weft.context, COMMON, focus=node, **where),
        failure(weft.context, COMMON, thread=node, **where),
        failure(weft.preview, COMMON, focus=node, **where),
        failure(weft.read, node, **where),
        failure(weft.read, citation, **where),
        failure(weft.feedback, node, True, **where),
        failure(weft.feedback, f"[{citation}]", False, **where),
    ]
    return [(kind, text.replace(node, "NODE").replace(citation, "CITATION")) for kind, text in found]


def check_failures(world, user, inventory):
    """An error does not tell what is hidden from what is absent."""
    seen = world.visible(user)
    absent = failures(world, user, ABSENT, NO_CITATION)
    for number in sorted(world.specs.keys() - seen)[:3]:
        assert failures(world, user, name(number), inventory.citation(name(number))) == absent
    for number in seen:
        assert world.weft.node(name(number), user=user, workspace=world.workspace).id == name(number)


@pytest.mark.parametrize("user", PEOPLE)
@pytest.mark.parametrize("embedded", [False, True], ids=["words", "vectors"])
@settings(max_examples=some(1000 // (2 * len(PEOPLE)), part=10))
@given(plan=plans(), requests=st.lists(asks, min_size=1, max_size=2))
def test_nothing_hidden_reaches_a_user_whatever_happened_before(engines, plan, requests, user, embedded):
    with World(engines[embedded], next(WORKSPACES), plan) as world:
        check_contexts(world, user, requests)
        for action in plan.actions:
            world.do(action)
        inventory = Inventory(world)
        check_contexts(world, user, requests)
        check_searches(world, user)
        check_view(world, user, inventory)
        check_failures(world, user, inventory)
