"""The routes of the workspace contract: its names, its permissions, its errors."""

from dataclasses import fields
from datetime import UTC, datetime

import pytest

from weftwork import Node
from weftwork.faces.workspace import (
    ContextBuilder,
    ContextHints,
    ContextItem,
    ContextPayload,
    ContextRequest,
    ContextSection,
    ConversationMessage,
    Focus,
    ItemMetadata,
    PayloadMetadata,
    TimeRange,
    TokenBudget,
    User,
)
from weftwork.faces.workspace.wire import camel_case
from weftwork.server.http.app import make_app
from weftwork.server.http.openapi import describe
from weftwork.server.http.options import Options
from weftwork.server.http.schemas import workspace as schemas

from .serving import STUDIO, calling, key_for

ROUTES = "/v1/workspaces/studio/context/workspace"
FULL = {
    "query": "Summarize this page",
    "focus": {"pageId": "plan"},
    "type": "chat",
    "conversationHistory": [{"role": "user", "content": "Hello?", "timestamp": "2026-03-16T08:00:00Z"}],
    "tokenBudget": {"total": 3000, "focus": 2500, "semantic": 200, "history": 300, "system": 100},
    "hints": {
        "prioritizeTypes": ["todo"],
        "timeRange": {"start": "2020-01-01", "end": "2027-01-01"},
        "includeBlocks": ["glass"],
        "excludeBlocks": ["foam"],
        "maxDepth": 2,
    },
}
REQUEST = ContextRequest(
    query="Summarize this page",
    user=User("ana", "studio"),
    focus=Focus(page_id="plan"),
    type="chat",
    conversation_history=(ConversationMessage("user", "Hello?", datetime(2026, 3, 16, 8, tzinfo=UTC)),),
    token_budget=TokenBudget(total=3000, focus=2500, semantic=200, history=300, system=100),
    hints=ContextHints(
        prioritize_types=("todo",),
        time_range=TimeRange("2020-01-01", "2027-01-01"),
        include_blocks=("glass",),
        exclude_blocks=("foam",),
        max_depth=2,
    ),
)


@pytest.fixture(scope="module")
def studio(shared):
    shared.add(
        [
            Node(id="glass", type="todo", title="Order the glass", text="Ask the mill.", parent="plan"),
            Node(id="foam", type="todo", title="Order the foam", text="Twelve sheets.", parent="plan"),
        ],
        workspace="studio",
    )
    return shared


def post(client, key, method, body):
    return client.post(f"{ROUTES}/{method}", json=body, headers=key)


def test_a_context_is_built_checked_and_counted_in_the_names_of_the_contract(studio, client, keys):
    answer = post(client, keys["read"], "build", FULL)
    assert answer.status_code == 200, answer.text
    payload = answer.json()
    assert payload == ContextBuilder(studio).build_sync(REQUEST).to_dict()
    assert payload.keys() == {"sections", "metadata", "serialized"}
    shown = [block for section in payload["sections"] for item in section["items"] for block in item["blockIds"]]
    assert "glass" in shown and "foam" not in shown and "history-1" in shown
    counted = post(client, keys["read"], "estimate", {"payload": payload}).json()
    assert counted == {"tokens": payload["metadata"]["totalTokens"]}
    verdict = post(client, keys["read"], "validate", {"payload": payload, "request": FULL}).json()
    assert verdict == {"valid": True, "violations": []}


def test_each_user_gets_and_may_hand_on_what_they_may_see(studio, client, keys):
    asked = {"query": "Ana earns a secret sum", "focus": None, "type": "search"}
    of_ana, of_ben = (post(client, keys[who], "build", asked).json() for who in ("read", "ben"))
    assert "secret sum." in of_ana["serialized"] and "secret sum." not in of_ben["serialized"]
    verdict = post(client, keys["ben"], "validate", {"payload": of_ana, "request": asked}).json()
    assert "no_permission" in [violation["kind"] for violation in verdict["violations"]]


