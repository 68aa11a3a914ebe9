"""Everything that happens can be traced: by the id of its request, in the log, and in the audit log."""

import json
import logging
import re
import socket
from contextlib import suppress

import pytest

from weftwork.server.http.app import make_app
from weftwork.server.http.logs import JsonLines
from weftwork.server.http.options import Limits, Options
from weftwork.server.http.slow_clients import PatientProtocol
from weftwork.store.server_state import AuditEntry

from .serving import NOW, STUDIO, calling, key_for, running

W = "/v1/workspaces/studio"


def test_the_id_of_a_request_is_in_its_answer_its_problem_and_its_log_line(weft, caplog):
    caplog.set_level(logging.INFO)
    key = key_for(weft)
    with calling(weft) as client:
        answer = client.get(f"{W}/nodes/nothing", headers={**key, "X-Request-Id": "from-the-proxy-1"})
        assert answer.headers["x-request-id"] == answer.json()["request"] == "from-the-proxy-1"
        for bad in ("short", "with spaces in it", "x" * 65):
            made = client.get("/healthz", headers={"X-Request-Id": bad}).headers["x-request-id"]
            assert re.fullmatch("[0-9a-f]{16}", made)
    record = next(each for each in caplog.records if "from-the-proxy-1" in each.getMessage())
    told = json.loads(JsonLines().format(record))
    assert told.pop("ms") > 0 and told.pop("time").endswith("Z")
    assert re.fullmatch("key-[0-9a-f]{8}", told.pop("key"))
    assert told == {
        "level": "INFO", "logger": "weftwork.access", "request": "from-the-proxy-1", "client": "testclient",
        "method": "GET", "route": "/v1/workspaces/{workspace}/nodes/{node:path}", "status": 404,
    }  # fmt: skip


def test_every_change_is_in_the_audit_log_and_nothing_else_is(weft):
    admin = key_for(weft, scope="admin")
    with calling(weft) as client:
        client.headers.update(admin)
        client.post(f"{W}/nodes", json={"nodes": [{"id": "ana/new", "type": "note", "text": "A secret sum."}]})
        client.put(f"{W}/access", json={"node": "ana/new", "access": ["ben"]})
        client.post(f"{W}/keys", json={"user": "ben"})
        client.post(f"{W}/search", json={"query": "mirror"})
        client.delete(f"{W}/nodes/not-there")
        entries = client.get(f"{W}/audit").json()["entries"]
        later = client.get(f"{W}/audit", params={"after": entries[1]["id"]}).json()["entries"]
    assert [each["action"] for each in entries] == ["write_nodes", "put_access", "create_key"]
    assert entries[0]["details"] == {"nodes": ["ana/new"], "edges": 0}
    assert entries[1]["details"] == {"node": "ana/new", "access": ["ben"]}
    assert (entries[2]["details"]["user"], entries[2]["details"]["scope"]) == ("ben", "read")
    assert {(each["user"], each["address"], each["request"]) for each in entries} == {
        ("ana", "testclient", "the-same-request")
    }
    assert later == entries[2:]
    assert "secret" not in str(entries)


def test_the_audit_log_tells_every_way_to_move_a_node_or_to_say_who_sees_it(weft):
    with calling(weft) as client:
        client.headers.update(key_for(weft, scope="admin"))
        nodes = [{"id": "ana/top"}, {"id": "ana/part", "parent": "ana/top", "access": ["ben", "ana"]}]
        client.post(f"{W}/nodes", json={"nodes": nodes})
        client.post(f"{W}/nodes", json={"nodes": [{"id": "ana/part"}]})
        client.post(f"{W}/move", json={"node": "ana/part", "parent": "ana/top"})
        client.post(f"{W}/nodes", json={"nodes": [{"id": "ana/part", "text": "More"}], "in_place": True})
        thread = client.post(f"{W}/threads", json={"title": "T", "access": ["ben"]}).json()["id"]
        memory = client.post(f"{W}/memories", json={"text": "M", "access": ["ben"]}).json()["id"]
        file = {"file": ("a.txt", b"Text")}
        job = client.post(f"{W}/documents", files=file, data={"access": ["ben"]}).json()["id"]
        client.post(f"{W}/move", json={"node": "ana/top", "parent": "not there"})
        entries = client.get(f"{W}/audit").json()["entries"]
    assert [(each["action"], each["details"]) for each in entries] == [
        ("write_nodes", {"nodes": ["ana/top", "ana/part"], "edges": 0, "parents": [None, "ana/top"],
                         "access": [None, ["ana", "ben"]]}),
        ("write_nodes", {"nodes": ["ana/part"], "edges": 0}),
        ("move_node", {"node": "ana/part", "parent": "ana/top"}),
        ("write_nodes", {"nodes": ["ana/part"], "edges": 0}),
        ("start_thread", {"thread": thread, "access": ["ben"]}),
        ("remember", {"memory": memory, "access": ["ben"]}),
        ("upload_document", {"job": job, "access": ["ben"]}),
    ]  # fmt: skip


