"""The server as the official client meets it: in a process of its own, over standard input and output."""

import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from mcp import MCPError

from weftwork import Weft, sample
from weftwork.server.address import TEMPLATE, to_uri
from weftwork.server.mcp import make_server
from weftwork.server.stdio import readable
from weftwork.text.tokens import get_counter

from .conftest import LONG
from .talking import talking

COUNTER = get_counter()
QUESTION = "What was decided about the mirrors?"
CONTRACT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Question, topic to search for, or node ID to start from"},
        "depth": {"type": "number", "description": "Traversal depth (1-5): how far links are followed"},
        "maxTokens": {"type": "number", "description": "Token budget for output (default: 4000)", "default": 4000},
        "lens": {
            "type": "string",
            "enum": ["general", "writing", "coding", "planning", "meeting-prep"],
            "description": "Traversal pattern to use",
        },
        "recipe": {
            "type": "string",
            "enum": ["default", "workspace", "thread", "memory", "conversation", "research", "graph"],
            "description": "How to look; graph walks from a node or topic and shows what is linked to it",
            "default": "default",
        },
        "includeFields": {"type": "boolean", "description": "Include field values in context", "default": True},
        "format": {
            "type": "string",
            "enum": ["markdown", "json"],
            "description": "Output format",
            "default": "markdown",
        },
        "workspace": {"type": "string", "description": "Workspace alias (default: studio)"},
    },
    "required": ["query"],
}


@contextmanager
def here(studio, user="ana", **options):
    """A conversation with a server in this process, over the same store."""
    with Weft.open(studio, embedder="hashing") as weft:
        server = make_server(weft, workspace=sample.WORKSPACE, user=user, **options)
        with talking(server) as talk:
            yield talk


def test_the_server_introduces_itself(ana):
    assert ana.client.server_info.name == "weftwork"
    assert "weftwork_context" in ana.client.instructions
    assert ana.client.server_capabilities.tools is not None
    assert ana.client.server_capabilities.resources is not None


def test_tools_have_the_schema_of_the_graph_contract(ana):
    tools = ana.tools()
    assert list(tools) == [
        "weftwork_context",
        "weftwork_search",
        "weftwork_read",
        "weftwork_sources",
        "weftwork_remember",
        "weftwork_memories",
        "weftwork_update_memory",
        "weftwork_forget",
        "weftwork_memory_history",
        "weftwork_explain",
        "weftwork_receipts",
    ]
    asked = tools["weftwork_context"].input_schema
    details = asked["properties"].pop("details")
    walk = {name: asked["properties"].pop(name) for name in ("edgeTypes", "exclude", "limit", "hubLimit", "routes")}
    assert all(option["description"] for option in walk.values())
    assert (details["type"], details["default"]) == ("boolean", False)
    assert asked == tools["weftwork_explain"].input_schema == CONTRACT
    for name, tool in tools.items():
        assert "user" not in tool.input_schema["properties"]
        assert tool.annotations.read_only_hint == (not name.endswith(("remember", "update_memory", "forget")))
        assert tool.annotations.destructive_hint is (name == "weftwork_forget")
        assert len(tool.description) > 80


def test_a_context_answers_within_its_budget_with_citations(ana):
    text = ana.text("weftwork_context", query=QUESTION, maxTokens=800)
    assert "mirror" in text.casefold()
    assert COUNTER.count(text) <= 800
    less = ana.text("weftwork_context", query=QUESTION, maxTokens=800, includeFields=False, depth=1, lens="planning")
    assert less != text


def test_a_context_as_json_is_the_document_of_the_contract(ana):
    result = ana.call("weftwork_context", query=QUESTION, format="json", maxTokens=1500)
    assert not result.is_error
    document = json.loads(result.content[0].text)
    # Once, as text: the same again as structured content would count twice.
    assert result.structured_content is None
    assert COUNTER.count(result.content[0].text) == document["meta"]["tokens"]["used"] <= 1500
    assert set(document) >= {"meta", "nodes", "overflow"}
    assert document["meta"]["workspace"] == "studio"
    assert document["meta"]["lens"] == "general"
    assert document["meta"]["tokens"]["budget"] == 1500
    assert document["nodes"][0].keys() >= {"id", "name", "content", "tags", "score", "distance", "path"}


