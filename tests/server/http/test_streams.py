"""What comes while one waits: answers and the progress of jobs, as server-sent events."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from weftwork.errors import ModelError
from weftwork.faces.research import ChatModel, ModelSettings
from weftwork.server.http.options import Limits

from .serving import key_for, open_studio, served

W = "/v1/workspaces/studio"
PAGE = (
    b"<h1>Dome</h1><p>The heavy dome turns on twelve steel rollers.</p>"
    b"<p>Somebody brings fresh grease from Basel each spring.</p>"
)


class Teller:
    """A model that says what it is told to, and knows whether it was heard to the end."""

    name = "teller"

    def __init__(self):
        self.pieces = ["Each ", "spring ", "[1]."]
        self.endless = False
        self.failing = False
        self.closed = threading.Event()

    def complete(self, messages):
        return "".join(self.pieces)

    def stream(self, messages):
        try:
            yield from self.pieces
            while self.endless:
                yield "on and on "
            if self.failing:
                raise ModelError("the model's own words, which may quote a document")
        finally:
            self.closed.set()


@pytest.fixture(scope="module")
def model():
    return Teller()


@pytest.fixture(scope="module")
def server(tmp_path_factory, model):
    with (
        open_studio(tmp_path_factory.mktemp("streams") / "studio.weft") as weft,
        served(weft, model=model, limits=Limits(requests_per_minute=0)) as url,
        httpx.Client(base_url=url, headers=key_for(weft, scope="write"), timeout=30) as client,
    ):
        sent = client.post(f"{W}/documents", files={"file": ("dome.html", PAGE, "text/html")})
        assert sent.status_code == 202
        client.first_job = sent.json()  # type: ignore[attr-defined]
        client.first_events = events(  # type: ignore[attr-defined]
            client, "GET", f"{W}/jobs/{sent.json()['id']}/events"
        )
        yield client


def events(client, method, path, **more):
    with client.stream(method, path, **more) as response:
        assert response.headers["content-type"].startswith("text/event-stream"), response.read()
        return parsed("".join(response.iter_text()))


def parsed(text):
    found = []
    for block in text.strip().split("\n\n"):
        name, _, data = block.partition("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.fixture(autouse=True)
def plain(model):
    model.endless = model.failing = False
    model.closed.clear()


def test_a_job_is_followed_from_its_upload_to_its_end(server):
    assert server.first_job["state"] == "queued"
    assert server.first_job["name"] == "dome.html"
    *progress, (last, done) = server.first_events
    assert all(name == "progress" for name, _ in progress)
    assert (last, done["state"], done["read"]) == ("done", "done", 2)
    assert "folder" not in done
    assert server.get(f"{W}/jobs/{done['id']}").json()["state"] == "done"
    assert server.get(f"{W}/nodes/{done['node'].replace('/', '%2F')}").json()["owner"] == "ana"


def test_a_job_that_has_ended_tells_so_at_once_and_is_not_cancelled(server):
    ((name, told),) = events(server, "GET", f"{W}/jobs/{server.first_job['id']}/events")
    assert (name, told["state"]) == ("done", "done")
    assert server.delete(f"{W}/jobs/{server.first_job['id']}").json()["state"] == "done"


def test_what_cannot_be_read_fails_with_its_reason(server):
    job = server.post(f"{W}/documents", files={"file": ("a.pdf", b"no pdf at all")}).json()
    name, told = events(server, "GET", f"{W}/jobs/{job['id']}/events")[-1]
    assert (name, told["state"]) == ("done", "failed")
    assert "a.pdf" in told["why"]


def test_an_uploaded_page_is_served_as_data_and_never_as_a_page(server):
    listed = server.get(f"{W}/nodes", params={"type": "document_page"})
    assert listed.headers["content-type"] == "application/json"
    page = server.get(f"{W}/page-image", params={"node": listed.json()["nodes"][0]["id"]})
    assert page.status_code == 404  # HTML has no picture, and its source is nowhere to be had


def test_the_answer_of_a_model_comes_piece_by_piece(server, model):
    found = events(server, "POST", f"{W}/ask/stream", json={"query": "When do the rollers need grease?"})
    assert [name for name, _ in found] == ["sources", "piece", "piece", "piece", "done"]
    assert found[0][1][0]["filename"] == "dome.html"
    assert "".join(told["text"] for name, told in found if name == "piece") == "Each spring [1]."
    whole = server.post(f"{W}/ask", json={"query": "When do the rollers need grease?"}).json()
    assert found[-1][1] == whole
    assert (whole["model"], whole["citations"]["cited"]) == ("teller", [1])


def test_without_a_model_it_comes_sentence_by_sentence(server):
    body = {"query": "heavy dome on steel rollers", "extractive": True}
    found = events(server, "POST", f"{W}/ask/stream", json=body)
    pieces = [told["text"] for name, told in found if name == "piece"]
    assert len(pieces) == 2
    assert all(piece.strip().endswith("[1]") for piece in pieces)
    assert found[-1][1] == server.post(f"{W}/ask", json=body).json()


def test_the_research_route_answers_as_its_contract_says(server):
    answer = server.post("/api/research/ask", json={"query": "When do the rollers need grease?", "other": 1}).json()
    assert answer["answer"] == "Each spring [1]."
    assert {"answer", "sources", "truncated", "total_tokens"} <= answer.keys()
    assert answer["sources"][0].keys() == {
        "doc_id", "filename", "page", "extension", "thumbnail_path", "image_path", "timestamp", "section_path",
        "parent_heading", "markdown_content", "relevance_score", "node_id",
    }  # fmt: skip


def test_a_model_that_fails_on_the_way_ends_with_an_error_that_quotes_nothing(server, model):
    model.failing = True
    found = events(server, "POST", f"{W}/ask/stream", json={"query": "When do the rollers need grease?"})
    name, problem = found[-1]
    assert (name, problem["status"]) == ("error", 502)
    assert "own words" not in json.dumps(problem)


def test_a_client_that_goes_away_ends_the_work_for_it(server, model):
    model.endless = True
    with server.stream("POST", f"{W}/ask/stream", json={"query": "When do the rollers need grease?"}) as response:
        pieces = response.iter_text()  # to let go of it would be to go away
        next(pieces)
        assert not model.closed.is_set()
    assert model.closed.wait(timeout=20)
    assert server.get("/healthz").status_code == 200


class Chat(BaseHTTPRequestHandler):
    """A chat completions endpoint that streams."""

    lines = ()
    status = 200

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(self.status)
        self.end_headers()
        for line in self.lines:
            self.wfile.write(f"data: {line}\n\n".encode())

    def log_message(self, *arguments):
        pass


def said(*pieces):
    return [json.dumps({"choices": [{"delta": {"content": piece}}]}) for piece in pieces]


@pytest.mark.parametrize(
    ("lines", "status", "expected"),
    [
        ([json.dumps({"choices": [{"delta": {"role": "assistant"}}]}), *said("a", "b"), "[DONE]"], 200, ["a", "b"]),
        (said("only"), 200, ["only"]),
        (["[DONE]"], 200, "sent no answer"),
        (["{"], 200, "did not answer in JSON"),
        ([], 500, "answered HTTP 500"),
    ],
)
def test_a_chat_model_is_read_as_it_speaks(lines, status, expected):
    handler = type("Scripted", (Chat,), {"lines": lines, "status": status})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        model = ChatModel(ModelSettings(name="m", url=f"http://127.0.0.1:{server.server_port}/v1"))
        if isinstance(expected, list):
            assert list(model.stream([{"role": "user", "content": "?"}])) == expected
        else:
            with pytest.raises(ModelError, match=expected):
                list(model.stream([{"role": "user", "content": "?"}]))
    finally:
        server.shutdown()
        server.server_close()
