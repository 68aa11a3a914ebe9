"""The workspace face shows nothing that is hidden, in no field of a payload, and keeps every budget."""

import asyncio
import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import some

from weftwork import Weft, WeftError
from weftwork.faces.workspace import (
    ContextBuilder,
    ContextHints,
    ContextRequest,
    ConversationMessage,
    Focus,
    TimeRange,
    TokenBudget,
    User,
)
from weftwork.render import explain, to_json
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .asking import QUERIES
from .sight import EMBEDDER
from .test_isolation import OUTSIDE, USER, knotted, twin
from .world import MARKER, PEOPLE, ROOT, World, name, numbers, plans

WORKSPACES = (f"workspace {number}" for number in itertools.count())
TOKENS = st.sampled_from([0, 40, 300, 2000])
SAID = (ConversationMessage("user", "the lantern is lit"),)


@pytest.fixture(scope="module")
def weft(folder):
    store = SqliteStore(folder / "face.weft", clock=lambda: NOW)
    yield Weft(store, Tools(CharacterCounter(), EMBEDDER), clock=lambda: NOW)
    assert store.check() == []
    store.close()


places = st.builds(
    Focus,
    block_id=st.none() | numbers.map(name),
    page_id=st.none() | numbers.map(name),
    database_id=st.none() | numbers.map(name),
)
hints = st.builds(
    ContextHints,
    prioritize_types=st.sampled_from([(), ("page",)]),
    time_range=st.sampled_from([None, None, TimeRange("2026-03-10", "2026-03-17")]),
    include_blocks=st.lists(numbers.map(name), max_size=2).map(tuple),
    exclude_blocks=st.lists(numbers.map(name), max_size=1).map(tuple),
    max_depth=st.sampled_from([None, 1, 3]),
)
budgets = st.builds(
    TokenBudget,
    total=st.sampled_from([60, 400, 4000]),
    focus=TOKENS,
    semantic=TOKENS,
    relations=TOKENS,
    activity=TOKENS,
    history=TOKENS,
    system=st.sampled_from([0, 50]),
)
requests = st.builds(
    ContextRequest,
    query=st.builds(lambda kind, number: QUERIES[kind](number), st.sampled_from(sorted(QUERIES)), numbers),
    user=st.just(User(USER)),
    type=st.sampled_from(["assist", "chat", "search", "automate"]),
    focus=st.none() | places,
    conversation_history=st.sampled_from([(), SAID]),
    token_budget=st.none() | budgets,
    hints=hints,
).filter(lambda request: not set(request.places.values()) & set(request.hints.exclude_blocks))


def asked_by(request, user, world):
    """The same request, by somebody in a world."""
    values = {each: getattr(request, each) for each in ContextRequest.__slots__}
    return ContextRequest(**{**values, "user": User(user, world.workspace)})


def answer(world, request, user):
    """Everything that a user gets: the payload with its account, or the error; and the payload itself."""
    try:
        payload = asyncio.run(ContextBuilder(world.weft).build(asked_by(request, user, world)))
    except WeftError as error:
        return f"{type(error).__name__}: {error}", None
    return "".join((json.dumps(payload.to_dict()), to_json(payload.context), explain(payload.context))), payload


def check(world, request, user):
    answer(world, request, ROOT)
    text, payload = answer(world, request, user)
    named = set(MARKER.findall(request.query)) | set(request.places.values()) | set(request.hints.include_blocks)
    assert not world.secrets(user) & set(MARKER.findall(text)) - named
    if payload is None:
        assert text.startswith("NotFound: focus")
        assert set(request.places.values()) - {name(number) for number in world.visible(user)}
        return
    result = ContextBuilder(world.weft).validate(payload)
    assert result.valid, result
    assert payload.metadata.total_tokens == world.weft.tools.counter.count(payload.serialized)
    assert all(item.content in payload.serialized for section in payload.sections for item in section.items)


@settings(max_examples=some(100))
@given(plan=plans(), wanted=st.lists(requests, min_size=1, max_size=2), user=st.sampled_from(PEOPLE))
def test_nothing_hidden_is_in_any_field_and_every_payload_is_valid(weft, plan, wanted, user):
    with World(weft, next(WORKSPACES), plan) as world:
        for request in wanted:
            check(world, request, user)
        for action in plan.actions:
            world.do(action)
        for request in wanted:
            check(world, request, user)


@settings(max_examples=some(60))
@given(
    plan=plans(),
    wanted=st.lists(requests, min_size=1, max_size=2),
    hidden=st.lists(st.tuples(st.integers(0, 11), st.sampled_from(OUTSIDE)), min_size=1, max_size=6),
    pairs=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6),
)
def test_what_is_hidden_changes_not_a_byte_of_a_payload(weft, plan, wanted, hidden, pairs):
    with World(weft, next(WORKSPACES), plan) as world:
        before = [answer(world, request, USER)[0] for request in wanted]
        nodes = [twin(world, number, copied, access) for number, (copied, access) in enumerate(hidden)]
        weft.add(nodes, knotted(world, nodes, pairs), workspace=world.workspace)
        assert [answer(world, request, USER)[0] for request in wanted] == before