def test_a_node_can_be_asked_for_by_its_id(ana):
    document = json.loads(ana.text("weftwork_context", query="finch", recipe="graph", format="json"))
    assert [node["id"] for node in document["nodes"] if node["distance"] == 0] == ["finch"]


def test_a_search_finds_passages_for_models_and_for_programs(ana):
    result = ana.call("weftwork_search", query="mirror pinholes", limit=4)
    found = result.structured_content["results"]
    assert 0 < len(found) <= 4
    assert result.structured_content["leftOut"] == 0
    for each in found:
        assert f"[{each['citation']}]" in result.content[0].text
        assert each["uri"] in result.content[0].text
    assert ana.call("weftwork_search", query="mirror", types=["todo"]).structured_content["results"]
    tasks = ana.call("weftwork_search", query="mirror", types=["todo"], mode="words").structured_content["results"]
    assert {each["type"] for each in tasks} == {"todo"}
    nothing = ana.call("weftwork_search", query="mirror", tags=["no such tag"])
    assert nothing.structured_content == {"results": [], "leftOut": 0}
    assert "Nothing found" in nothing.content[0].text


def test_what_was_found_can_be_read_by_id_citation_and_address(ana):
    found = ana.call("weftwork_search", query="mirror pinholes").structured_content["results"][0]
    by_id = ana.text("weftwork_read", id=found["id"])
    assert found["uri"] in by_id
    assert ana.text("weftwork_read", id=found["uri"]) == by_id
    cited = ana.text("weftwork_read", id=f"[{found['citation']}]")
    assert f"[{found['citation']}]" in cited
    assert ana.read(found["uri"]) == by_id


def test_a_document_has_what_it_is_and_where_its_links_lead_above_its_text(ana):
    head, text = front_matter(ana.text("weftwork_read", id="finch"))
    assert head["id"] == ["finch (page)"]
    assert head["address"] == [to_uri("studio", "finch")]
    assert head["tokens"][0].endswith("to the end")
    assert all(to_uri("studio", "") in link for link in head["link"])
    assert text.startswith("# Finch\n")
    assert "A telescope that libraries lend like a book." in text
    assert ana.text("weftwork_read", id="Finch") == ana.text("weftwork_read", id="finch")


def test_a_long_text_is_read_in_parts_that_leave_nothing_out(ana):
    parts, arguments = [], {"id": "log"}
    while arguments:
        page = ana.text("weftwork_read", **arguments)
        assert COUNTER.count(page) <= 10_000
        head, text = front_matter(page)
        parts.append(re.sub(r" \[[a-z]\d{6}\]", "", text))
        _, _, call = head["tokens"][0].partition("read on: weftwork_read ")
        arguments = json.loads(call) if call else None
        assert bool(arguments) == ("left" in head["tokens"][0])
    assert len(parts) > 1
    assert " ".join(parts).split()[3:] == LONG.split()
    assert "without start" in ana.error("weftwork_read", id="finch", start="k000000")


def test_a_citation_of_a_long_text_opens_its_passage(ana):
    found = ana.call("weftwork_search", query="Night 97 stars", mode="words", limit=20).structured_content["results"]
    cited = next(each for each in found if each["id"] == "log")
    page = ana.text("weftwork_read", id=cited["citation"])
    assert COUNTER.count(page) <= 10_000
    assert f"[{cited['citation']}]" in page


def front_matter(page):
    """What a page says above its text, by name, and the text."""
    begin, lines, text = page.split("---\n", 2)
    assert begin == ""
    head = {}
    for line in lines.splitlines():
        name, _, value = line.partition(": ")
        head.setdefault(name, []).append(value)
    return head, text.strip()


