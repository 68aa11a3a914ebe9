"""The revision 2026-07-28 of the protocol, line by line, as messages on the wire."""

import json
import threading
from typing import Any, cast

import anyio
import httpx
import pytest
from anyio.from_thread import start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, ElicitResult
from tests.server.http.serving import running

from weftwork import Node, Weft
from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Local, Options
from weftwork.server.mcp import Handlers, make_server
from weftwork.server.output_cap import OutputCap
from weftwork.server.tools import McpTools

from .talking import talking

VERSION = "2026-07-28"


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with Weft.open(tmp_path_factory.mktemp("revision") / "a.weft", embedder="hashing") as engine:
        engine.add(
            [
                Node(id="dome", type="page", title="Dome", text="The dome turns on rollers.", source="/notes/dome.md"),
                Node(id="one", type="page", title="Tools", text="A hammer.", source="/notes/a/tools.md"),
                Node(id="two", type="page", title="Tools", text="A saw.", source="/notes/b/tools.md"),
            ]
        )
        yield engine


@pytest.fixture(scope="module")
def post(weft):
    """Send one message, without any greeting before it, and return the answer."""
    app = make_app(weft, Options(local=Local(user="me", workspace="main"), limits=Limits(requests_per_minute=0)))
    with running(app) as url, httpx.Client(base_url=url) as client:

        def send(method, params=None, named=None, *, capabilities=None, headers=None):
            meta = {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientCapabilities": capabilities or {},
            }
            sent = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method, "Accept": "application/json"}
            sent |= {} if named is None else {"Mcp-Name": named}
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": meta}}
            return client.post("/mcp", json=body, headers=sent | (headers or {}))

        yield send


def call(post, tool, arguments, **more):
    return post("tools/call", {"name": tool, "arguments": arguments} | more.pop("params", {}), tool, **more).json()


def test_each_request_stands_for_itself(post):
    answer = post("tools/list")
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    assert answer.json()["result"]["resultType"] == "complete"


def test_discovery_tells_versions_capabilities_and_instructions(post):
    told = post("server/discover").json()["result"]
    assert VERSION in told["supportedVersions"]
    assert told["capabilities"].keys() >= {"tools", "resources", "completions"}
    assert "weftwork_context" in told["instructions"]
    assert told["resultType"] == "complete"


