"""Prime contexts: nothing hidden in any field, a budget that holds, and no user who moves another's ranking far."""

import itertools
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Node, Weft, WeftError
from weftwork.faces.thread import ContextAssemblyService, FileRepository
from weftwork.render import to_json
from weftwork.score.profiles import PROFILES
from weftwork.store.contract.kit import NOW
from weftwork.store.protocol import USES_BY_ANOTHER
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter, get_counter
from weftwork.tools import Tools

from .asking import QUERIES
from .content import node_lists, queries, totals
from .sight import EMBEDDER
from .test_isolation import OUTSIDE, knotted, twin
from .world import COMMON, MARKER, PEOPLE, ROOT, World, marker, name, numbers, plans

WORKSPACES = (f"workspace {number}" for number in itertools.count())
OPTIMIZERS = st.sampled_from(["density", "optimal"])
TYPES = frozenset({"page", *(marker("type", number) for number in range(12))})
asked = st.builds(lambda kind, number: QUERIES[kind](number), st.sampled_from(sorted(QUERIES)), numbers)


@pytest.fixture(scope="module")
def store(folder):
    made = SqliteStore(folder / "thread.weft", clock=lambda: NOW)
    yield made
    made.close()


@pytest.fixture(scope="module")
def weft(store):
    return Weft(store, Tools(CharacterCounter(), EMBEDDER), clock=lambda: NOW)


def told(service, thread, query, user):
    """Everything that a user gets: each field, the whole account, and what files they find."""
    try:
        prime = service.build(name(thread), query, user)
    except WeftError as error:
        return f"{type(error).__name__}: {error}"
    parts = [repr(getattr(prime, each.name)) for each in fields(prime) if each.name != "context"]
    listed = service.citation_manager(prime).format_citations_for_response(prime.citations)
    return "\n".join([*parts, listed, to_json(prime.context), repr(prime.context.warnings)])


@settings(max_examples=some(60))
@given(
    plan=plans(),
    thread=numbers,
    query=asked,
    user=st.sampled_from(PEOPLE),
    packing=st.tuples(OPTIMIZERS, st.sampled_from([1, 60, 400, 2000])),
)
def test_no_field_names_what_is_hidden(weft, plan, thread, query, user, packing):
    optimizer, budget = packing
    with World(weft, next(WORKSPACES), plan) as world:
        service = ContextAssemblyService(
            weft, workspace=world.workspace, max_tokens=500 + budget, optimizer=optimizer, types=TYPES
        )
        for action in (*plan.actions, None):
            told(service, thread, query, ROOT)
            named = {*MARKER.findall(query), name(thread)}
            found = set(MARKER.findall(told(service, thread, query, user)))
            assert not world.secrets(user) & found - named
            if action is not None:
                world.do(action)


@settings(max_examples=some(60))
@given(
    plan=plans(),
    thread=numbers,
    query=asked,
    hidden=st.lists(st.tuples(st.integers(0, 11), st.sampled_from(OUTSIDE)), min_size=1, max_size=6),
    pairs=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6),
)
def test_what_is_hidden_changes_not_a_byte(weft, plan, thread, query, hidden, pairs):
    with World(weft, next(WORKSPACES), plan) as world:
        service = ContextAssemblyService(weft, workspace=world.workspace, types=TYPES)
        files = FileRepository(weft, "ben", workspace=world.workspace)

        def received():
            found = files.search_content(COMMON), files.fuzzy_search("lanterm"), files.get_recently_accessed()
            return told(service, thread, query, "ben"), repr(found)

        before = received()
        nodes = [twin(world, number, copied, access) for number, (copied, access) in enumerate(hidden)]
        weft.add(nodes, knotted(world, nodes, pairs), workspace=world.workspace)
        with weft.atomic(world.workspace) as batch:
            for node in nodes:
                batch.record(ROOT, node.id, "view", NOW)
                batch.give_feedback(ROOT, node.id, True, NOW)
                batch.count_use(ROOT, [node.id])
        assert received() == before


@settings(max_examples=some(60))
@given(
    nodes=node_lists(),
    query=queries,
    budget=totals,
    optimizer=OPTIMIZERS,
    tokenizer=st.sampled_from(["o200k_base", "characters"]),
)
def test_the_text_never_counts_more_than_the_budget(store, nodes, query, budget, optimizer, tokenizer):
    counter = get_counter(tokenizer)
    weft = Weft(store, Tools(counter, EMBEDDER), clock=lambda: NOW)
    workspace = next(WORKSPACES)
    weft.create_workspace(workspace, owner="me")
    weft.add([*nodes, Node(id="thread", type="thread")], workspace=workspace)
    weft.add(
        [
            Node(id=f"said {n}", type="message", text=node.text, parent="thread", position=n)
            for n, node in enumerate(nodes)
        ],
        workspace=workspace,
    )
    service = ContextAssemblyService(
        weft, workspace=workspace, max_tokens=budget + 500, optimizer=optimizer, types={node.type for node in nodes}
    )
    prime = service.build("thread", query)
    assert prime.total_tokens == counter.count(prime.text) <= budget
    assert len({item.id for item in prime.items}) == len(prime.items) == len(prime.citations)
    assert len(prime.items) + prime.stats.excluded_count == len(prime.context.trace)
    store.drop_workspace(workspace)


BOUND = PROFILES["thread"].weights["usage"] * USES_BY_ANOTHER / 10
"""Three uses of ten; what another found useful counts for nothing."""

acts = st.lists(
    st.tuples(st.sampled_from(["good", "bad", "use", "see"]), numbers, st.integers(1, 30)), min_size=1, max_size=12
)


@settings(max_examples=some(60))
@given(plan=plans(most=0), thread=numbers, query=asked, done=acts)
def test_one_user_moves_anothers_scores_no_further_than_the_bound(weft, plan, thread, query, done):
    with World(weft, next(WORKSPACES), plan) as world:
        world.join("dora", ("red", "blue"))
        service = ContextAssemblyService(weft, workspace=world.workspace, types=TYPES)

        def scores():
            try:
                return {each.citation: each.score for each in service.build(name(thread), query, "ben").context.trace}
            except WeftError:
                return {}

        before = scores()
        with weft.atomic(world.workspace) as batch:
            for kind, number, times in done:
                for _ in range(times if number in world.specs else 0):
                    match kind:
                        case "good" | "bad":
                            batch.give_feedback("dora", name(number), kind == "good", NOW, query)
                        case "use":
                            batch.count_use("dora", [name(number)])
                        case "see":
                            batch.record("dora", name(number), "view", NOW)
        after = scores()
        assert before.keys() == after.keys()
        assert BOUND < 0.05
        for citation, score in before.items():
            assert abs(after[citation] - score) <= BOUND + 1e-9


@settings(max_examples=some(25))
@given(plan=plans(most=6), thread=numbers, query=asked, user=st.sampled_from((ROOT, *PEOPLE)))
def test_a_warm_service_answers_like_a_fresh_one(weft, plan, thread, query, user):
    with World(weft, next(WORKSPACES), plan) as world:
        warm = ContextAssemblyService(weft, workspace=world.workspace, types=TYPES)
        told(warm, thread, query, user)
        for action in plan.actions:
            world.do(action)
            cold = Weft(weft.store, weft.tools, clock=lambda: NOW)
            fresh = ContextAssemblyService(cold, workspace=world.workspace, types=TYPES)
            assert told(warm, thread, query, user) == told(fresh, thread, query, user)