def test_an_explanation_says_why_each_candidate_is_in_or_out(ana):
    text = ana.text("weftwork_explain", query=QUESTION, maxTokens=600)
    assert "found by" in text
    assert "dropped" in text or "line" in text
    result = ana.call("weftwork_explain", query=QUESTION, maxTokens=600, format="json")
    assert json.loads(result.content[0].text) == result.structured_content
    assert {"fate", "reason", "score", "findings"} <= result.structured_content["decisions"][0].keys()


def test_what_is_remembered_is_found_in_the_next_session_and_only_by_its_writer(command, studio):
    with talking(command()) as ana:
        result = ana.call(
            "weftwork_remember",
            text="Ana likes the Dobsonian base in walnut.",
            type="preference",
            confidence=0.9,
            tags=["base"],
        )
        kept = result.structured_content
        assert kept["uri"] in result.content[0].text
    with here(studio) as ana:
        found = ana.call("weftwork_search", query="Dobsonian walnut").structured_content["results"]
        assert kept["id"] in {each["id"] for each in found}
        page = ana.text("weftwork_read", id=kept["id"])
        assert "Ana likes the Dobsonian base in walnut." in page
        assert "confidence: 0.90" in page
        assert "\ntags: memory, base\n" in page
    with here(studio, "ben") as ben:
        found = ben.call("weftwork_search", query="Dobsonian walnut").structured_content["results"]
        assert kept["id"] not in {each["id"] for each in found}
        assert ben.error("weftwork_read", id=kept["id"])


def test_a_memory_is_found_corrected_followed_back_and_forgotten(studio):
    with here(studio) as ana:
        old = ana.call("weftwork_remember", text="The base is painted green.").structured_content["id"]
        told = ana.text("weftwork_remember", text="The base is not painted green.")
        assert f"Probably a contradiction of {old}" in told and "one of them is negated" in told
        assert old in ana.text("weftwork_memories", query="base painted")
        new = ana.call("weftwork_update_memory", id=old, text="The base is painted blue.").structured_content["id"]
        history = ana.text("weftwork_memory_history", id=new).splitlines()
        assert [line.split()[0] for line in history] == [old, new]
        assert " until " in history[0] and ", by ana" in history[0]
        with here(studio, "ben") as ben:
            for tool in ("weftwork_forget", "weftwork_memory_history"):
                assert "there is no memory" in ben.error(tool, id=new)
        assert ana.text("weftwork_forget", id=new) == "Forgotten, with 1 earlier version."
        assert "there is no memory" in ana.error("weftwork_memory_history", id=old)
        assert "No memories found" in ana.text("weftwork_memories", query="base", types=["nonsense"])


