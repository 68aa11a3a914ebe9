"""The graph face: nothing hidden reaches a user in any field of a document, and the budget is exact."""

import itertools
import json
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Weft, WeftError
from weftwork.faces.graph import ContextAssembler
from weftwork.lens import BUILTIN
from weftwork.render import explain
from weftwork.request import Topic
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter, get_counter
from weftwork.tools import Tools

from .asking import QUERIES
from .content import node_lists, short_texts, totals
from .sight import EMBEDDER, Inventory
from .test_isolation import OUTSIDE, USER, knotted, twin
from .world import ABSENT, COMMON, MARKER, PEOPLE, ROOT, World, marker, name, numbers, plans

WORKSPACES = (f"workspace {number}" for number in itertools.count())
NO_CITATION = "k000000"


@pytest.fixture(scope="module")
def engines(folder):
    """An engine with an embedder and one without, over one store."""
    store = SqliteStore(folder / "graph.weft", clock=lambda: NOW)
    yield [Weft(store, Tools(CharacterCounter(), embedder), clock=lambda: NOW) for embedder in (None, EMBEDDER)]
    store.close()


@dataclass(frozen=True)
class Asked:
    """Topics, by what kind of query and about which node, and how to look at them."""

    topics: tuple[tuple[str, int, float], ...]
    focus: int | None
    depth: int
    lens: str
    budget: int
    fields: bool

    @property
    def texts(self):
        return [name(number) if kind == "id" else QUERIES[kind](number) for kind, number, _ in self.topics]

    def put_to(self, weft, workspace, user):
        """The document that this user gets."""
        weights = (weight for *_, weight in self.topics)
        return ContextAssembler(weft).assemble(
            [Topic(text, weight) for text, weight in zip(self.texts, weights, strict=True) if text],
            workspace=workspace,
            user=user,
            depth=self.depth,
            max_tokens=self.budget,
            lens=self.lens,
            include_fields=self.fields,
            focus=None if self.focus is None else name(self.focus),
        )

    def answer(self, weft, workspace, user):
        """Everything that this user gets, as text, beside the document itself."""
        try:
            document = self.put_to(weft, workspace, user)
        except WeftError as error:
            return f"{type(error).__name__}: {error}", None
        return document.to_json() + repr(document) + document.markdown + explain(document.context), document


kinds = st.sampled_from(["id", *(kind for kind in QUERIES if kind != "nothing")])
asked = st.builds(
    Asked,
    topics=st.lists(st.tuples(kinds, numbers, st.sampled_from([1, 2, 0.5])), min_size=1, max_size=3).map(tuple),
    focus=st.none() | numbers,
    depth=st.integers(1, 5),
    lens=st.sampled_from(sorted(BUILTIN)),
    budget=st.sampled_from([1, 30, 200, 499, 500, 900, 4000]),
    fields=st.booleans(),
)


def check(world, user, asks):
    """No document or error names a secret that the request itself does not name; ways lead over visible links."""
    seen = world.visible(user)
    visible = {name(number) for number in seen}
    links = {(name(link.source), name(link.target)) for link in world.visible_links(user)}
    links |= {(name(world.specs[number].parent), name(number)) for number in seen if world.specs[number].parent in seen}
    for ask in asks:
        ask.answer(world.weft, world.workspace, ROOT)
        answer, document = ask.answer(world.weft, world.workspace, user)
        named = set(MARKER.findall(" ".join(ask.texts))) | ({name(ask.focus)} if ask.focus is not None else set())
        assert not world.secrets(user) & set(MARKER.findall(answer)) - named, ask
        if document is None:
            continue
        assert document.meta.tokens.used == CharacterCounter().count(document.markdown) <= ask.budget
        assert {node.id for node in (*document.nodes, *document.overflow)} <= visible
        assert set(document.meta.sampled_hubs) <= visible
        for node in document.nodes:
            for step in node.path:
                ends = (step.source, step.target) if step.direction == "out" else (step.target, step.source)
                assert ends in links
            assert node.distance == len(node.path) == min(reach.distance for reach in node.topics)
            assert {reach.topic for reach in node.topics} <= {*ask.texts, *visible}


