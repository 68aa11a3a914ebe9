"""The memory face and validity: nothing hidden, nothing that is over, and the past as it was."""

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Filters, Weft
from weftwork.faces.memory import (
    MEMORY,
    ContextEngine,
    ContextEngineConfig,
    ContextOptions,
    Memories,
    MemoryRanker,
    SearchOptions,
)
from weftwork.render import to_dict
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import get_counter
from weftwork.tools import Tools

from .asking import asks
from .sight import EMBEDDER
from .test_isolation import OUTSIDE, USER, knotted, twin
from .world import COMMON, MARKER, PEOPLE, ROOT, World, name, plans

HOUR = timedelta(hours=1)
WORKSPACES = (f"workspace {number}" for number in itertools.count())
COUNT = get_counter("o200k_base")


@pytest.fixture(scope="module")
def wefts(folder):
    """An engine with an embedder and one without, over one store."""
    store = SqliteStore(folder / "memory.weft", clock=lambda: NOW)
    yield [Weft(store, Tools(COUNT, embedder), clock=lambda: NOW) for embedder in (None, EMBEDDER)]
    assert store.check() == []
    store.close()


def limits(number):
    """From when and until when a node of the world holds: always, from now on, no longer, or not yet."""
    return [(None, None), (NOW, None), (NOW - 9 * HOUR, NOW), (NOW + HOUR, None), (None, NOW + HOUR)][number % 5]


def holds(number):
    start, end = limits(number)
    return (start is None or start <= NOW) and (end is None or end > NOW)


def remembered(world):
    """Make memories of the world's nodes, each with its time, and quarrels of its edges."""
    nodes = []
    for number, spec in world.specs.items():
        node, (start, end) = spec.node(number), limits(number)
        nodes.append(replace(node, tags=(*node.tags, MEMORY), valid_from=start, valid_until=end, confidence=0.5))
    quarrels = [replace(link.edge(), type="contradicts") for link in world.links if link.source != link.target]
    world.weft.add(nodes, quarrels, workspace=world.workspace)


def told(world, user, query=COMMON):
    """Everything that the memory face tells a user, and what it hands to a ranker."""
    engine = ContextEngine(ContextEngineConfig(storage_client=world.weft, user=user))
    given = []

    def ranker(results, options):
        given.append(repr(results))
        return MemoryRanker.by_confidence(results)

    deep: dict[str, Any] = {"include_relationships": True, "relationship_depth": 3}
    calls = [
        engine.search(query, world.workspace, SearchOptions(limit=3, **deep)),
        engine.build_context(query, world.workspace, ContextOptions(limit=2, **deep)),
        engine.build_context(query, world.workspace, ContextOptions(contradictions="newer", template="detailed")),
        engine.preview_context(query, world.workspace, ContextOptions(token_budget=60, ranker=ranker)),
        engine.preview_context(query, world.workspace, ContextOptions(ranker="by_recency", template="nope")),
        engine.build_context(query, world.workspace, ContextOptions(as_of=NOW - HOUR, **deep)),
    ]
    if world.weft.tools.embedder is not None:
        calls.append(engine.build_context_by_vector(EMBEDDER.embed(query), world.workspace))

    async def all_of_them():
        return [repr(await call) for call in calls]

    listed = repr(Memories(world.weft).list(user=user, workspace=world.workspace))
    return [*asyncio.run(all_of_them()), *given, listed]


@settings(max_examples=some(60, part=6), deadline=None)
@given(plan=plans(), user=st.sampled_from(PEOPLE), embedded=st.booleans())
def test_nothing_hidden_is_in_any_result_relationship_preview_or_error(wefts, plan, user, embedded):
    with World(wefts[embedded], next(WORKSPACES), plan) as world:
        remembered(world)
        told(world, ROOT)
        for number in sorted(world.specs)[::2]:
            world.admit(number, frozenset({ROOT}))
        assert not world.secrets(user) & set(MARKER.findall(repr(told(world, user))))


@settings(max_examples=some(40), deadline=None)
@given(
    plan=plans(0),
    hidden=st.lists(st.tuples(st.integers(0, 11), st.sampled_from(OUTSIDE)), min_size=1, max_size=5),
    pairs=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6),
    embedded=st.booleans(),
)
def test_hidden_memories_and_quarrels_with_them_change_not_a_byte(wefts, plan, hidden, pairs, embedded):
    weft = wefts[embedded]
    with World(weft, next(WORKSPACES), plan) as world:
        remembered(world)
        before = told(world, USER)
        nodes = [
            replace(twin(world, number, copied, access), valid_until=NOW + copied * HOUR / 10)
            for number, (copied, access) in enumerate(hidden)
        ]
        nodes = [replace(node, tags=(*node.tags, MEMORY)) for node in nodes]
        edges = [replace(edge, type="contradicts") for edge in knotted(world, nodes, pairs)]
        weft.add(nodes, [edge for edge in edges if edge.source != edge.target], workspace=world.workspace)
        assert told(world, USER) == before


