"""The routes, as a program uses them."""

import pytest

from weftwork import Node
from weftwork.client.transport import segment
from weftwork.faces.research import answer_from, research
from weftwork.faces.thread import ContextAssemblyService, to_response
from weftwork.render import lean, to_dict
from weftwork.server.http.options import Limits
from weftwork.types import Context
from weftwork.wire import decode, encode

from .serving import calling, key_for, open_studio

W = "/v1/workspaces/studio"
MARKUP = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def weft(tmp_path_factory):
    with open_studio(tmp_path_factory.mktemp("routes") / "studio.weft") as opened:
        yield opened


@pytest.fixture(scope="module")
def ana(weft):
    """A client that writes as ana."""
    key = key_for(weft, scope="write")
    limits = Limits(requests_per_minute=0, budget_tokens=5000, query_characters=100, batch=3, depth=4, results=20)
    with calling(weft, limits=limits) as client:
        client.headers.update(key)
        yield client


def ok(response, status=200):
    assert response.status_code == status, response.text
    return response.json()


def test_a_workspace_is_described_for_the_user(ana, weft):
    assert ok(ana.get("/v1/workspaces")) == {"workspaces": [{"name": "studio", "user": "ana", "scope": "write"}]}
    assert ok(ana.get(W))["counts"] == weft.stats(user="ana", workspace="studio")


def test_an_admin_lists_and_puts_users(ana, weft):
    admin = key_for(weft, scope="admin")
    assert ok(ana.put(f"{W}/users/cy%2Fd", json={"groups": ["team"]}, headers=admin)) == {
        "name": "cy/d",
        "groups": ["team"],
    }
    assert {"name": "cy/d", "groups": ["team"]} in ok(ana.get(f"{W}/users", headers=admin))["users"]


def test_a_server_without_keys_makes_and_drops_workspaces(tmp_path):
    with open_studio(tmp_path / "fresh.weft") as weft, calling(weft) as client:
        made = ok(client.post("/v1/workspaces", json={"name": "new", "owner": "cy"}), 201)
        assert made == {"name": "new", "user": "ana", "scope": "admin"}
        assert weft.store.users("new").keys() == {"cy"}
        assert client.delete("/v1/workspaces/new").status_code == 204
        assert "new" not in weft.store.workspaces()


def test_a_document_is_read_whole_and_on_from_where_a_part_ended(ana, weft):
    nodes = [{"id": "ana/book", "type": "page", "title": "The book", "text": "It begins."}]
    chapter = {"id": "ana/one", "type": "heading", "title": "One", "text": "word " * 3_000, "parent": "ana/book"}
    ok(ana.post(f"{W}/nodes", json={"nodes": [*nodes, chapter]}))
    options = {"user": "ana", "workspace": "studio"}
    part = ok(ana.get(f"{W}/read", params={"reference": "the BOOK", "tokens": 1_000}))
    assert part == encode(weft.read("ana/book", tokens=1_000, **options))
    assert part["tokens"] <= 1_000
    assert part["left"] > 1_500
    texts = [part["text"]]
    while part["next"]:
        part = ok(ana.get(f"{W}/read", params={"reference": "ana/book", "tokens": 1_000, "start": part["next"]}))
        texts.append(part["text"])
    assert " ".join(texts).count("word") == 3_000
    plain = ok(ana.get(f"{W}/read", params={"reference": "ana/one", "ids": False, "tokens": 4_000}))
    assert plain["text"] == "## One\n" + ("word " * 3_000).strip()
    assert plain["document"]["id"] == "ana/book"


@pytest.mark.parametrize(
    ("params", "status", "hint"),
    [
        ({"reference": "no such thing"}, 404, "no such thing"),
        ({"reference": "plan", "start": "nowhere"}, 400, "next"),
        ({"reference": "plan", "start": "k000000"}, 404, "without start"),
        ({"reference": "plan", "tokens": 5}, 422, "tokens"),
        ({"reference": "plan", "tokens": 6_000}, 422, "5,000"),
        ({}, 422, "reference"),
    ],
)
def test_what_cannot_be_read_says_why(ana, params, status, hint):
    refused = ana.get(f"{W}/read", params=params)
    assert refused.status_code == status, refused.text
    assert hint in refused.text


