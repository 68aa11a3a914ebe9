"""Nothing of what a user may not see reaches them, by any way, after any history, from any cache."""

import itertools
from dataclasses import astuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from weft import Filters, Weft, WeftError
from weft.embed.hashing import HashingEmbedder
from weft.engine import Tools
from weft.store.contract.kit import NOW
from weft.store.sqlite import SqliteStore
from weft.tokens import CharacterCounter

from .asking import Ask, asks
from .world import ABSENT, COMMON, KINDS, MARKER, PEOPLE, ROOT, SIZE, World, marker, name, plans

EMBEDDER = HashingEmbedder(64)
NAMES = [name(number) for number in range(SIZE)]
SEARCHED = ("title", "text", "tag", "field", "value")
"""Where a search by words looks."""
names_of_workspaces = (f"workspace {number}" for number in itertools.count())


@pytest.fixture(scope="module")
def engines(folder):
    """An engine with an embedder and one without, over one store."""
    store = SqliteStore(folder / "permissions.weft", clock=lambda: NOW)
    yield {
        model: Weft(store, Tools(CharacterCounter(), embedder), clock=lambda: NOW)
        for model, embedder in ((True, EMBEDDER), (False, None))
    }
    assert store.check() == []
    store.close()


class Inventory:
    """The numbers, hashes and ids under which the store keeps a node, read by the user with all rights."""

    def __init__(self, world: World) -> None:
        with world.weft.store.view(world.workspace, ROOT) as view:
            assert {node.id for node in view.nodes(NAMES)} == {name(number) for number in world.specs}
            records = view.load([key for keys in view.passages(NAMES, limit=9).values() for key in keys])
        self.passages = {record.node.id: record.passage for record in records}
        self.keys = [passage.key for passage in self.passages.values()]
        self.digests = [passage.digest for passage in self.passages.values()]

    def citation(self, node: str) -> str:
        """A node's citation id; of one that is not there, what such an id looks like."""
        return self.passages[node].citation if node in self.passages else "pag-0000000000"


def about(view, node, citation):
    """Everything that a view says when it is asked about one node."""
    return (
        view.nodes([node]),
        view.passages([node]),
        view.cited([citation]),
        view.ancestors(node, 5),
        view.siblings(node, 3),
        view.children(node, 5),
        view.children(node, 1, last=True),
        view.neighbours(node),
        view.walk([node], depth=3, hub_limit=2),
        view.walk([node], depth=3, hub_limit=2, vector=EMBEDDER.embed(COMMON), model=EMBEDDER.model),
        view.tree_distance(node, [other for other in NAMES if other != node]),
        view.usage([node]),
        view.find(node),
    )


def overall(view, inventory):
    """Everything that a view says without being asked about a node in particular."""
    vector = EMBEDDER.embed(COMMON)
    return (
        view.load(inventory.keys),
        view.select(Filters(), limit=50),
        view.select(Filters(tags=frozenset({"shared"})), limit=50, sort="title"),
        view.search_words(COMMON, limit=50),
        view.search_fuzzy("lanterm", limit=50),
        view.search_vector(vector, model=EMBEDDER.model, limit=50, threshold=-1.0),
        view.events("view", limit=50),
        view.events("edit", limit=50),
        view.usage(NAMES),
        view.changes(0),
        view.counts(),
        [view.find(marker(kind, number)) for kind in ("title", "source") for number in range(SIZE)],
    )


def searches(weft, workspace, user):
    """The answers to searches for what all nodes share, and for the marks of each, in all modes."""
    common = [weft.search(COMMON, user=user, workspace=workspace, mode=mode) for mode in ("hybrid", "words", "vector")]
    marked = [
        weft.search(marker(SEARCHED[number % len(SEARCHED)], number), user=user, workspace=workspace)
        for number in range(SIZE)
    ]
    return [*common, *marked]


def failure(call, *arguments, **options):
    """How a call fails."""
    with pytest.raises(WeftError) as caught:
        call(*arguments, **options)
    return type(caught.value), str(caught.value)


def errors_about(weft, world, user, node, citation):
    """How the requests fail that name a node which is hidden, or absent."""
    where = {"user": user, "workspace": world.workspace}
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


