"""Nothing of what a user may not see is in any answer of the MCP server, nor changes one."""

import itertools
import json

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp_types import ResourceTemplateReference
from tests.depth import some

from weftwork import Weft
from weftwork.server.address import TEMPLATE, to_uri
from weftwork.server.mcp import make_server
from weftwork.store.contract.kit import NOW
from weftwork.store.sqlite import SqliteStore
from weftwork.text.tokens import CharacterCounter
from weftwork.tools import Tools

from .asking import QUERIES
from .sight import EMBEDDER, NAMES, NO_CITATION, Inventory
from .test_isolation import OUTSIDE, knotted, twin
from .world import ABSENT, COMMON, MARKER, PEOPLE, ROOT, World, marker, name, numbers, plans

WORKSPACES = (f"workspace {number}" for number in itertools.count())
PLACE = ResourceTemplateReference(uri=TEMPLATE)


@pytest.fixture(scope="module")
def engines(folder):
    """An engine with an embedder and one without, over one store."""
    store = SqliteStore(folder / "mcp.weft", clock=lambda: NOW)
    yield [Weft(store, Tools(CharacterCounter(), embedder), clock=lambda: NOW) for embedder in (None, EMBEDDER)]
    store.close()


queries = st.builds(lambda kind, number: QUERIES[kind](number) or COMMON, st.sampled_from(sorted(QUERIES)), numbers)
asked = st.fixed_dictionaries(
    {
        "query": queries | st.sampled_from(NAMES),
        "depth": st.integers(1, 5),
        "maxTokens": st.sampled_from([1, 60, 499, 700, 4000]),
        "lens": st.sampled_from(["general", "writing", "coding", "planning", "meeting-prep"]),
        "includeFields": st.booleans(),
        "format": st.sampled_from(["markdown", "json"]),
    }
)
caps = st.sampled_from([200, 1000, 10_000])


def calls(requests, inventory):
    """Tools with their arguments: what is drawn, and every node by its id, citation and address."""
    for arguments in requests:
        yield "weftwork_context", arguments
        yield "weftwork_explain", arguments
        yield "weftwork_search", {"query": arguments["query"], "limit": 50}
    for node in (*NAMES, ABSENT):
        yield "weftwork_read", {"id": node}
        yield "weftwork_read", {"id": inventory.citation(node)}


async def converse(server, requests, inventory, workspace):
    """Everything that a client gets: for each call what it named, and the answer as text."""
    heard = []
    async with Client(server, cache=None) as client:
        for tool, arguments in calls(requests, inventory):
            result = await client.call_tool(tool, arguments)
            heard.append((json.dumps(arguments), result.model_dump_json(exclude={"meta"})))
        for node in (*NAMES, ABSENT):
            try:
                read = await client.read_resource(to_uri(workspace, node))
                heard.append((node, read.model_dump_json(exclude={"meta"})))
            except MCPError as error:
                heard.append((node, error.message))
        for typed in ("", marker("title", 0)[:4]):
            found = await client.complete(PLACE, {"name": "id", "value": typed})
            heard.append(("", found.model_dump_json(exclude={"meta"})))
        heard.append(("", (await client.list_resources()).model_dump_json(exclude={"meta"})))
    return heard


def conversation(world, user, requests, cap, inventory):
    server = make_server(world.weft, workspace=world.workspace, user=user, max_output_tokens=cap)
    return anyio.run(converse, server, requests, inventory, world.workspace)


def marks(text):
    return set(MARKER.findall(text))


@settings(max_examples=some(60, part=6))
@given(
    plan=plans(),
    requests=st.lists(asked, min_size=1, max_size=2),
    user=st.sampled_from(PEOPLE),
    embedded=st.booleans(),
    cap=caps,
)
def test_no_answer_names_a_secret(engines, plan, requests, user, embedded, cap):
    with World(engines[embedded], next(WORKSPACES), plan) as world:
        conversation(world, ROOT, requests, cap, Inventory(world))  # fills the caches
        for action in plan.actions:
            world.do(action)
        inventory = Inventory(world)
        seen, secrets = world.visible(user), world.secrets(user)
        heard = conversation(world, user, requests, cap, inventory)
        for named, answer in heard:
            assert not secrets & marks(answer) - marks(named)
        listed = marks(heard[-1][1])
        assert listed & {name(number) for number in range(len(NAMES))} == {name(number) for number in seen}
        check_reads(heard, seen, inventory)


def check_reads(heard, seen, inventory):
    """What is visible can be read; what is hidden fails like what is absent."""
    answers = dict(heard)
    nothing = answers[json.dumps({"id": ABSENT})].replace(ABSENT, "NODE")
    missing = answers[ABSENT].replace(ABSENT, "NODE")
    for number, node in enumerate(NAMES):
        by_id, by_uri = answers[json.dumps({"id": node})], answers[node]
        if number in seen:
            assert marker("text", number) in by_id
            assert marker("text", number) in by_uri
            assert marker("text", number) in answers[json.dumps({"id": inventory.citation(node)})]
        else:
            assert by_id.replace(node, "NODE") == nothing
            assert by_uri.replace(node, "NODE") == missing
            hidden = inventory.citation(node)
            absent = answers.get(json.dumps({"id": NO_CITATION}))
            if hidden != NO_CITATION and absent is not None:
                assert answers[json.dumps({"id": hidden})].replace(hidden, NO_CITATION) == absent


@settings(max_examples=some(30))
@given(
    plan=plans(),
    requests=st.lists(asked, min_size=1, max_size=2),
    hidden=st.lists(st.tuples(st.integers(0, 11), st.sampled_from(OUTSIDE)), min_size=1, max_size=6),
    pairs=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6),
    cap=caps,
)
def test_what_is_hidden_changes_not_a_byte_of_an_answer(engines, plan, requests, hidden, pairs, cap):
    with World(engines[1], next(WORKSPACES), plan) as world:
        inventory = Inventory(world)
        before = conversation(world, "ben", requests, cap, inventory)
        nodes = [twin(world, number, copied, access) for number, (copied, access) in enumerate(hidden)]
        world.weft.add(nodes, knotted(world, nodes, pairs), workspace=world.workspace)
        assert conversation(world, "ben", requests, cap, inventory) == before


@settings(max_examples=some(30))
@given(plan=plans(most=2), requests=st.lists(asked, min_size=1, max_size=2), cap=caps)
def test_no_answer_counts_more_than_the_cap(engines, plan, requests, cap):
    counter = CharacterCounter()
    with World(engines[1], next(WORKSPACES), plan) as world:
        for _, answer in conversation(world, ROOT, requests, cap, Inventory(world)):
            if answer.startswith("{"):
                told = json.loads(answer)
                for content in (*told.get("content", ()), *told.get("contents", ())):
                    assert counter.count(content["text"]) <= cap
                if told.get("structured_content") is not None:
                    assert counter.count(json.dumps(told["structured_content"], ensure_ascii=False)) <= cap
