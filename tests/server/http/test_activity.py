"""Recording what a user saw and changed: over HTTP, by the client, and by a browser's beacon."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest

from weftwork import Client
from weftwork.errors import InvalidInput, NotFound
from weftwork.server.http.options import Limits
from weftwork.server.keys import make_key

from .browsing import browser
from .serving import NOW, calling, key_for, served
from .test_matrix import ROWS, call

W = "/v1/workspaces/studio"
VIEW = {"node": "plan", "kind": "view"}
RECORDING = {("POST", "/v1/workspaces/{workspace}/activity"), ("POST", "/v1/workspaces/{workspace}/activity/beacon")}


def token_for(weft, scope="record", user="ana"):
    return make_key(weft.store, user=user, workspaces=["studio"], scope=scope, now=weft.now())[1]


def seen(weft, kind="view", user="ana"):
    with weft.store.view("studio", user) as view:
        return [(event.node, event.at) for event in view.events(kind, limit=10)]


def test_what_a_key_for_it_records_counts_as_its_users(weft):
    with calling(weft) as client:
        key = key_for(weft, scope="record")
        answer = client.post(f"{W}/activity", json=VIEW, headers=key)
        assert answer.json() == {"success": True}
    assert seen(weft) == [("plan", NOW)]
    assert seen(weft, user="ben") == []


def test_a_key_for_recording_opens_nothing_else(weft):
    key = key_for(weft, scope="record")
    with calling(weft, limits=Limits(requests_per_minute=0)) as client:
        client.anas_job, client.anas_context = "job-000000000000000000000002", "ctx-0000000000"
        client.anas_receipt = "rec-0000000000"
        for where in ROWS.keys() - RECORDING:
            answer = call(client, where, key)
            assert answer.status_code == 403, where
            assert "Mirror plan" not in answer.text
        assert client.post("/mcp", json={}, headers=key).status_code == 403
        assert client.post("/v1/workspaces/other/activity", json=VIEW, headers=key).status_code == 404
        acting = client.post(f"{W}/activity", json=VIEW, headers={**key, "Weftwork-User": "ben"})
        assert (acting.status_code, seen(weft, user="ben")) == (403, [])


@pytest.mark.parametrize("kind", ["text/plain;charset=UTF-8", "application/json", "application/x-www-form-urlencoded"])
def test_a_beacon_brings_its_key_in_the_address_and_json_of_any_type(weft, kind):
    with calling(weft) as client:
        sent = {"content": json.dumps(VIEW), "headers": {"Content-Type": kind}}
        answer = client.post(f"{W}/activity/beacon", params={"key": token_for(weft)}, **sent)
        assert (answer.status_code, answer.json()) == (200, {"success": True})
    assert seen(weft) == [("plan", NOW)]


@pytest.mark.parametrize("scope", ["read", "write", "admin"])
def test_a_key_that_opens_more_is_refused_in_an_address(weft, scope):
    with calling(weft) as client:
        key = token_for(weft, scope)
        answer = client.post(f"{W}/activity/beacon", params={"key": key}, content=json.dumps(VIEW))
        assert (answer.status_code, seen(weft)) == (403, [])
        assert "scope record" in answer.json()["detail"]
        by_header = client.post(f"{W}/activity/beacon", content=json.dumps(VIEW), headers=key_for(weft, scope=scope))
        assert by_header.status_code == (403 if scope == "read" else 200)


def test_no_other_route_takes_a_key_in_its_address(weft):
    with calling(weft) as client:
        key = {"key": token_for(weft)}
        assert client.post(f"{W}/activity", json=VIEW, params=key).status_code == 401
        assert client.post(f"{W}/activity/beacon", content=json.dumps(VIEW)).status_code == 401
        assert client.post(f"{W}/activity/beacon", params={"key": "weftwork_" + "x" * 43}).status_code == 401
    assert seen(weft) == []


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"node": "plan"}, 422, "/kind"),
        ({"node": "plan", "kind": "like"}, 422, "/kind"),
        ({"node": "plan", "kind": "view", "user": "ben"}, 422, "/user"),
        ("{bad", 422, "JSON"),
        ({"node": "private", "kind": "view"}, 404, "there is no node 'private' that you may see"),
        ({"node": "absent", "kind": "view"}, 404, "there is no node 'absent' that you may see"),
        ({"node": "plan", "kind": "view", "at": "2030-01-01T00:00:00Z"}, 400, "is in the future"),
    ],
)
def test_what_cannot_be_recorded_is_refused_with_the_reason(weft, body, status, said):
    with calling(weft) as client:
        content = body if isinstance(body, str) else json.dumps(body)
        params = {"key": token_for(weft, user="ben")}
        by_beacon = client.post(f"{W}/activity/beacon", params=params, content=content)
        assert by_beacon.status_code == status
        assert said in by_beacon.text
        sent = {"Content-Type": "application/json", **key_for(weft, user="ben", scope="record")}
        assert client.post(f"{W}/activity", content=content, headers=sent).status_code == status
    assert seen(weft, user="ben") == []


def test_the_client_records_as_the_engine_does(weft):
    _, token = make_key(weft.store, user="ana", workspaces=["studio"], scope="admin", now=NOW)
    with served(weft) as url, Client(url, key=token) as client:
        users: list[tuple[Any, dict[str, Any]]] = [(weft, {"user": "ana"}), (client, {}), (client, {"user": "ben"})]
        for engine, who in users:
            engine.record("plan", "view", workspace="studio", at=NOW - timedelta(hours=2), **who)
            engine.record("plan", "edit", workspace="studio", **who)
            assert seen(weft, "edit", who.get("user", "ana")) == [("plan", NOW)]
            for error, wrong in (
                (NotFound, {"reference": "absent"}),
                (InvalidInput, {"kind": "like"}),
                (InvalidInput, {"at": NOW + timedelta(minutes=1)}),
            ):
                asked: dict[str, Any] = {"reference": "plan", "kind": "view", "workspace": "studio", **who, **wrong}
                with pytest.raises(error):
                    engine.record(**asked)
        with pytest.raises(NotFound):
            client.record("private", "view", workspace="studio", user="ben")
    assert seen(weft) == seen(weft, user="ben") == [("plan", NOW - timedelta(hours=2))]


def test_a_page_sends_its_beacon_as_it_is_left(weft):
    token = token_for(weft)
    with served(weft) as url, browser() as chromium:
        page = chromium.new_context().new_page()
        page.goto(url)
        beacon = f"{url}{W}/activity/beacon?key={token}"
        page.evaluate(
            """(address) => addEventListener("pagehide",
                 () => navigator.sendBeacon(address, JSON.stringify({node: "plan", kind: "view"})))""",
            beacon,
        )
        page.goto("about:blank")
        until = time.monotonic() + 10
        while not seen(weft) and time.monotonic() < until:
            time.sleep(0.02)
    assert [node for node, _ in seen(weft)] == ["plan"]