@settings(max_examples=some(60, part=6), deadline=None)
@given(plan=plans(0), ask=asks, user=st.sampled_from(PEOPLE), embedded=st.booleans())
def test_what_does_not_hold_is_in_no_context_but_where_it_is_asked_for_by_its_id(wefts, plan, ask, user, embedded):
    weft = wefts[embedded]
    with World(weft, next(WORKSPACES), plan) as world:
        remembered(world)
        seen = world.visible(user)
        ask = replace(ask, focus=ask.focus if ask.focus in seen else None, thread=None)
        context = to_dict(ask.put_to(weft, world.workspace, user))
        lined = [item for excerpt in context["overflow"] for item in excerpt["items"]]
        shown = {each["node"] for each in context["decisions"] + context["citations"] + lined}
        asked = {name(number) for number in (ask.focus, *ask.include) if number is not None}
        assert not {name(number) for number in seen if not holds(number)} & shown - asked
        found = weft.search(COMMON, user=user, workspace=world.workspace)
        assert {each.node.id for each in found} <= {name(number) for number in seen if holds(number)}
        past = weft.search(COMMON, user=user, workspace=world.workspace, filters=Filters(as_of=NOW - HOUR))
        assert all(each.node.valid_at(NOW - HOUR) for each in past)


words = st.lists(
    st.sampled_from("harbour lantern mirror plank tea ship quay rope sail gull".split()), min_size=1, max_size=4
)
events = st.lists(
    st.tuples(words, st.integers(0, 3), st.sampled_from([None, None, 2, 5]), st.booleans()), min_size=1, max_size=7
)


def lived(weft, workspace, clock, history, until):
    """A workspace in which all of a history happened that was before a moment."""
    weft.create_workspace(workspace, owner="me")
    memories, made = Memories(weft), []
    for hour, (said, target, lasts, quarrels) in enumerate(history):
        clock[0] = NOW + hour * HOUR
        if clock[0] > until:
            break
        end = None if lasts is None else clock[0] + lasts * HOUR
        current = memories.list(workspace=workspace)
        details = {"valid_until": end, "confidence": hour / 10, "workspace": workspace}
        text = f"{' '.join(said)} {hour}"
        if current and target == 1:
            made.append(memories.revise(current[0].id, text, **details))
        elif current and quarrels:
            made.append(memories.remember(text, contradicts=[current[-1].id], **details))
        else:
            made.append(memories.remember(text, **details))
        if len(made) > 1 and target == 2:
            memories.relate(made[-1].id, made[-2].id, workspace=workspace)
    return made


@settings(max_examples=some(60, part=6), deadline=None)
@given(history=events, then=st.integers(0, 8), query=words)
def test_the_context_as_of_a_moment_is_the_one_that_was_made_then(folder, history, then, query):
    """By meaning to the last digit; by words the same memories: how rare a word is depends on all that was written."""
    clock = [NOW]
    moment = NOW + then * HOUR
    with Weft.open(folder / f"{next(WORKSPACES)}.weft", embedder="hashing", clock=lambda: clock[0]) as weft:
        engine = ContextEngine(ContextEngineConfig(storage_client=weft))
        whole, past = next(WORKSPACES), next(WORKSPACES)
        lived(weft, past, clock, history, moment)
        lived(weft, whole, clock, history, NOW + 100 * HOUR)

        vector = weft.tools.embedder.embed(" ".join(query))

        def shown(workspace, as_of, **more):
            options = ContextOptions(as_of=as_of, template="detailed", **more)
            by_words = asyncio.run(engine.build_context(" ".join(query), workspace, options)).value
            result = asyncio.run(engine.build_context_by_vector(vector, workspace, options)).value
            found = [(each.memory.id, each.score, each.rank) for each in result.memories]
            return result.context, found, sorted(by_words.context.splitlines())

        for more in ({}, {"contradictions": "newer"}, {"include_relationships": True}, {"ranker": "by_recency"}):
            clock[0] = NOW + 200 * HOUR
            then_asked_now = shown(whole, moment, **more)
            clock[0] = moment
            assert shown(past, None, **more) == then_asked_now