@pytest.mark.parametrize(
    ("tool", "arguments", "fix"),
    [
        ("weftwork_context", {}, "query is missing"),
        ("weftwork_context", {"query": " "}, "give a question, a topic"),
        ("weftwork_context", {"query": 7}, "must be text"),
        ("weftwork_context", {"query": "x", "depth": 9}, "depth must be"),
        ("weftwork_context", {"query": "x", "depth": 1.5}, "whole number"),
        ("weftwork_context", {"query": "x", "depth": True}, "must be a number"),
        ("weftwork_context", {"query": "x", "maxTokens": 0}, "at least 1"),
        ("weftwork_context", {"query": "x", "lens": "fisheye"}, "meeting-prep"),
        ("weftwork_context", {"query": "x", "format": "xml"}, "markdown, json"),
        ("weftwork_context", {"query": "x", "includeFields": "yes"}, "true or false"),
        ("weftwork_context", {"query": "x", "user": "ben"}, "unknown argument 'user'"),
        ("weftwork_context", {"query": "x", "workspace": "nowhere"}, "leave it out"),
        ("weftwork_explain", {"query": "x", "depth": -1}, "depth must be"),
        ("weftwork_search", {"query": "x", "limit": 0}, "from 1 to 50"),
        ("weftwork_search", {"query": "x", "limit": 51}, "from 1 to 50"),
        ("weftwork_search", {"query": "x", "tags": "one"}, "list of texts"),
        ("weftwork_search", {"query": "x", "tags": [1]}, "list of texts"),
        ("weftwork_search", {"query": "x", "mode": "magic"}, "hybrid, words, vector"),
        ("weftwork_read", {"id": "no such node"}, "weftwork_search"),
        ("weftwork_read", {"id": "weftwork://studio"}, TEMPLATE),
        ("weftwork_read", {"id": "weftwork://nowhere/finch"}, "leave it out"),
        ("weftwork_read", {"id": "finch", "start": "nowhere"}, "`next`"),
        ("weftwork_remember", {"text": " "}, "text"),
        ("weftwork_remember", {"text": "x", "confidence": 2}, "from 0 to 1"),
    ],
)
def test_a_failure_is_an_answer_that_names_the_fix_and_nothing_of_the_machine(ana, studio, tool, arguments, fix):
    message = ana.error(tool, **arguments)
    assert fix in message
    assert "Traceback" not in message
    assert str(studio.parent) not in message
    assert COUNTER.count(message) <= 150


def test_arguments_that_are_null_count_as_left_out(ana):
    asked = {"query": QUESTION, "maxTokens": 700}
    nulls = dict.fromkeys(("depth", "lens", "recipe", "includeFields", "format", "workspace"))
    assert ana.text("weftwork_context", **asked, **nulls) == ana.text("weftwork_context", **asked)


@pytest.mark.parametrize(
    "text", ["漢字と望遠鏡", "👩‍👩‍👧 Finch", "\u2028 \x00 \x1b[31m", "'; DROP TABLE nodes; --", '[[Finch]] * " (']
)
def test_any_text_is_an_argument(ana, text):
    for tool, name in (("weftwork_context", "query"), ("weftwork_search", "query"), ("weftwork_explain", "query")):
        ana.text(tool, **{name: text})
    ana.error("weftwork_read", id=text)


def test_huge_arguments_are_answered(ana):
    huge = "mirror " * 150_000
    assert COUNTER.count(ana.text("weftwork_search", query=huge)) <= 10_000
    assert COUNTER.count(ana.text("weftwork_context", query=huge)) <= 4_000
    assert COUNTER.count(ana.error("weftwork_read", id=huge)) <= 150
    with pytest.raises(MCPError) as unknown:
        ana.call(huge)
    assert COUNTER.count(unknown.value.message) <= 150
    assert COUNTER.count(ana.error("weftwork_search", query="x", **{huge: 1})) <= 150
    assert COUNTER.count(ana.error("weftwork_search", query="x", limit=10**400)) <= 150


@pytest.mark.parametrize("cap", [200, 700])
def test_no_answer_counts_more_than_the_cap(command, studio, cap):
    with talking(command("--max-output-tokens", "200")) if cap == 200 else here(studio, max_output_tokens=cap) as ana:
        found = ana.call("weftwork_search", query="Night 97 stars", mode="words").structured_content["results"]
        in_the_log = next(each["citation"] for each in found if each["id"] == "log")
        answers = [
            ana.call("weftwork_context", query=QUESTION, maxTokens=50_000),
            ana.call("weftwork_context", query=QUESTION, maxTokens=cap),
            ana.call("weftwork_context", query=QUESTION, format="json"),
            ana.call("weftwork_search", query="mirror", limit=50),
            ana.call("weftwork_read", id="log"),
            ana.call("weftwork_read", id="log", start=in_the_log),
            ana.call("weftwork_explain", query=QUESTION),
            ana.call("weftwork_explain", query=QUESTION, format="json"),
        ]
        for answer in answers:
            assert COUNTER.count("".join(each.text for each in answer.content)) <= cap
            if answer.structured_content is not None:
                assert COUNTER.count(json.dumps(answer.structured_content, ensure_ascii=False)) <= cap
        texts = ["\n\n".join(each.text for each in answer.content) for answer in answers]
        assert "output cap" in texts[0]
        assert "left out" in texts[3]
        assert answers[3].structured_content["leftOut"] > 0
        assert "read on: weftwork_read" in texts[4]
        assert "output cap" in texts[6]
        assert json.loads(texts[7])["leftOut"] > 0
        assert COUNTER.count(ana.read(to_uri("studio", "log"))) <= cap
        # Filled, not merely below the cap.
        assert COUNTER.count(texts[4]) > cap * 0.7