@pytest.mark.parametrize(
    "name", ["ana/a/b", "ana/..", "ana/../c", "ana/#page=1?x=2", "ana/ü 漢", "ana//", "ana/children"]
)
def test_any_id_can_be_read_and_removed_by_its_address(ana, name):
    ok(ana.post(f"{W}/nodes", json={"nodes": [{"id": name, "text": "x"}]}))
    assert ok(ana.get(f"{W}/nodes/{segment(name)}"))["id"] == name
    assert ok(ana.delete(f"{W}/nodes/{segment(name)}")) == {"removed": 1}


def test_nodes_come_back_as_they_were_given(ana):
    given = {
        "id": "ana/all",
        "type": "task",
        "title": MARKUP,
        "text": "The mirror cell.",
        "parent": "plan",
        "position": 4,
        "tags": ["b", "a"],
        "fields": {"text": "x", "whole": 1, "part": 1.5, "yes": True, "none": None, "several": ["p", "q"]},
        "confidence": 0.5,
        "conversation": "c",
        "source": "a/b.md",
        "valid_from": "2026-01-01T00:00:00Z",
        "access": ["ben"],
    }
    ok(ana.post(f"{W}/nodes", json={"nodes": [given]}))
    found = ok(ana.get(f"{W}/nodes/ana/all"))
    assert {name: found[name] for name in given} == {**given, "valid_from": "2026-01-01T00:00:00+00:00"}
    assert found["owner"] == "ana"
    assert "text" not in ok(ana.get(f"{W}/children", params={"node": "plan"}))["nodes"][0]
    moved = ok(ana.post(f"{W}/move", json={"node": "ana/all", "parent": None, "position": 2}))
    assert (moved["parent"], moved["position"]) == (None, 2)
    assert ok(ana.put(f"{W}/access", json={"node": "ana/all", "access": None}))["access"] is None


def test_edges_are_written_listed_and_removed(ana):
    ok(ana.post(f"{W}/nodes", json={"nodes": [{"id": "ana/from"}]}))
    edge = {"source": "ana/from", "target": "plan", "type": "about", "label": MARKUP, "weight": 0.5}
    assert ok(ana.post(f"{W}/edges", json={"edges": [edge]})) == {"changed": 1}
    (found,) = ok(ana.get(f"{W}/neighbours", params={"node": "plan", "direction": "in", "type": "about"}))["neighbours"]
    assert (found["edge"], found["node"]["id"]) == (edge, "ana/from")
    assert ok(ana.post(f"{W}/edges-remove", json={"edges": [edge]})) == {"changed": 1}


def test_memories_are_remembered_revised_and_forgotten(ana):
    first = ok(ana.post(f"{W}/memories", json={"text": "Ana likes tea.", "tags": ["taste"], "confidence": 0.9}), 201)
    assert (first["owner"], first["access"], first["tags"]) == ("ana", [], ["taste"])
    second = ok(ana.put(f"{W}/memories/{first['id']}", json={"text": "Ana likes coffee."}))
    assert second["tags"] == ["taste"]
    assert [each["content"] for each in ok(ana.get(f"{W}/memories"))["memories"]] == ["Ana likes coffee."]
    assert ok(ana.delete(f"{W}/memories/{second['id']}")) == {"removed": 2}  # with its earlier version


def test_anothers_memory_is_not_changed_though_it_is_seen(ana, weft):
    ben = key_for(weft, user="ben", scope="write")
    shared = ok(ana.post(f"{W}/memories", json={"text": "The key is under the mat.", "access": ["ben"]}), 201)
    assert ana.delete(f"{W}/memories/{shared['id']}", headers=ben).status_code == 403
    assert ana.put(f"{W}/memories/{shared['id']}", json={"text": "No."}, headers=ben).status_code == 403


