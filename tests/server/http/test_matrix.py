"""Each route of the application, asked by everyone who may not: refused, and told nothing."""

import json
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from fastapi.routing import iter_route_contexts

from weftwork import Edge, Node
from weftwork.server.http.options import Limits
from weftwork.server.keys import make_key, revoke_key

from .serving import NOW, calling, key_for, open_studio

OPEN = {"/healthz", "/readyz", "/", "/docs"}
"""Paths that need no key: they tell nothing of what is stored."""
ELSEWHERE = {"/mcp", "/assets"}
"""What is no route of this interface; the first has tests of its own, the second is files of the package."""
W = "/v1/workspaces/{workspace}"
HIDDEN, ABSENT = "secret", "absent"
ANAS_JOB, NO_JOB = "job-000000000000000000000001", "job-000000000000000000000002"


def json_of(**body):
    return lambda node: {"json": _filled(body, node)}


def query_of(**query):
    return lambda node: {"params": _filled(query, node)}


def _filled(value, node):
    return json.loads(json.dumps(value).replace("NODE", node))


@dataclass(frozen=True)
class Row:
    """What a route needs, and the ways in which a request may name a node or a job."""

    scope: str = "read"
    asks: tuple = (lambda node: {},)
    """Requests that are well formed; `NODE` stands for what they name."""
    same: bool = False
    """Whether a name that means nothing to the user is no error: the answer is the same for hidden and absent."""
    hidden: tuple = field(default=(HIDDEN, ABSENT))


def write(*asks, **more):
    return Row("write", asks, **more)


def read(*asks, **more):
    return Row("read", asks, **more)


def payload_of(node):
    item = {"blockId": node, "blockType": "page", "content": "mirror", "relevance": 1.0}
    sections = [{"type": "focus", "title": "Focus", "items": [item]}]
    return {"sections": sections, "metadata": {"totalTokens": 1, "timestamp": ""}, "serialized": "mirror"}