def test_resources_are_listed_page_by_page_and_each_can_be_read(ana):
    listed = ana.resources()
    assert len(listed) > 50
    assert len({each.uri for each in listed}) == len(listed)
    assert {each.mime_type for each in listed} == {"text/markdown"}
    changed = [each.annotations.last_modified for each in listed if each.annotations]
    assert changed == sorted(changed, reverse=True)
    for each in listed[:3] + listed[-3:]:
        assert each.uri in ana.read(each.uri)
    (template,) = ana.portal.call(ana.client.list_resource_templates).resource_templates
    assert template.uri_template == TEMPLATE


def test_addresses_are_completed(ana):
    assert ana.complete("workspace", "st") == ["studio"]
    assert ana.complete("workspace", "x") == []
    assert "finch" in ana.complete("id", "Fin")
    assert "finch" in ana.complete("id", "finc", workspace="studio")
    assert ana.complete("nonsense", "") == []


@pytest.mark.parametrize(
    "uri", ["weftwork://studio/no%20such", "weftwork://nowhere/finch", "weftwork://", "file:///etc/passwd", "x"]
)
def test_a_resource_that_is_not_there_is_an_error(ana, uri):
    with pytest.raises(MCPError) as caught:
        ana.read(uri)
    assert "Traceback" not in caught.value.message


def test_an_unknown_cursor_is_an_error(ana):
    for cursor in ("x", "-1", "9" * 400):
        with pytest.raises(MCPError, match="cursor"):
            ana.portal.call(lambda cursor=cursor: ana.client.list_resources(cursor=cursor))


def test_many_requests_at_once_get_the_answers_that_each_gets_alone(ana):
    asked = [("weftwork_context", {"query": f"{QUESTION} {number}"}) for number in range(8)]
    asked += [("weftwork_search", {"query": f"night {number}"}) for number in range(8)]
    alone = [ana.text(tool, **arguments) for tool, arguments in asked]
    together = {}

    async def ask(number):
        result = await ana.client.call_tool(*asked[number])
        together[number] = result.content[0].text

    async def all_at_once():
        async with anyio.create_task_group() as group:
            for number in range(len(asked)):
                group.start_soon(ask, number)

    ana.portal.call(all_at_once)
    assert [together[number] for number in range(len(asked))] == alone


def test_lenses_of_ones_own_can_be_chosen(command, tmp_path):
    (tmp_path / "weftwork.toml").write_text('[lenses.optics]\nboost_tags = ["mirror"]\n')
    with talking(command("--directory", str(tmp_path))) as ana:
        choices = ana.tools()["weftwork_context"].input_schema["properties"]["lens"]["enum"]
        assert choices == [*CONTRACT["properties"]["lens"]["enum"], "optics"]
        assert (
            json.loads(ana.text("weftwork_context", query=QUESTION, lens="optics", format="json"))["meta"]["lens"]
            == "optics"
        )


# Below: the process itself, spoken to in plain lines.

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "lines", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
JUNK = [
    b"",
    b"not json",
    b"{}",
    b"[]",
    b'{"jsonrpc": "2.0"}',
    b"\xff\xfe\x00",
    b'{"jsonrpc":"2.0","method":7}',
    b"[" * 9999,
]