def test_a_thread_has_messages_and_references_and_a_context_of_its_own(ana, weft):
    thread = ok(ana.post(f"{W}/threads", json={"title": "Shipping", "references": ["plan"]}), 201)["id"]
    turns = [{"role": "user", "text": "Who packs the cell?"}, {"role": "assistant", "text": "Ben packs it."}]
    ok(ana.post(f"{W}/messages", json={"thread": thread, "messages": turns}), 201)
    ok(ana.post(f"{W}/messages", json={"thread": thread, "messages": [{"text": "Thanks."}]}), 201)
    messages = ok(ana.get(f"{W}/messages", params={"thread": thread}))["messages"]
    assert [(each["title"], each["text"], each["position"]) for each in messages] == [
        ("user", "Who packs the cell?", 1),
        ("assistant", "Ben packs it.", 2),
        ("user", "Thanks.", 3),
    ]
    assert [each["id"] for each in ok(ana.get(f"{W}/references", params={"thread": thread}))["nodes"]] == ["plan"]
    assert thread in [each["id"] for each in ok(ana.get(f"{W}/threads"))["threads"]]

    # The thread contract's endpoint: `threadId` and `message` go in, `data` and `meta` come out.
    answer = ok(ana.post("/context/build", json={"threadId": thread, "message": "When does the mirror ship?"}))
    service = ContextAssemblyService(weft, workspace="studio")
    expected = to_response(service.build(thread, "When does the mirror ship?", "ana"))
    assert answer.keys() == {"data", "meta"}
    assert answer["meta"] == {
        "tokenUsage": answer["data"]["totalTokens"],
        "sourceCount": len(answer["data"]["items"]),
        "citationCount": len(answer["data"]["citations"]),
    }
    assert answer["data"]["text"] == expected["data"]["text"]
    assert answer["data"]["stats"].keys() == {"explicitCount", "searchCount", "historyCount", "excludedCount"}
    item = answer["data"]["items"][0]
    assert item.keys() >= {"id", "type", "content", "excerpt", "source", "relevance", "tokens", "metadata"}
    assert item["metadata"].keys() >= {"path", "createdAt", "matchedKeywords", "searchRank"}

    # Its feedback route: `contextItemId` and `useful` go in, `success` comes out, and later scores know it.
    assert ok(ana.post("/context/feedback", json={"contextItemId": item["id"], "useful": True})) == {"success": True}
    with weft.store.view("studio", "ana") as view:
        assert [(vote.node, vote.useful) for vote in view.votes(5)] == [(item["metadata"]["node"], True)]
    assert ok(ana.post(f"{W}/references-remove", json={"thread": thread, "nodes": ["plan"]})) == {"changed": 1}


def test_messages_count_their_texts_whether_or_not_they_were_embedded_before(ana, weft):
    thread = ok(ana.post(f"{W}/threads", json={"title": "Counts"}), 201)["id"]

    def embedded(*texts):
        body = {"thread": thread, "messages": [{"text": text} for text in texts]}
        answer = ok(ana.post(f"{W}/messages", json=body), 201)
        assert answer["nodes"] == len(answer["ids"]) == len(texts)
        return answer["embedded"]

    assert embedded("Who polishes the lens?", "Who polishes the lens?") == 1
    assert embedded("Who polishes the lens?", "And when?") == 2


def test_the_description_of_a_prime_context_has_its_items_citations_and_counts(ana):
    schemas = ok(ana.get("/openapi.json"))["components"]["schemas"]
    assert schemas["PrimeItem"]["properties"].keys() >= {"id", "type", "content", "relevance", "metadata"}
    assert schemas["PrimeCitation"]["properties"].keys() >= {"id", "source", "usedInResponse"}
    assert {"explicitCount", "searchCount"} <= schemas["Stats"]["properties"].keys()