def failure(world, user, query):
    with pytest.raises(WeftError) as caught:
        ContextAssembler(world.weft).assemble(query, user=user, workspace=world.workspace)
    return type(caught.value), str(caught.value).replace(query, "NAME")


def check_failures(world, user):
    """An id or a citation that is hidden fails like one that does not exist."""
    inventory = Inventory(world)
    for number in sorted(world.specs.keys() - world.visible(user))[:3]:
        assert failure(world, user, name(number)) == failure(world, user, ABSENT)
        assert failure(world, user, inventory.citation(name(number))) == failure(world, user, NO_CITATION)


@settings(max_examples=some(120, part=6))
@given(plan=plans(), asks=st.lists(asked, min_size=1, max_size=3), user=st.sampled_from(PEOPLE), embedded=st.booleans())
def test_nothing_hidden_reaches_a_user_in_any_field_of_a_document(engines, plan, asks, user, embedded):
    with World(engines[embedded], next(WORKSPACES), plan) as world:
        check(world, user, asks)
        for action in plan.actions:
            world.do(action)
        check(world, user, asks)
        check_failures(world, user)


@settings(max_examples=some(60))
@given(
    plan=plans(),
    asks=st.lists(asked, min_size=1, max_size=3),
    hidden=st.lists(st.tuples(st.integers(0, 11), st.sampled_from(OUTSIDE)), min_size=1, max_size=6),
    pairs=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6),
    embedded=st.booleans(),
)
def test_what_is_hidden_changes_not_a_byte_of_a_document(engines, plan, asks, hidden, pairs, embedded):
    weft = engines[embedded]
    with World(weft, next(WORKSPACES), plan) as world:
        before = [ask.answer(weft, world.workspace, USER)[0] for ask in asks]
        nodes = [twin(world, number, copied, access) for number, (copied, access) in enumerate(hidden)]
        weft.add(nodes, knotted(world, nodes, pairs), workspace=world.workspace)
        assert [ask.answer(weft, world.workspace, USER)[0] for ask in asks] == before


@pytest.fixture(scope="module")
def counted(folder):
    """An engine that counts with a vocabulary."""
    store = SqliteStore(folder / "graph-budget.weft", clock=lambda: NOW)
    yield Weft(store, Tools(get_counter(), EMBEDDER), clock=lambda: NOW)
    store.close()


@settings(max_examples=some(80, part=6))
@given(
    nodes=node_lists(),
    query=st.sampled_from(["n0", "n1", COMMON]) | short_texts.filter(str.strip),
    budget=totals,
    lens=st.sampled_from(sorted(BUILTIN)),
    more=st.booleans(),
)
def test_any_content_keeps_any_budget_exactly(counted, nodes, query, budget, lens, more):
    workspace = next(WORKSPACES)
    counted.create_workspace(workspace, owner="ana")
    counted.add(nodes, workspace=workspace)
    try:
        document = ContextAssembler(counted).assemble(
            [query, "n2", marker("text", 1)] if more and nodes else query,
            workspace=workspace,
            user="ana",
            max_tokens=budget,
            lens=lens,
        )
    except WeftError as error:
        assert "there is no node" in str(error)
        return
    finally:
        counted.store.drop_workspace(workspace)
    tokens = document.meta.tokens
    assert tokens.used == get_counter().count(document.markdown) <= budget
    assert tokens.used >= document.context.tokens  # the header counts, too
    assert json.loads(document.to_json())["meta"]["tokens"]["used"] == tokens.used
    assert budget >= 500 or document.nodes == ()
    for node in document.nodes:
        assert node.score == pytest.approx(min(1.0, sum(node.components.values())), abs=1e-8)
