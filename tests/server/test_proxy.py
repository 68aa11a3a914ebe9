"""The proxy: requests of a program go on to another endpoint, here one on this machine, with sources in them."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from starlette.testclient import TestClient

from weftwork import Node, Weft
from weftwork.faces.memory import Memories
from weftwork.server.proxy.app import ProxyOptions, make_proxy

BASE = "http://127.0.0.1:8001"
QUESTION = "What does the dome turn on?"


class Upstream(BaseHTTPRequestHandler):
    """An endpoint that answers with what it is told to, and keeps what it was sent."""

    seen: ClassVar[list[tuple[str, dict, bytes]]] = []
    answers: ClassVar[list[tuple[int, str, bytes]]] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.seen.append((self.path, dict(self.headers), body))
        status, kind, content = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-Request-Id", "up-1")
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        self.answers.append((200, "application/json", b'{"data": []}'))
        self.headers["content-length"] = "0"
        self.do_POST()

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def upstream():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def weft(tmp_path):
    with Weft.open(tmp_path / "a.weft", embedder="hashing") as engine:
        engine.add(
            [
                Node(id="dome", type="page", title="Dome", text="The dome turns on twelve rollers of brass."),
                Node(id="gate", type="page", title="Gate", text="The gate opens to the north with a silver handle."),
            ]
        )
        yield engine


@pytest.fixture
def http(weft, upstream):
    Upstream.seen.clear()
    Upstream.answers.clear()
    app = make_proxy(weft, ProxyOptions(upstream=upstream, user="me", workspace="main"))
    with TestClient(app, base_url=BASE) as client:
        yield client


def chat_answer(text):
    message = {"role": "assistant", "content": text}
    return 200, "application/json", json.dumps({"id": "c1", "choices": [{"message": message}]}).encode()


def ask(http, *messages, answer="Brass.", headers=None, **more):
    Upstream.answers.append(chat_answer(answer))
    body = {"model": "m", "messages": list(messages), **more}
    return http.post("/v1/chat/completions", json=body, headers=headers or {})


def sent(index=-1):
    return json.loads(Upstream.seen[index][2])


def user(text):
    return {"role": "user", "content": text}


def test_sources_stand_before_the_question_and_everything_else_goes_on(http, weft):
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    system = {"role": "system", "content": "Be brief."}
    answer = ask(http, system, user(QUESTION), tools=tools, temperature=0, headers={"Authorization": "Bearer sk-1"})
    assert answer.json()["choices"][0]["message"]["content"] == "Brass."
    assert answer.headers["X-Request-Id"] == "up-1"
    body = sent()
    assert body["tools"] == tools and body["temperature"] == 0 and body["messages"][0] == system
    content = body["messages"][-1]["content"]
    assert "twelve rollers of brass" in content and content.endswith(QUESTION)
    path, headers, _ = Upstream.seen[-1]
    assert path == "/v1/chat/completions" and headers["authorization"] == "Bearer sk-1"
    assert not any(name.lower().startswith("weftwork") for name in headers)
    receipt = weft.receipts.get(answer.headers["Weftwork-Receipt"])
    assert receipt.surface == "proxy"


def test_the_next_request_begins_with_the_bytes_of_the_last_and_the_answer_is_stored(http, weft):
    ask(http, user(QUESTION), answer="On twelve rollers.")
    first = sent()["messages"]
    said = [user(QUESTION), {"role": "assistant", "content": "On twelve rollers."}]
    ask(http, *said, user("Which handle has the gate?"))
    second = sent()["messages"]
    assert second[: len(first)] == first
    assert "silver handle" in second[-1]["content"] and "twelve rollers of brass" not in second[-1]["content"]
    (thread,) = weft.threads.list()
    texts = [message.text for message in weft.threads.messages(thread.id)]
    assert texts == [QUESTION, "On twelve rollers.", "Which handle has the gate?", "Brass."]


def test_the_output_of_a_tool_and_a_request_sent_again_are_no_new_turns(http, weft):
    ask(http, user(QUESTION))
    first = sent()["messages"]
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "t", "type": "function", "function": {}}]}
    output = {"role": "tool", "tool_call_id": "t", "content": "12"}
    ask(http, user(QUESTION), call, output)
    assert sent()["messages"] == [*first, call, output]
    ask(http, user(QUESTION))
    assert sent()["messages"] == first
    assert len(weft.threads.list()) == 1


def test_a_message_without_an_answer_keeps_its_sources_when_the_next_one_comes(http, weft):
    Upstream.answers.append((500, "application/json", b"{}"))
    http.post("/v1/chat/completions", json={"messages": [user(QUESTION)]})
    first = sent()["messages"]
    ask(http, user(QUESTION), user("Which handle has the gate?"))
    assert sent()["messages"][:1] == first
    last = sent()["messages"][1]["content"]
    assert "silver handle" in last and "dome" not in last


def test_two_conversations_that_begin_alike_are_two_threads(http, weft):
    ask(http, user(QUESTION), answer="A.")
    said = [user(QUESTION), {"role": "assistant", "content": "A."}]
    ask(http, *said, user("And the gate?"))
    ask(http, *said, user("Who painted the dome?"))
    assert len(weft.threads.list()) == 2


def test_a_conversation_that_is_under_way_is_taken_up(http, weft):
    ask(http, user("We speak of the dome."), {"role": "assistant", "content": "Yes."}, user("What does it turn on?"))
    (thread,) = weft.threads.list()
    assert [each.text for each in weft.threads.messages(thread.id)][:2] == ["We speak of the dome.", "Yes."]


def test_parts_of_a_message_that_are_no_text_stay(http):
    parts = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    ask(http, {"role": "user", "content": parts})
    content = sent()["messages"][0]["content"]
    assert content[1:] == parts and "twelve rollers" in content[0]["text"]


def test_standing_memories_follow_the_instructions(http, weft):
    Memories(weft).remember("The user is called Ana.", pinned=True)
    ask(http, {"role": "system", "content": "Be brief."}, user("thanks"))
    messages = sent()["messages"]
    assert messages[0]["content"] == "Be brief." and "called Ana" in messages[1]["content"]
    assert messages[2] == user("thanks")


def test_nothing_is_added_where_a_header_says_so_or_nothing_fits(http, weft):
    ask(http, user(QUESTION), headers={"Weftwork-Inject": "off"})
    assert sent()["messages"] == [user(QUESTION)]
    assert weft.threads.list() == []
    ask(http, user("thanks!"))
    assert sent()["messages"] == [user("thanks!")]


def test_errors_of_the_other_endpoint_arrive_as_they_are(http, upstream):
    error = json.dumps({"error": {"message": "slow down", "code": "rate_limit"}}).encode()
    Upstream.answers.append((429, "application/json", error))
    answer = http.post("/v1/chat/completions", json={"messages": [user(QUESTION)]})
    assert (answer.status_code, answer.content) == (429, error)
    Upstream.answers.append((400, "application/json", b'{"error": 1}'))
    answer = http.post("/v1/chat/completions", content=b"{broken")
    assert (answer.status_code, answer.content) == (400, b'{"error": 1}')
    assert Upstream.seen[-1][2] == b"{broken"


def test_an_endpoint_that_is_not_there_is_an_error_that_says_so(weft):
    options = ProxyOptions(upstream="http://127.0.0.1:9/v1", user="me", workspace="main")
    with TestClient(make_proxy(weft, options), base_url=BASE) as http:
        answer = http.post("/v1/chat/completions", json={"messages": [user("x")]})
    assert answer.status_code == 502 and "does not answer" in answer.json()["error"]["message"]


def test_a_failure_of_the_workspace_stops_nobody(weft, upstream):
    Upstream.answers.append(chat_answer("Hello."))
    options = ProxyOptions(upstream=upstream, user="nobody", workspace="main")
    with TestClient(make_proxy(weft, options), base_url=BASE) as http:
        answer = http.post("/v1/chat/completions", json={"messages": [user(QUESTION)]})
    assert answer.json()["choices"][0]["message"]["content"] == "Hello."
    assert "nobody" in answer.headers["Weftwork-Warning"]
    assert sent()["messages"] == [user(QUESTION)]


def test_streams_pass_byte_for_byte_and_are_stored(http, weft):
    deltas = [{"id": "c", "choices": [{"delta": {"content": text}}]} for text in ("On ", "brass", " rollers.")]
    stream = "".join(f"data: {json.dumps(each)}\n\n" for each in deltas) + "data: [DONE]\n\n"
    Upstream.answers.append((200, "text/event-stream", stream.encode()))
    answer = http.post("/v1/chat/completions", json={"messages": [user(QUESTION)], "stream": True})
    assert answer.content == stream.encode() and answer.headers["content-type"].startswith("text/event-stream")
    (thread,) = weft.threads.list()
    assert weft.threads.messages(thread.id)[-1].text == "On brass rollers."


def test_responses_are_gone_on_from_by_their_id(http, weft):
    made = {"id": "resp_1", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Rollers."}]}]}
    Upstream.answers.append((200, "application/json", json.dumps(made).encode()))
    http.post("/v1/responses", json={"input": QUESTION, "instructions": "Be brief."})
    assert sent()["instructions"] == "Be brief."
    assert "twelve rollers" in sent()["input"][0]["content"]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_2"}},
        {"type": "response.output_text.delta", "delta": "Silver."},
    ]
    stream = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    Upstream.answers.append((200, "text/event-stream", stream.encode()))
    asked = {"input": [user("Which handle has the gate?")], "previous_response_id": "resp_1", "stream": True}
    http.post("/v1/responses", json=asked)
    assert "silver handle" in sent()["input"][0]["content"]
    (thread,) = weft.threads.list()
    assert [each.text for each in weft.threads.messages(thread.id)] == [
        QUESTION, "Rollers.", "Which handle has the gate?", "Silver.",
    ]  # fmt: skip


def test_other_paths_go_on_as_they_came_and_pages_of_other_sites_do_not(http):
    assert http.get("/v1/models").json() == {"data": []}
    assert http.get("/v1/models", headers={"Origin": "https://evil.example"}).status_code == 403
    assert http.get("/v1/models", headers={"Host": "evil.example"}).status_code == 421


def test_a_key_of_the_proxy_is_for_programs_that_send_none(weft, upstream):
    options = ProxyOptions(upstream=upstream, user="me", workspace="main", key="sk-own")
    with TestClient(make_proxy(weft, options), base_url=BASE) as http:
        ask(http, user("x"))
        assert Upstream.seen[-1][1]["authorization"] == "Bearer sk-own"
        ask(http, user("x"), headers={"Authorization": "Bearer sk-2"})
        assert Upstream.seen[-1][1]["authorization"] == "Bearer sk-2"