@pytest.mark.parametrize(
    ("method", "params", "ttl"),
    [
        ("server/discover", None, 3_600_000),
        ("tools/list", None, 3_600_000),
        ("resources/templates/list", None, 3_600_000),
        ("resources/list", None, 10_000),
        ("resources/read", {"uri": "weftwork://main/dome"}, 0),
    ],
)
def test_what_may_be_cached_is_for_its_caller_alone(post, method, params, ttl):
    result = post(method, params, (params or {}).get("uri")).json()["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (ttl, "private")


def test_the_list_of_tools_is_the_same_bytes_each_time(post):
    assert post("tools/list").content == post("tools/list").content


def test_headers_that_say_something_else_than_the_message_are_refused(post):
    answer = post("tools/list", headers={"Mcp-Method": "tools/call"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32020
    answer = post("tools/list", headers={"MCP-Protocol-Version": "2031-01-01"})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("weftwork_search", {"query": "rollers"}),
        ("weftwork_search", {"query": "zzqq"}),
        ("weftwork_sources", {}),
        ("weftwork_sources", {"query": "TOOLS.md", "limit": 1}),
        ("weftwork_remember", {"text": "The dome is locked at night.", "confidence": 0.8, "tags": ["safety"]}),
        ("weftwork_memories", {"query": "dome locked"}),
        ("weftwork_receipts", {"limit": 2}),
    ],
)
def test_structured_content_is_what_the_schema_says(post, tool, arguments):
    schemas = {each["name"]: each.get("outputSchema") for each in post("tools/list").json()["result"]["tools"]}
    result = call(post, tool, arguments)["result"]
    Draft202012Validator(schemas[tool]).validate(result["structuredContent"])
    assert result["content"][0]["text"]


def test_every_tool_that_lists_or_writes_has_a_schema_for_its_answer(post):
    tools = post("tools/list").json()["result"]["tools"]
    texts = {"weftwork_context", "weftwork_read", "weftwork_explain"}
    assert {each["name"] for each in tools if "outputSchema" not in each} == texts


def test_a_memory_is_followed_back_and_forgotten_in_structured_content(post):
    kept = call(post, "weftwork_remember", {"text": "The gate code is 4711."})["result"]["structuredContent"]["id"]
    new = call(post, "weftwork_update_memory", {"id": kept, "text": "The gate code is 4712."})
    new = new["result"]["structuredContent"]["id"]
    versions = call(post, "weftwork_memory_history", {"id": new})["result"]["structuredContent"]["memories"]
    assert [each["id"] for each in versions] == [kept, new]
    assert versions[0]["validUntil"] == versions[1]["validFrom"]
    assert call(post, "weftwork_forget", {"id": new})["result"]["structuredContent"] == {"removed": 2}


def test_a_receipt_says_what_was_handed_out_and_why(post):
    call(post, "weftwork_context", {"query": "What does the dome turn on?"})
    latest = call(post, "weftwork_receipts", {})["result"]["structuredContent"]["receipts"][0]
    assert (latest["query"], latest["surface"]) == ("What does the dome turn on?", "mcp")
    (shown,) = call(post, "weftwork_receipts", {"id": latest["id"]})["result"]["structuredContent"]["receipts"]
    assert "dome" in [each["node"] for each in shown["used"]] and all(each["why"] for each in shown["used"])
    assert call(post, "weftwork_receipts", {"id": "rec-none"})["result"]["isError"]


def test_clients_that_show_apps_get_the_card_of_a_context(post):
    able = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
    tools = {each["name"]: each for each in post("tools/list").json()["result"]["tools"]}
    address = tools["weftwork_context"]["_meta"]["ui"]["resourceUri"]
    assert "io.modelcontextprotocol/ui" in post("server/discover").json()["result"]["capabilities"]["extensions"]
    (page,) = post("resources/read", {"uri": address}, address).json()["result"]["contents"]
    assert page["mimeType"] == "text/html;profile=mcp-app" and "ui/initialize" in page["text"]
    assert "innerHTML" not in page["text"] and "http" not in page["text"]
    asked = {"query": "What does the dome turn on?"}
    plain, shown = (call(post, "weftwork_context", asked, capabilities=each)["result"] for each in ({}, able))
    assert "structuredContent" not in plain and plain["content"] == shown["content"]
    card = shown["structuredContent"]
    assert card["tokens"] <= card["budget"]
    assert "Dome" in [each["title"] for each in card["sources"]] and all(each["why"] for each in card["sources"])


def test_sources_are_listed_once_each_with_what_stands_in_them(post):
    found = call(post, "weftwork_sources", {"types": ["page"]})["result"]["structuredContent"]
    assert {each["source"] for each in found["sources"]} == {"/notes/dome.md", "/notes/a/tools.md", "/notes/b/tools.md"}
    assert found["total"] == 3 and found["leftOut"] == 0
    assert (
        call(post, "weftwork_sources", {"query": "b/tools"})["result"]["structuredContent"]["sources"][0]["id"] == "two"
    )


@pytest.mark.parametrize(
    ("method", "params", "named", "code"),
    [
        ("tools/call", {"name": "weftwork_nonsense"}, "weftwork_nonsense", INVALID_PARAMS),
        ("resources/read", {"uri": "weftwork://main/none"}, "weftwork://main/none", INVALID_PARAMS),
        ("resources/list", {"cursor": "x"}, None, INVALID_PARAMS),
        ("nonsense/method", {}, None, -32601),
    ],
)
def test_errors_of_the_protocol_have_their_codes(post, method, params, named, code):
    assert post(method, params, named).json()["error"]["code"] == code


def test_a_failure_of_the_server_is_no_fault_of_the_caller(tmp_path):
    weft = Weft.open(tmp_path / "closed.weft", embedder="hashing")
    with talking(make_server(weft, workspace="main", user="me")) as talk:
        weft.close()
        with pytest.raises(MCPError) as caught:
            talk.read("weftwork://main/dome")
        assert caught.value.code == INTERNAL_ERROR


def test_which_of_several_nodes_is_meant_is_asked_and_the_call_comes_again(post):
    able = {"elicitation": {"form": {}}}
    asked = call(post, "weftwork_read", {"id": "tools"}, capabilities=able)["result"]
    assert asked["resultType"] == "input_required"
    form = asked["inputRequests"]["node"]["params"]
    assert [each["const"] for each in form["requestedSchema"]["properties"]["node"]["oneOf"]] == ["one", "two"]
    answers = {"inputResponses": {"node": {"action": "accept", "content": {"node": "two"}}}}
    result = call(post, "weftwork_read", {"id": "tools"}, capabilities=able, params=answers)["result"]
    assert "A saw." in result["content"][0]["text"]
    declined = {"inputResponses": {"node": {"action": "decline"}}}
    for more in ({"capabilities": able, "params": declined}, {}):
        result = call(post, "weftwork_read", {"id": "tools"}, **more)["result"]
        assert result["isError"] and "may mean any of 2" in result["content"][0]["text"]


def test_the_official_client_lets_its_user_choose(weft):
    async def choose(context, params):
        return ElicitResult(action="accept", content={"node": "one"})

    server = make_server(weft, workspace="main", user="me")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, elicitation_callback=choose, cache=None)) as client,
    ):
        assert "A hammer." in portal.call(lambda: client.call_tool("weftwork_read", {"id": "tools"})).content[0].text


def test_a_long_call_reports_progress(weft):
    reports, release = [], threading.Event()

    class Slow(McpTools):
        def call(self, tool, arguments):
            assert release.wait(20)
            return super().call(tool, arguments)

    class Session:
        async def report_progress(self, progress, total, message):
            reports.append((progress, message))
            if progress == 3:
                release.set()

    class Asked:
        session = Session()

    tools = Slow(weft, workspace="main", user="me", cap=OutputCap(weft.tools.counter, 1000))

    async def work():
        handlers = Handlers(tools, anyio.CapacityLimiter(1), progress_seconds=0.01)
        return await handlers._reporting(
            cast(Any, Asked()), lambda: tools.call("weftwork_search", {"query": "rollers"})
        )

    assert json.dumps(anyio.run(work).structured)
    assert [progress for progress, _ in reports][:3] == [1, 2, 3]