def test_the_metrics_of_the_thread_contract_have_its_names(ana, weft):
    thread = ok(ana.post(f"{W}/threads", json={"title": "Metrics"}), 201)["id"]
    ok(ana.post("/context/build", json={"threadId": thread, "message": "When does the mirror ship?"}))
    text = ana.get("/metrics", headers=key_for(weft, scope="admin")).text
    assert 'context_assembly_time_bucket{le="0.3"}' in text
    tokens = next(line for line in text.splitlines() if line.startswith("context_token_usage "))
    assert float(tokens.split()[1]) > 0


def test_activity_is_ones_own(ana, weft):
    ok(ana.post(f"{W}/activity", json={"node": "plan", "kind": "edit"}))
    assert ok(ana.get(f"{W}/activity", params={"kind": "edit"}))["events"][0]["node"] == "plan"
    ben = key_for(weft, user="ben")
    assert ok(ana.get(f"{W}/activity", params={"kind": "edit"}, headers=ben)) == {"events": []}


def test_a_context_over_http_is_the_engines(ana, weft):
    body = {"query": "When does the mirror ship?", "budget": 900, "focus": "plan", "lens": "planning", "depth": 3}
    sent = ok(ana.post(f"{W}/context/build", json={**body, "form": "document"}))
    made = weft.context(
        body["query"], user="ana", workspace="studio", budget=900, focus="plan", lens="planning", depth=3
    )
    local = to_dict(made)
    assert {name: sent[name] for name in local} == local
    assert ok(ana.post(f"{W}/context/build", json=body)) == encode(lean(made))
    whole = ok(ana.post(f"{W}/context/build", json={**body, "form": "whole"}))
    assert decode(Context, whole).trace == made.trace
    preview = ok(ana.post(f"{W}/context/preview", json=body))
    assert preview["tokens"] == sent["tokens"]
    assert ok(ana.post(f"{W}/context/explain", json=body))["text"].startswith("Query ")
    other = ok(ana.post(f"{W}/context/build", json={**body, "packer": "optimal", "template": "plain"}))
    assert other["text"] != sent["text"]


def test_a_difference_is_told_to_whom_it_belongs(ana, weft):
    first = ok(ana.post(f"{W}/context/build", json={"query": "mirror"}))
    ok(ana.post(f"{W}/nodes", json={"nodes": [{"id": "ana/delta", "text": "A mirror is a mirror."}]}))
    delta = ok(ana.post(f"{W}/context/delta", json={"query": "mirror", "since": first["id"]}))
    assert "A mirror is a mirror." in delta["text"]
    assert any(each["document"] == "ana/delta" for each in delta["added"])
    body = {"query": "mirror", "since": first["id"], "form": "document"}
    assert any(
        "A mirror is a mirror." in each["text"] for each in ok(ana.post(f"{W}/context/delta", json=body))["added"]
    )