CONTEXTS = tuple(
    json_of(query="mirror", **{name: value})
    for name, value in (("focus", "NODE"), ("thread", "NODE"), ("include", ["NODE"]), ("page", "NODE"))
)
ROWS = {
    ("GET", "/metrics"): Row("admin"),
    ("GET", "/openapi.json"): Row(),
    ("GET", "/v1/workspaces"): Row(),
    ("POST", "/v1/workspaces"): Row("local", (json_of(name="NODE"),)),
    ("GET", W): Row(),
    ("DELETE", W): Row("admin"),
    ("GET", f"{W}/users"): Row("admin"),
    ("PUT", f"{W}/users/{{user:path}}"): Row("admin", (json_of(groups=[]),)),
    ("GET", "/v1/recipes"): Row(),
    ("GET", "/v1/lenses"): Row(),
    ("GET", "/v1/templates"): Row(),
    ("GET", "/v1/packers"): Row(),
    ("GET", f"{W}/nodes"): Row(),
    ("POST", f"{W}/nodes"): write(
        json_of(nodes=[{"id": "NODE", "text": "mine now"}]),
        json_of(nodes=[{"id": "NODE", "text": "mine now"}], in_place=True),
        json_of(nodes=[{"id": "NODE", "text": "mine now"}], keep_access=True),
        json_of(nodes=[{"id": "ben/new", "parent": "NODE"}]),
        json_of(edges=[{"source": "NODE", "target": "plan"}]),
        json_of(edges=[{"source": "plan", "target": "NODE"}]),
    ),
    ("GET", f"{W}/nodes/{{node:path}}"): Row(),
    ("DELETE", f"{W}/nodes/{{node:path}}"): write(lambda node: {}),
    ("POST", f"{W}/nodes-remove"): write(json_of(ids=["NODE"]), same=True),
    ("GET", f"{W}/read"): read(query_of(reference="NODE"), query_of(reference="plan", start="NODE"), same=True),
    ("GET", f"{W}/children"): read(query_of(node="NODE")),
    ("GET", f"{W}/neighbours"): read(query_of(node="NODE")),
    ("POST", f"{W}/move"): write(json_of(node="NODE"), json_of(node="plan", parent="NODE")),
    ("PUT", f"{W}/access"): write(json_of(node="NODE", access=["*"])),
    ("POST", f"{W}/edges"): write(
        json_of(edges=[{"source": "NODE", "target": "plan"}]), json_of(edges=[{"source": "plan", "target": "NODE"}])
    ),
    ("POST", f"{W}/edges-remove"): write(
        json_of(edges=[{"source": "NODE", "target": "plan"}]), json_of(edges=[{"source": "plan", "target": "NODE"}])
    ),
    ("POST", f"{W}/documents"): write(lambda node: {"files": {"file": ("", b"x")}}, same=True),
    ("GET", f"{W}/documents"): Row(),
    ("GET", f"{W}/jobs"): Row(),
    ("GET", f"{W}/sources"): Row("admin"),
    ("POST", f"{W}/sources/{{source:path}}/read"): Row("admin"),
    ("DELETE", f"{W}/sources/{{source:path}}"): Row("admin"),
    ("GET", f"{W}/keys"): Row("admin"),
    ("GET", f"{W}/audit"): Row("admin"),
    ("POST", f"{W}/keys"): Row("admin", (json_of(user="ben"),)),
    ("DELETE", f"{W}/keys/{{key}}"): Row("admin"),
    ("GET", f"{W}/jobs/{{job}}"): Row(hidden=(ANAS_JOB, NO_JOB)),
    ("DELETE", f"{W}/jobs/{{job}}"): write(lambda node: {}, hidden=(ANAS_JOB, NO_JOB)),
    ("GET", f"{W}/jobs/{{job}}/events"): Row(hidden=(ANAS_JOB, NO_JOB)),
    ("GET", f"{W}/page-image"): read(query_of(node="NODE")),
    ("GET", f"{W}/page-thumbnail"): read(query_of(node="NODE")),
    ("POST", f"{W}/memories"): write(json_of(text="so it is", contradicts=["NODE"])),
    ("GET", f"{W}/memories"): Row(),
    ("GET", f"{W}/memories/{{memory:path}}"): Row(),
    ("GET", f"{W}/memories-history"): read(query_of(memory="NODE")),
    ("POST", f"{W}/memories-add"): write(json_of(messages=[{"text": "I live here."}], dry_run=True)),
    ("POST", f"{W}/memories-search"): read(json_of(query="NODE"), same=True),
    ("POST", f"{W}/memories-context"): read(json_of(query="NODE"), same=True),
    ("POST", f"{W}/memories-forget"): write(json_of(ids=["NODE"])),
    ("PUT", f"{W}/memories/{{memory:path}}"): write(json_of(text="otherwise")),
    ("DELETE", f"{W}/memories/{{memory:path}}"): write(lambda node: {}),
    ("POST", f"{W}/threads"): write(json_of(title="t", references=["NODE"])),
    ("GET", f"{W}/threads"): Row(),
    ("PUT", f"{W}/threads/{{thread:path}}"): write(json_of(title="other")),
    ("DELETE", f"{W}/threads/{{thread:path}}"): write(lambda node: {}),
    ("POST", f"{W}/messages"): write(json_of(thread="NODE", messages=[{"text": "hello"}])),
    ("GET", f"{W}/messages"): read(query_of(thread="NODE")),
    ("GET", f"{W}/references"): read(query_of(thread="NODE")),
    ("POST", f"{W}/references"): write(json_of(thread="NODE", nodes=["plan"]), json_of(thread="plan", nodes=["NODE"])),
    ("POST", f"{W}/references-remove"): write(
        json_of(thread="NODE", nodes=["plan"]), json_of(thread="plan", nodes=["NODE"])
    ),
    ("POST", f"{W}/turns"): write(json_of(thread="NODE", message="mirror")),
    ("POST", f"{W}/turns/tool"): write(json_of(thread="NODE", name="search", output="mirror")),
    ("POST", f"{W}/turns/reply"): write(json_of(thread="NODE", text="mirror")),
    ("POST", f"{W}/turns/compact"): write(json_of(thread="NODE")),
    ("GET", f"{W}/receipts"): read(query_of(thread="NODE"), same=True),
    ("GET", f"{W}/receipts/{{receipt}}"): Row(hidden=("RECEIPT", "rec-0000000000")),
    ("POST", f"{W}/receipts/{{receipt}}/replay"): Row(hidden=("RECEIPT", "rec-0000000000")),
    ("POST", f"{W}/receipts-erase"): write(json_of(ids=["NODE"]), same=True),
    ("POST", f"{W}/uses"): write(json_of(references=["NODE"]), same=True),
    ("POST", f"{W}/activity"): write(json_of(node="NODE", kind="view")),
    ("POST", f"{W}/activity/beacon"): write(json_of(node="NODE", kind="view")),
    ("GET", f"{W}/activity"): read(query_of(kind="view")),
    ("POST", f"{W}/search"): read(
        json_of(query="NODE"), json_of(query="sum", filters={"exclude": ["NODE"]}), same=True
    ),
    ("POST", f"{W}/context/build"): read(*CONTEXTS, same=True),
    ("POST", f"{W}/context/preview"): read(*CONTEXTS, same=True),
    ("POST", f"{W}/context/explain"): read(*CONTEXTS, same=True),
    ("POST", f"{W}/context/delta"): read(json_of(query="mirror", since="NODE"), hidden=("CONTEXT", "ctx-0000000000")),
    ("POST", f"{W}/context/workspace/build"): read(
        *(json_of(query="mirror", focus={kind: "NODE"}) for kind in ("blockId", "pageId", "databaseId")),
        *(json_of(query="mirror", hints={kind: ["NODE"]}) for kind in ("includeBlocks", "excludeBlocks")),
        same=True,
    ),
    ("POST", f"{W}/context/workspace/validate"): read(
        json_of(payload=payload_of("NODE"), request={"query": "mirror"}),
        json_of(payload=payload_of("plan"), request={"query": "mirror", "focus": {"blockId": "NODE"}}),
        same=True,
    ),
    ("POST", f"{W}/context/workspace/estimate"): read(json_of(payload=payload_of("NODE")), same=True),
    ("POST", f"{W}/answers/check"): read(json_of(query="mirror", answer="[NODE]"), same=True),
    ("POST", f"{W}/feedback"): write(json_of(reference="NODE", useful=True)),
    ("POST", f"{W}/ask"): read(json_of(query="NODE"), same=True),
    ("POST", f"{W}/ask/stream"): read(json_of(query="NODE"), same=True),
    ("GET", "/v1/inspect"): Row(),
    ("POST", f"{W}/inspect"): read(json_of(query="mirror", focus="NODE"), json_of(query="NODE"), same=True),
    ("POST", f"{W}/inspect/near"): read(json_of(query="mirror", citations=["NODE"]), same=True),
    ("GET", f"{W}/inspect/overview"): Row(),
    ("GET", f"{W}/inspect/nodes"): read(query_of(q="NODE"), same=True),
    ("POST", "/context/build"): read(json_of(threadId="NODE", message="mirror")),
    ("POST", "/context/feedback"): write(json_of(contextItemId="NODE", useful=True)),
    ("POST", "/api/research/ask"): read(json_of(query="NODE"), same=True),
}
NAMED = {
    where: row
    for where, row in ROWS.items()
    if where[1].endswith((":path}", "/{job}", "/{job}/events", "/{receipt}", "/replay"))
    or any("NODE" in str(ask("NODE")) for ask in row.asks)
}
del NAMED["POST", "/v1/workspaces"], NAMED["PUT", f"{W}/users/{{user:path}}"]
del NAMED["DELETE", f"{W}/sources/{{source:path}}"]


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with open_studio(tmp_path_factory.mktemp("matrix") / "studio.weft") as opened:
        yield opened


