"""The builder on a server gives the same as on its engine, byte by byte."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.server.http.serving import running

from weftwork import Client, sample
from weftwork.errors import AccessDenied, InvalidInput, NotFound
from weftwork.faces.workspace import (
    ContextBuilder,
    ContextHints,
    ContextPayload,
    ContextRequest,
    ConversationMessage,
    Focus,
    TimeRange,
    TokenBudget,
    User,
    WorkspaceConfig,
)
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Options
from weftwork.server.keys import make_key

ANA = User("ana", sample.WORKSPACE)
REQUESTS = [
    ContextRequest(query="What tasks are overdue?", user=ANA, type="chat"),
    ContextRequest(query="Summarize this page", user=ANA, focus=Focus(page_id="finch"), token_budget=TokenBudget(
        total=3000, focus=2500, semantic=200, relations=200, activity=0, history=0, system=100)),
    ContextRequest(
        query="And then?",
        user=ANA,
        type="assist",
        focus=Focus(block_id="t-mirrors", page_id="finch"),
        conversation_history=(
            ConversationMessage("user", "When do we ship?", datetime(2026, 3, 16, 8, 30, 1, 250, tzinfo=UTC)),
            ConversationMessage("assistant", "On 2 April."),
        ),
        hints=ContextHints(
            prioritize_types=("todo",),
            time_range=TimeRange("2020-01-01", datetime(2027, 1, 1, tzinfo=UTC)),
            include_blocks=("t-mirrors",),
            max_depth=2,
        ),
    ),
    ContextRequest(query="", user=ANA),
]  # fmt: skip


def server_of(weft, **more):
    return running(make_app(weft, Options(limits=Limits(requests_per_minute=0), **more)))


def token(weft, scope="read", user="ana"):
    return make_key(weft.store, user=user, workspaces=[sample.WORKSPACE], scope=scope, now=weft.now())[1]


@pytest.fixture(scope="module")
def url(studio):
    with server_of(studio.weft) as address:
        yield address


@pytest.fixture(scope="module")
def client(url, studio):
    with Client(url, key=token(studio.weft)) as remote:
        yield remote


def written(payload):
    return json.dumps(payload.to_dict()).encode()


@pytest.mark.parametrize("request_of", REQUESTS, ids=lambda each: each.query or "nothing")
def test_a_server_gives_the_same_bytes_as_its_engine(studio, client, request_of):
    local, remote = ContextBuilder(studio.weft), ContextBuilder(client)
    payload = remote.build_sync(request_of)
    assert written(payload) == written(local.build_sync(request_of))
    assert payload == local.build_sync(request_of)
    assert written(asyncio.run(remote.build(request_of))) == written(asyncio.run(local.build(request_of)))
    assert remote.estimate_tokens(payload) == local.estimate_tokens(payload) == payload.metadata.total_tokens
    assert remote.validate(payload) == local.validate(payload)
    assert remote.validate(payload).valid
    spoilt = replace(payload, metadata=replace(payload.metadata, focus_block_id="nowhere"))
    assert remote.validate(spoilt) == local.validate(spoilt)
    assert not remote.validate(spoilt).valid


@pytest.mark.parametrize("request_of", REQUESTS, ids=lambda each: each.query or "nothing")
def test_requests_and_payloads_survive_their_way_through_json(studio, request_of):
    again = ContextRequest.from_dict(json.loads(json.dumps(request_of.to_dict())))
    assert again.to_dict() == request_of.to_dict()
    payload = studio.builder.build_sync(request_of)
    assert ContextPayload.from_dict(json.loads(written(payload)), request_of) == payload
    assert studio.builder.build_sync(again).serialized == payload.serialized


def test_errors_are_those_of_the_engine(client, url, studio):
    remote = ContextBuilder(client)
    with pytest.raises(NotFound, match="'nowhere' does not exist"):
        remote.build_sync(ContextRequest(query="x", user=ANA, focus=Focus(block_id="nowhere")))
    with pytest.raises(InvalidInput, match="raise total or lower system"):
        remote.build_sync(ContextRequest(query="x", user=ANA, token_budget=TokenBudget(total=100, system=100)))
    with pytest.raises(AccessDenied, match="admin"):
        remote.build_sync(ContextRequest(query="x", user=User("ben", sample.WORKSPACE)))
    with Client(url, key=token(studio.weft, "admin")) as admin:
        for_ben = ContextRequest(query="loan", user=User("ben", sample.WORKSPACE))
        assert ContextBuilder(admin).build_sync(for_ben) == studio.builder.build_sync(for_ben)


class Part:
    """A collector, scorer and allocator that is never asked."""


@pytest.mark.parametrize(
    "given",
    [{"collectors": [Part()]}, {"scorer": Part()}, {"allocator": Part()}, {"config": WorkspaceConfig()}],
    ids=lambda given: next(iter(given)),
)
def test_parts_and_settings_of_ones_own_are_for_an_engine(client, given):
    with pytest.raises(InvalidInput, match=rf"cannot be given {next(iter(given))}: set \[recipes.workspace\]"):
        ContextBuilder(client, **given)


def test_without_an_event_loop_collectors_are_run_on_one(studio):
    asked = ContextRequest(query="zzqq", user=ANA)
    builder = ContextBuilder(studio.weft, collectors=[Pinboard(studio)])
    assert written(builder.build_sync(asked)) == written(asyncio.run(builder.build(asked)))
    assert "Pinboard" in builder.build_sync(asked).metadata.collectors_used

    async def inside():
        builder.build_sync(asked)

    with pytest.raises(InvalidInput, match=r"await build\(request\)"):
        asyncio.run(inside())


class Pinboard:
    """Gives one block."""

    def __init__(self, studio) -> None:
        self._item = studio.builder.build_sync(ContextRequest(query="", user=ANA, focus=Focus(block_id="t-mirrors")))

    async def collect(self, request):
        await asyncio.sleep(0)
        return [replace(self._item.sections[0].items[0], relevance=1.0)]