def check_contexts(world, user, requests, secrets):
    """No context, trace or error names a secret, other than one that stands in the query itself."""
    for ask in requests:
        said = set(MARKER.findall(ask.query))
        # What an error repeats is the id that was asked for.
        said |= {name(number) for number in (ask.focus, ask.thread) if number is not None}
        answer = ask.answer(world.weft, world.workspace, user)
        assert not secrets & set(MARKER.findall(answer)) - said, ask
        if not answer.startswith("NotFound"):
            context = ask.put_to(world.weft, world.workspace, user)
            assert {decision.node for decision in context.trace} <= {
                *(name(number) for number in world.visible(user)),
                "history-1",
            }


def check_view(world, user, secrets, inventory):
    """No method of a view names or counts what is hidden, and a hidden node looks like an absent one."""
    seen = world.visible(user)
    hidden = [number for number in range(SIZE) if number not in seen]
    with world.weft.store.view(world.workspace, user) as view:
        assert {node.id for node in view.nodes(NAMES)} == {name(number) for number in seen}
        asked = [about(view, each, inventory.citation(each)) for each in NAMES]
        assert not secrets & set(MARKER.findall(repr(asked)))
        assert not secrets & set(MARKER.findall(repr(overall(view, inventory))))
        nothing = about(view, ABSENT, "pag-0000000000")
        assert all(asked[number] == nothing for number in hidden)
        check_numbers(world, user, view, inventory)


def check_numbers(world, user, view, inventory):
    """What is counted and measured is what is visible."""
    seen = world.visible(user)
    counts = view.counts()
    assert counts["nodes"] == counts["passages"] == len(seen)
    assert counts["edges"] == len(world.visible_links(user))
    assert counts["tags"] == len(seen) + bool(seen)
    own = {inventory.passages[name(number)].key for number in seen}
    digests = {inventory.passages[name(number)].digest for number in seen}
    assert view.similarities(EMBEDDER.embed(COMMON), inventory.keys, model=EMBEDDER.model).keys() <= own
    assert view.vectors(inventory.digests, model=EMBEDDER.model).keys() <= digests
    words = [marker("text", number) for number in range(SIZE)]
    rarity = view.idf([*words, ABSENT])
    assert all(rarity[words[number]] == rarity[ABSENT] for number in range(SIZE) if number not in seen and rarity)
    assert all(rarity[words[number]] < rarity.get(ABSENT, 0) for number in seen)


def check_searches(world, user, secrets):
    """No search result names a secret, and what is visible is found by its own word."""
    seen = world.visible(user)
    results = searches(world.weft, world.workspace, user)
    assert not secrets & set(MARKER.findall(repr(results)))
    for number, found in enumerate(results[3:]):
        first = found[0].node.id if found else None
        assert (first == name(number)) == (number in seen)


def check_errors(world, user, inventory):
    """What is hidden cannot be told from what is absent by an error."""
    where = {"user": user, "workspace": world.workspace}
    absent = errors_about(world.weft, world, user, ABSENT, "pag-0000000000")
    for number in set(range(SIZE)) - world.visible(user):
        node = name(number)
        assert errors_about(world.weft, world, user, node, inventory.citation(node)) == absent
    for number in world.visible(user):
        assert world.weft.read(name(number), **where).id == name(number)


def check_everything(world, user, requests):
    """All that a user can get, after the user with all rights has got the same."""
    for ask in requests:
        ask.answer(world.weft, world.workspace, ROOT)
    secrets = world.secrets(user)
    inventory = Inventory(world)
    check_contexts(world, user, requests, secrets)
    check_searches(world, user, secrets)
    check_view(world, user, secrets, inventory)
    check_errors(world, user, inventory)


@settings(max_examples=60, phases=[Phase.generate])
@given(
    plan=plans(),
    requests=st.lists(asks, min_size=1, max_size=3),
    user=st.sampled_from(PEOPLE),
    embedded=st.booleans(),
)
def test_nothing_hidden_reaches_a_user_whatever_happened_before(engines, plan, requests, user, embedded):
    weft = engines[embedded]
    world = World(weft, next(names_of_workspaces), plan)
    check_everything(world, user, requests)
    for action in plan.actions:
        world.do(action)
    check_everything(world, user, requests)
    weft.store.drop_workspace(world.workspace)