@pytest.fixture(scope="module")
def keys(weft):
    clock = {"lasts": timedelta(hours=-1)}
    revoked, token = make_key(weft.store, user="ana", workspaces=["studio"], scope="admin", now=NOW)
    revoke_key(weft.store, revoked.id, NOW)
    return {
        "none": {},
        "made up": {"Authorization": "Bearer weftwork_" + "x" * 43},
        "of another kind": {"Authorization": "Basic YW5hOmFuYQ=="},
        "expired": key_for(weft, scope="admin", **clock),
        "revoked": {"Authorization": f"Bearer {token}"},
        "read": key_for(weft, user="ben", scope="read"),
        "write": key_for(weft, user="ben", scope="write"),
        "admin": key_for(weft, user="ben", scope="admin"),
    }


@pytest.fixture(scope="module")
def client(weft, keys):
    with calling(weft, limits=Limits(requests_per_minute=0)) as client:
        ana = key_for(weft, scope="write")
        weft.add(
            [Node(id=HIDDEN, type="thread", title="Salary", text="A secret sum.", owner="ana", access=frozenset())],
            [Edge(source=HIDDEN, target="plan")],
            workspace="studio",
        )
        sent = client.post("/v1/workspaces/studio/documents", files={"file": ("a.txt", b"The sum.")}, headers=ana)
        client.anas_job = sent.json()["id"]
        built = client.post("/v1/workspaces/studio/context/build", json={"query": "mirror"}, headers=ana)
        client.anas_context = built.json()["id"]
        (receipt,) = weft.receipts.list(user="ana", workspace="studio")
        client.anas_receipt = receipt.id
        yield client