def _interruptible():
    """A shell starts what it runs in the background with interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def process(command):
    asked = command()
    started = subprocess.Popen(
        [asked.command, *asked.args],
        env=asked.env,
        cwd=asked.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_interruptible,  # noqa: PLW1509
    )
    yield started
    if started.poll() is None:
        started.kill()
    started.communicate()


def say(process, *messages):
    for message in messages:
        process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode())
        process.stdin.write(b"\n")
    process.stdin.flush()


def ended(process):
    """How the process ended, and what it said on its way."""
    out, err = process.communicate(timeout=60)
    assert b"Traceback" not in err
    for line in out.splitlines():
        json.loads(line)
    return process.returncode


def test_junk_on_standard_input_does_not_end_it(process):
    say(process, *JUNK, HELLO)
    assert json.loads(process.stdout.readline())["id"] == 1
    say(process, READY, *JUNK, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    while (answer := json.loads(process.stdout.readline())).get("id") != 2:
        pass
    assert len(answer["result"]["tools"]) == 11
    assert ended(process) == 0


def test_half_a_character_is_answered_too(process):
    say(process, HELLO, READY)
    process.stdout.readline()
    for number, text in enumerate(
        (r"x \ud83d y", r"\uDE00", r"\ud83d\ude00", r"\\ud83d", r"\ud83d\ud83d\ude00"), start=2
    ):
        call = {"name": "weftwork_search", "arguments": {"query": "TEXT"}}
        line = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
        say(process, line.replace("TEXT", text).encode())
        answer = json.loads(process.stdout.readline())
        assert answer["id"] == number
        assert not answer["result"]["isError"]
    assert ended(process) == 0


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\ud83d"', r'"\ufffd"'),
        (r'"\uDE00 \uD83D\uDE00"', r'"\ufffd \uD83D\uDE00"'),
        (r'"\ud83d\ud83d\ude00"', r'"\ufffd\ud83d\ude00"'),
        (r'"\\ud83d"', r'"\\ud83d"'),
        (r'"\\\ud83d"', r'"\\\ufffd"'),
        (r'"\u00fcd83d \n"', r'"\u00fcd83d \n"'),
    ],
)
def test_only_half_a_character_is_replaced(line, read):
    assert readable(line) == read


def test_the_end_of_input_ends_it_before_and_after_a_greeting(process):
    say(process, HELLO)
    process.stdout.readline()
    assert ended(process) == 0


def test_no_input_at_all_ends_it(process):
    assert ended(process) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
def test_an_interrupt_ends_it_although_the_client_says_nothing(process):
    say(process, HELLO)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)  # standard input is still open
    assert ended(process) == 0


def test_a_request_in_flight_when_the_client_leaves_ends_it_too(process):
    call = {"name": "weftwork_context", "arguments": {"query": QUESTION}}
    say(process, HELLO, READY, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    assert ended(process) == 0


def test_without_the_extra_the_error_names_the_command_that_installs_it():
    script = "import sys; sys.modules['mcp'] = None; import weftwork.server.mcp"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "pip install 'weftwork[mcp]'" in ran.stderr


def test_it_can_be_mounted_over_http(studio):
    import httpx

    from weftwork.server.mcp import make_server

    with Weft.open(studio, embedder="hashing") as weft:
        server = make_server(weft, workspace=sample.WORKSPACE, user="ana")
        app = server.streamable_http_app(json_response=True, stateless_http=True)

        async def ask():
            transport = httpx.ASGITransport(app=app)
            async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport) as http:
                headers = {"Accept": "application/json, text/event-stream"}
                return await http.post("http://127.0.0.1:8000/mcp", json=HELLO, headers=headers)

        answer = anyio.run(ask)
    assert answer.json()["result"]["serverInfo"]["name"] == "weftwork"