def test_an_answer_is_checked_against_its_context(ana):
    body = {"query": "When does the mirror ship?"}
    (cited,) = [each for each in ok(ana.post(f"{W}/context/build", json=body))["citations"] if each["node"] == "plan"]
    answer = f"In March [{cited['id']}], not in May [k000000]."
    check = ok(ana.post(f"{W}/answers/check", json={**body, "answer": answer}))
    assert [each["node"] for each in check["used"]] == ["plan"]
    assert (check["unknown"], check["sound"]) == (["k000000"], False)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("context/build", {"query": "x" * 101}),
        ("context/build", {"budget": 5001}),
        ("context/build", {"budget": {"total": 5001}}),
        ("context/build", {"depth": 5}),
        ("context/preview", {"topics": [{"text": "x" * 101}]}),
        ("search", {"query": "x" * 101}),
        ("search", {"query": "x", "limit": 21}),
        ("ask", {"query": "x" * 101}),
        ("ask/stream", {"query": "x", "max_tokens": 5001}),
        ("nodes", {"nodes": [{}] * 4}),
        ("edges", {"edges": [{"source": "plan", "target": "plan"}] * 4}),
        ("nodes-remove", {"ids": ["a", "b", "c", "d"]}),
    ],
)
def test_what_is_over_the_limits_is_refused(ana, path, body):
    response = ana.post(f"{W}/{path}", json=body)
    assert response.status_code == 422
    assert "at most" in response.json()["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("nodes", {"nodes": [{"id": "ana/x", "owner": 5}]}),
        ("nodes", {"nodes": [{"id": "ana/x", "typo": "x"}]}),
        ("nodes", {"nodes": [{"id": "ana/x", "position": "1"}]}),
        ("search", {"query": 5}),
        ("context/build", {"user": "ben"}),
        ("context/build", {"workspace": "other"}),
        ("feedback", {"reference": "plan", "useful": "yes"}),
        ("activity", {"node": "plan", "kind": "view", "at": "0001-01-01T00:00:00+10:00"}),
        ("context/build", {"query": "x", "filters": {"as_of": "0001-01-01T00:00:00Z"}}),
        ("context/build", {"history": [{"role": "user", "text": "x", "at": "9999-12-31T23:59:59-10:00"}]}),
    ],
)
def test_what_does_not_fit_is_refused_and_named(ana, path, body):
    problem = ana.post(f"{W}/{path}", json=body)
    assert problem.status_code == 422
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["errors"][0]["pointer"].startswith("/")