def test_a_user_in_the_body_is_the_one_of_the_key(studio, client, keys):
    asked = {"query": "mirror", "user": {"id": "ana", "name": "Ana", "preferences": {}}}
    assert post(client, keys["read"], "build", asked).status_code == 200
    refused = post(client, keys["ben"], "build", asked)
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "this key acts for 'ben': leave out user, or send Weftwork-User with an admin key",
    )
    acting = post(client, {**keys["admin"], "Weftwork-User": "ben"}, "build", asked | {"user": {"id": "ben"}})
    assert acting.status_code == 200


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"focus": {"blockId": "nowhere"}}, 404, "nowhere"),
        ({"focus": {"block_id": "plan"}}, 422, "the request does not fit"),
        ({"type": "guess"}, 422, "the request does not fit"),
        ({"tokenBudget": {"total": 100, "system": 200}}, 400, "raise total or lower system"),
        ({"tokenBudget": {"total": 999_999}}, 422, "this server allows at most 200,000"),
        ({"query": "x" * 9_000}, 422, "this server allows at most 8,000"),
        ({"hints": {"timeRange": {"start": "soon", "end": "later"}}}, 400, "is not a time"),
        ({"hints": {"maxDepth": 6}}, 422, "the request does not fit"),
        ({"focus": {"blockId": "plan"}, "hints": {"excludeBlocks": ["plan"]}}, 400, "take it out of one of them"),
    ],
)
def test_what_is_wrong_is_said(studio, client, keys, change, status, said):
    answer = post(client, keys["read"], "build", {"query": "mirror"} | change)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert said in answer.json()["detail"]


def test_a_payload_that_is_none_is_refused(studio, client, keys):
    answer = post(client, keys["read"], "estimate", {"payload": {"serialized": 5}})
    assert answer.status_code == 422
    pointers = {error["pointer"] for error in answer.json()["errors"]}
    assert pointers == {"/payload/sections", "/payload/metadata", "/payload/serialized"}


def test_the_description_has_each_field_of_the_contract(studio):
    described = describe(make_app(studio, Options(local=STUDIO)))
    for method, name in (("build", "ContextPayloadModel"), ("validate", "ContextValidationResultOut")):
        operation = described["paths"][f"/v1/workspaces/{{workspace}}/context/workspace/{method}"]["post"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": f"#/components/schemas/{name}"}
    for value, model, beside in (
        (ContextRequest, schemas.ContextRequestIn, set()),
        (Focus, schemas.FocusIn, set()),
        (TokenBudget, schemas.TokenBudgetIn, set()),
        (ContextHints, schemas.ContextHintsIn, set()),
        (TimeRange, schemas.TimeRangeIn, set()),
        (ConversationMessage, schemas.ConversationMessageIn, set()),
        (ContextPayload, schemas.ContextPayloadModel, {"request", "context"}),
        (PayloadMetadata, schemas.PayloadMetadataModel, set()),
        (ContextSection, schemas.ContextSectionModel, set()),
        (ContextItem, schemas.ContextItemModel, set()),
        (ItemMetadata, schemas.ItemMetadataModel, set()),
    ):
        names = {camel_case(field.name) for field in fields(value)} - beside
        assert described["components"]["schemas"][model.__name__]["properties"].keys() == names, model.__name__


def test_a_local_server_answers_for_its_user(weft):
    with calling(weft) as client:
        answer = client.post(f"{ROUTES}/build", json={"query": "mirror", "user": {"id": "ana"}})
        assert answer.json()["metadata"]["blocksIncluded"] >= 1
    key_for(weft)
    with calling(weft) as client:
        assert client.post(f"{ROUTES}/build", json={"query": "mirror"}).status_code == 401


def test_a_page_alone_is_the_focus_on_every_route(studio, client, keys):
    asked = {"query": "Summarize this page", "recipe": "workspace"}
    texts = [
        client.post("/v1/workspaces/studio/context/build", json=asked | place, headers=keys["read"]).json()["text"]
        for place in ({"page": "plan"}, {"focus": "plan"})
    ]
    texts.append(studio.context(**asked, user="ana", workspace="studio", page="plan").text)
    texts.append(post(client, keys["read"], "build", {"query": "", "focus": {"pageId": "plan"}}).json()["serialized"])
    for text in texts:
        focused = text.partition("### Focused Content")[2].partition("### Related Content")[0]
        assert [part in focused for part in ("ships in March", "Ask the mill", "Twelve sheets")] == [True] * 3
    assert texts[0] == texts[1] == texts[2]