def call(client, where, key, ask=None, *, workspace="studio", node=ABSENT):
    method, path = where
    node = {ANAS_JOB: client.anas_job, "CONTEXT": client.anas_context, "RECEIPT": client.anas_receipt}.get(node, node)
    for part in ("{node:path}", "{memory:path}", "{user:path}", "{job}", "{receipt}"):
        path = path.replace(part, node)
    ask = ask or ROWS[where].asks[0]
    return client.request(method, path.replace("{workspace}", workspace), headers=key, **ask(node))


def told(response, *names):
    """Everything that an answer says, without the names that the request gave and how long it took."""
    text = response.text
    for name in names:
        text = text.replace(name, "…")
    if response.headers["content-type"] == "application/json":
        body = json.loads(text)
        for own in ("id", "timings"):  # a context's id is made of its request
            body.pop(own, None)
        text = json.dumps(body)
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return response.status_code, text, headers


def test_every_route_has_a_row(client):
    found = {
        (method, context.path)
        for context in iter_route_contexts(client.app.routes)
        if context.path not in OPEN | ELSEWHERE
        for method in context.methods - {"HEAD"}
    }
    assert found == ROWS.keys()


@pytest.mark.parametrize("holder", ["none", "made up", "of another kind", "expired", "revoked"])
def test_nobody_gets_in_without_a_key_that_holds(client, keys, holder):
    answers = set()
    for where in ROWS:
        response = call(client, where, keys[holder])
        answers.add((response.status_code, response.text))
    assert {status for status, _ in answers} == {401}
    assert len(answers) == 1


def test_a_workspace_that_a_key_does_not_cover_is_like_one_that_does_not_exist(client, keys):
    for where in ROWS:
        if "{workspace}" in where[1]:
            there = call(client, where, keys["admin"], workspace="other")
            nowhere = call(client, where, keys["admin"], workspace="nowhere")
            assert there.status_code == 404, where
            assert told(there, "other") == told(nowhere, "nowhere"), where


def test_the_header_names_no_other_workspace_and_no_other_user(client, keys):
    for where in ROWS:
        for header, names, status in (
            ("Weftwork-Workspace", ("other", "nowhere"), 404),
            ("Weftwork-User", ("ana", "cy"), 403),
        ):
            one, two = (call(client, where, {**keys["write"], header: name}) for name in names)
            assert one.status_code == status, (where, header)
            assert told(one, names[0]) == told(two, names[1]), (where, header)


def test_a_key_does_no_more_than_its_scope(client, keys):
    for where, row in ROWS.items():
        smaller = {"read": (), "write": ("read",), "admin": ("read", "write"), "local": ("read", "write", "admin")}
        for scope in smaller[row.scope]:
            response = call(client, where, keys[scope])
            assert response.status_code == 403, (where, scope)
            assert "secret" not in response.text


@pytest.mark.parametrize("where", NAMED, ids=" ".join)
def test_what_is_hidden_is_like_what_does_not_exist(client, keys, where):
    row = NAMED[where]
    hidden, absent = row.hidden
    for ask in row.asks:
        one, two = (call(client, where, keys["write"], ask, node=name) for name in (hidden, absent))
        assert two.status_code == 404 or (row.same and two.status_code in (200, 400, 404)), two.text
        assert told(one, hidden, client.anas_job, client.anas_context, client.anas_receipt) == told(two, absent)


def test_nothing_of_it_was_changed(client, weft):
    node = weft.node(HIDDEN, user="ana", workspace="studio")
    assert (node.text, node.owner, node.access, node.parent) == ("A secret sum.", "ana", frozenset(), None)
    with weft.store.view("studio", "ana") as view:
        assert [other.id for _, other in view.neighbours(HIDDEN)] == ["plan"]
        assert not view.children(HIDDEN, 10)
        assert view.nodes(["plan"])[0].parent is None
    assert weft.store.workspaces() == ["main", "other", "studio"]
    assert weft.store.users("studio").keys() == {"ana", "ben"}