@pytest.mark.parametrize(
    "body",
    [
        "[" * 50_000,
        '{"nodes": [{"id": "ana/\\ud800"}]}',
        '{"nodes": [{"fields": {"\\ud800": "x"}}]}',
        '{"nodes": [{"fields": {"a": NaN}}]}',
        '{"nodes": [{"position": 1' + "0" * 5000 + "}]}",
        '{"nodes": [{"id": "ana/\\u0000"}]}',
        "",
        "\xff",
    ],
)
def test_a_body_that_is_hardly_json_is_refused(ana, body):
    response = ana.post(f"{W}/nodes", content=body.encode("latin-1"), headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == "application/problem+json"


def test_what_is_unknown_is_refused_with_what_there_is(ana):
    for field in ("recipe", "lens", "packer", "template"):
        response = ana.post(f"{W}/context/build", json={"query": "mirror", field: "nonsense"})
        assert response.status_code == 400
        assert "use one of" in response.json()["detail"]


def test_markup_is_data_and_no_answer_is_a_page(ana, weft):
    node = {"id": "ana/markup", "title": MARKUP, "text": f"mirror {MARKUP}", "tags": [MARKUP]}
    ok(ana.post(f"{W}/nodes", json={"nodes": [node]}))
    for response in (
        ana.get(f"{W}/nodes/ana%2Fmarkup"),
        ana.get(f"{W}/nodes/{MARKUP}"),
        ana.post(f"{W}/context/build", json={"query": MARKUP}),
        ana.post(f"{W}/search", json={"query": MARKUP}),
    ):
        assert response.headers["content-type"] in ("application/json", "application/problem+json")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in response.headers["content-security-policy"]


def test_a_picture_is_shown_only_where_there_is_one(ana, weft, tmp_path):
    files = weft.store.files("studio")
    pages = {"jpg": b"\xff\xd8\xff\xe0 picture", "html": b"<script>alert(1)</script>"}
    with files.incoming("doc") as incoming:
        for kind, data in pages.items():
            incoming.write(f"page.{kind}", data)
        with files.published("doc", "v1", incoming):
            weft.add(
                [
                    Node(id="doc", type="document"),
                    *(
                        Node(
                            id=f"doc#{kind}",
                            type="document_page",
                            parent="doc",
                            fields={"image_path": files.relative("doc", "v1", f"page.{kind}")},
                        )
                        for kind in pages
                    ),
                    Node(id="doc#up", type="document_page", parent="doc", fields={"image_path": "../../etc/passwd"}),
                    Node(id="doc#note", parent="doc", fields={"image_path": files.relative("doc", "v1", "page.jpg")}),
                ],
                workspace="studio",
            )
    shown = ana.get(f"{W}/page-image", params={"node": "doc#jpg"})
    assert (shown.headers["content-type"], shown.content) == ("image/jpeg", pages["jpg"])
    assert shown.headers["x-content-type-options"] == "nosniff"
    for name in ("doc#html", "doc#up", "doc#note", "doc"):
        assert ana.get(f"{W}/page-image", params={"node": name}).status_code == 404
    assert ana.get(f"{W}/page-thumbnail", params={"node": "doc#jpg"}).status_code == 404


def test_an_answer_says_how_to_get_pictures_of_slides(tmp_path):
    with open_studio(tmp_path / "slides.weft") as weft, calling(weft) as client:
        known = {"filename": "plan.pptx", "extension": "pptx"}
        page = Node(
            id="plan#page=1", type="document_page", parent="plan", position=1,
            text="Walrus aquarium prices.", fields={**known, "page": 1},
        )  # fmt: skip
        weft.add([Node(id="plan", type="document", fields=known), page], workspace="studio")
        client.headers.update(key_for(weft, scope="read"))
        answer = ok(client.post(f"{W}/ask", json={"query": "walrus aquarium prices"}))
        assert "there are no pictures of plan.pptx: install LibreOffice" in answer["note"]
        missing = client.get(f"{W}/page-image", params={"node": "plan#page=1"})
        assert (missing.status_code, "install LibreOffice" in missing.json()["detail"]) == (404, True)


def test_a_question_is_answered_from_notes_as_the_command_does(tmp_path):
    with open_studio(tmp_path / "notes.weft") as weft, calling(weft) as client:
        weft.add(
            [Node(id="rollers", title="Rollers", text="The rollers need fresh grease each spring.")], workspace="studio"
        )
        client.headers.update(key_for(weft, user="ana", scope="read"))
        body = {"query": "When do the rollers need grease?"}
        answer = ok(client.post(f"{W}/ask", json=body))
        assert answer["answer"] == "The rollers need fresh grease each spring. [1]"
        found = research(weft, body["query"], user="ana", workspace="studio")
        assert answer["answer"] == answer_from(body["query"], found, None, weft.tools.embedder).answer
        pages = ok(client.post(f"{W}/ask", json={**body, "mode": "hybrid"}))
        assert pages["sources"] == []


@pytest.mark.parametrize("path", [f"{W}/ask", "/api/research/ask"])
def test_the_pictures_of_sources_are_where_the_answer_says(tmp_path, path):
    with open_studio(tmp_path / "pictures.weft") as weft, calling(weft) as client:
        files = weft.store.files("studio")
        names = {"image_path": "page-0001.jpg", "thumbnail_path": "thumb-0001.jpg"}
        with files.incoming("a doc") as incoming:
            for name in names.values():
                incoming.write(name, b"\xff\xd8\xff\xe0 " + name.encode())
            with files.published("a doc", "v1", incoming):
                paths = {field: files.relative("a doc", "v1", name) for field, name in names.items()}
                page = Node(
                    id="a doc#page=1", type="document_page", parent="a doc", position=1,
                    text="Walrus aquarium prices.", fields={"page": 1, **paths},
                )  # fmt: skip
                weft.add([Node(id="a doc", type="document"), page], workspace="studio")
        client.headers.update(key_for(weft, scope="read"))
        source = ok(client.post(path, json={"query": "walrus aquarium prices"}))["sources"][0]
        assert source["node_id"] == "a doc#page=1"
        for field, name in names.items():
            shown = client.get(source[field])
            assert (shown.status_code, shown.content[5:]) == (200, name.encode())