def test_only_administrators_read_the_audit_log_and_of_their_workspaces_alone(weft):
    weft.store.audit.add(AuditEntry(at=NOW, action="write_nodes", workspace="other"))
    with calling(weft) as client:
        assert client.get(f"{W}/audit", headers=key_for(weft, scope="write")).status_code == 403
        assert client.get(f"{W}/audit", headers=key_for(weft, scope="admin")).json() == {"entries": []}


def test_the_last_use_of_a_key_is_known_after_a_while(weft):
    admin = key_for(weft, scope="admin")
    with calling(weft) as client:
        assert client.get(f"{W}/keys", headers=admin).json()["keys"][0]["last_used_at"] is None
        client.app.state.service.key_uses.write(weft.store)
        assert client.get(f"{W}/keys", headers=admin).json()["keys"][0]["last_used_at"] == "2026-03-16T09:00:00+00:00"


def test_a_wrong_body_of_any_size_gets_a_short_answer(client, keys):
    many = {f"n{number}": {} for number in range(5_000)}
    for path, body in (
        ("context/build", {"query": "x", **many}),
        ("nodes", {"nodes": [{"id": "a", "type": "note", "fields": many}]}),
        ("nodes", {"nodes": [{**dict(list(many.items())[:30]), "id": "a"}] * 900}),
        ("nodes", {"nodes": [{"id": "a", "fields": dict(list(many.items())[:900])}] * 20}),
    ):
        answer = client.post(f"{W}/{path}", json=body, headers=keys["write"])
        assert answer.status_code == 422
        assert len(answer.content) < 5_000
        assert len(answer.json()["errors"]) <= 20


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"query": "x", "budget": {"total": 5, "zz": 1}}, "/budget/zz"),
        ({"query": "x", "budget": True}, "/budget"),
        ({"query": "x", "topics": [{"weight": 2}]}, "/topics/0/text"),
    ],
)
def test_a_pointer_leads_to_the_place_in_the_body(client, keys, body, pointer):
    answer = client.post(f"{W}/context/build", json=body, headers=keys["read"]).json()
    assert pointer in [each["pointer"] for each in answer["errors"]]
    assert {each["pointer"].split("/")[1] for each in answer["errors"]} == {pointer.split("/")[1]}


def test_json_that_is_none_is_told_by_its_place(client, keys):
    headers = keys["read"] | {"Content-Type": "application/json"}
    (error,) = client.post(f"{W}/context/build", content='{"query": }', headers=headers).json()["errors"]
    assert error["pointer"] == "" and error["detail"].startswith("not JSON at character 10:")


def test_head_is_get_without_a_body_and_options_tell_the_methods(client, keys):
    got, headed = (client.request(method, "/", headers=keys["read"]) for method in ("GET", "HEAD"))
    assert (headed.status_code, headed.content) == (200, b"")
    assert headed.headers["content-length"] == got.headers["content-length"]
    assert client.options(f"{W}/nodes").headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert client.options(f"{W}/context/build").headers["allow"] == "OPTIONS, POST"
    assert client.patch("/v1/workspaces", headers=keys["read"]).headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert client.options("/nothing").status_code == 404


def test_wrong_keys_from_one_address_are_limited(weft):
    good = key_for(weft)
    with calling(weft, limits=Limits(requests_per_minute=1, burst=3)) as client:
        codes = [client.get("/v1/workspaces", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(5)]
        assert codes == [401] * 3 + [429] * 2
        assert client.get("/v1/workspaces", headers=good).status_code == 200


def test_every_kind_of_problem_has_its_place_in_the_documentation(client, keys):
    page = client.get("/docs").text
    kind = client.get("/v1/workspaces/none/nodes", headers=keys["read"]).json()["type"]
    assert kind == "/docs#not-found"
    assert 'id="not-found"' in page
    described = client.get("/openapi.json", headers=keys["read"]).json()
    for path, operations in described["paths"].items():
        assert f"<code>{path}</code>" in page
        assert all(each["operationId"] in page for each in operations.values())


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /v1/workspaces/studio/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
    ],
    ids=["head", "body"],
)
def test_a_client_that_does_not_go_on_is_let_go(shared, keys, monkeypatch, sent):
    monkeypatch.setattr(PatientProtocol, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(PatientProtocol, "HEAD_SECONDS", 0.05)
    key = keys["read"]["Authorization"].encode()
    with running(make_app(shared, Options(local=STUDIO)), http=PatientProtocol) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(sent.replace(b"Host", b"Authorization: " + key + b"\r\nHost", 1))
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""
