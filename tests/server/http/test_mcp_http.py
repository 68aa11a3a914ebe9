"""The official client over streamable HTTP, with keys, on a real server."""

import json
from contextlib import contextmanager
from datetime import timedelta

import httpx
import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from weftwork import Node
from weftwork.server.http.options import Limits
from weftwork.server.keys import make_key, revoke_key

from ..talking import Talk
from .serving import NOW, SAME_REQUEST, key_for, open_studio, served

ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
PATIENCE = 60
PLAIN = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with open_studio(tmp_path_factory.mktemp("mcp") / "studio.weft") as weft:
        weft.create_workspace("third", owner="ana")
        weft.add([Node(id="third", type="page", title="Third", text="A third mirror.")], workspace="third")
        yield weft


@pytest.fixture(scope="module")
def url(studio):
    key_for(studio)  # so that keys are needed
    with served(studio, limits=Limits(requests_per_minute=0)) as address:
        yield f"{address}/mcp"


@contextmanager
def talking(url, headers, mode="auto"):
    with start_blocking_portal() as portal:

        async def open_client():
            return httpx2.AsyncClient(headers=headers)

        http = portal.call(open_client)
        client = Client(streamable_http_client(url, http_client=http), mode=mode, cache=None)
        with portal.wrap_async_context_manager(http), portal.wrap_async_context_manager(client) as opened:
            yield Talk(portal, opened)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_key_decides_what_the_tools_see(studio, url, mode):
    with talking(url, key_for(studio, scope="write"), mode) as ana:
        assert "weftwork_remember" in ana.tools()
        assert "Salary" in ana.text("weftwork_search", query="secret sum")
        assert "mirror cell ships" in ana.text("weftwork_context", query="When does the mirror ship?")
    with talking(url, key_for(studio, user="ben"), mode) as ben:
        assert "Salary" not in ben.text("weftwork_search", query="secret sum")
        assert "Salary" not in str(ben.resources())


def test_a_read_key_may_not_remember(studio, url):
    with talking(url, key_for(studio)) as reading:
        assert "weftwork_remember" not in reading.tools()
        assert "unknown tool" in reading.outcome(lambda talk: talk.text("weftwork_remember", text="Birch is light."))
    with talking(url, key_for(studio, scope="write")) as writing:
        kept = writing.call("weftwork_remember", text="Birch is light.").structured_content
    assert studio.node(kept["id"], user="ana", workspace="studio").text == "Birch is light."


def test_a_key_reaches_its_own_workspaces_and_no_other_of_its_user(studio, url):
    with talking(url, key_for(studio, workspaces=("studio", "other")) | {"Weftwork-Workspace": "studio"}) as ana:
        assert "Elsewhere" in ana.text("weftwork_search", query="mirror", workspace="other")
        hidden = ana.error("weftwork_search", query="mirror", workspace="third")
        absent = ana.error("weftwork_search", query="mirror", workspace="fourth")
        assert hidden.replace("third", "fourth") == absent
        assert ana.complete("workspace", "") == ["other", "studio"]
        assert "there is nothing" in ana.outcome(lambda talk: talk.read("weftwork://third/third"))


def test_two_keys_at_once_never_get_each_others_answers(studio, url):
    with talking(url, key_for(studio)) as ana, talking(url, key_for(studio, user="ben")) as ben:
        for _ in range(3):
            assert "Salary" in ana.text("weftwork_search", query="secret sum")
            assert "Salary" not in ben.text("weftwork_search", query="secret sum")


def post(url, headers, body=ASK):
    return httpx.post(url, headers=PLAIN | headers, content=json.dumps(body), timeout=PATIENCE)


def test_a_session_of_one_key_is_nothing_to_another(studio, url):
    """There are none: whatever id is sent, the key alone says who asks."""
    start = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    opened = post(url, key_for(studio), start)
    assert opened.status_code == 200
    assert "mcp-session-id" not in opened.headers
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "weftwork_search", "arguments": {"query": "secret sum"}}}  # fmt: skip
    stolen = post(url, key_for(studio, user="ben") | {"Mcp-Session-Id": "0" * 32}, call)
    assert "Salary" not in stolen.text


def test_without_a_key_that_holds_there_is_no_answer(studio, url):
    key, token = make_key(studio.store, user="ana", workspaces=["studio"], scope="read", now=NOW)
    assert post(url, {"Authorization": f"Bearer {token}"}).status_code == 200
    revoke_key(studio.store, key.id, NOW)
    _, expired = make_key(
        studio.store, user="ana", workspaces=["studio"], scope="read", now=NOW - timedelta(days=2),
        lasts=timedelta(days=1),
    )  # fmt: skip
    answers = [
        post(url, headers | SAME_REQUEST)
        for headers in (
            {},
            {"Authorization": f"Bearer {token}"},
            {"Authorization": f"Bearer {expired}"},
            {"Authorization": "Bearer weftwork_" + "x" * 43},
        )
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].headers["content-type"] == "application/problem+json"


def test_nothing_is_streamed_by_itself(studio, url):
    key = key_for(studio)
    for method in ("GET", "DELETE"):
        answer = httpx.request(method, url, headers=PLAIN | key)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert httpx.get(url, headers=PLAIN, timeout=PATIENCE).status_code == 401


def test_nonsense_is_answered_and_harms_nobody(studio, url):
    key = key_for(studio)
    for content in (b"", b"{", b"[]", b"\xff", b'{"jsonrpc": "2.0"}', b"[" * 10_000):
        answer = httpx.post(url, headers=PLAIN | key, content=content, timeout=PATIENCE)
        assert 400 <= answer.status_code < 500, content[:20]
    for too_large in (b"x" * 2_000_001, (b"x" * 1_000_000 for _ in range(3))):
        answer = httpx.post(url, headers=PLAIN | key, content=too_large, timeout=PATIENCE)
        assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert post(url, key).status_code == 200


def test_the_limits_of_the_server_hold_here_too(studio, url):
    key = key_for(studio)
    for arguments, told in (
        ({"query": "x" * 8001}, "the length of the query is 8,001"),
        ({"query": "mirror", "depth": 6}, "depth"),
        ({"query": "mirror", "depth": 5}, None),
    ):
        call = ASK | {"method": "tools/call", "params": {"name": "weftwork_context", "arguments": arguments}}
        result = post(url, key, call).json()["result"]
        assert result["isError"] is (told is not None)
        assert told is None or told in result["content"][0]["text"]
