import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

from weftwork.embed.openai import OpenAIEmbedder
from weftwork.errors import DimensionError, EmbeddingError, InvalidInput

KEY = "sk-secret-0123456789"
TEXT = "private words"


@dataclass
class Reply:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    stall: bool = False


@dataclass
class Server:
    """An embeddings endpoint that gives the planned replies first and true ones afterwards."""

    url: str = ""
    planned: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    released: Event = field(default_factory=Event)

    def answer(self, body: dict[str, Any]) -> Reply:
        self.requests.append(body)
        return self.planned.pop(0) if self.planned else embeddings(*map(encoded, body["input"]))


def encoded(text: str) -> list[float]:
    """Three numbers that tell texts apart."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


def embeddings(*vectors: list[float], backwards: bool = True) -> Reply:
    items = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return Reply(json.dumps({"data": items[::-1] if backwards else items}).encode())


class Handler(BaseHTTPRequestHandler):
    state: Server

    def do_POST(self) -> None:
        assert self.path == "/v1/embeddings"
        self.state.authorizations.append(self.headers["Authorization"])
        reply = self.state.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if reply.stall:
            self.state.released.wait()
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"state": state})) as http:
        state.url = f"http://127.0.0.1:{http.server_port}/v1"
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield state
        state.released.set()
        http.shutdown()
        thread.join()


Connect = Callable[..., OpenAIEmbedder]


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def connect(server: Server, waits: list[float]) -> Iterator[Connect]:
    opened: list[OpenAIEmbedder] = []

    def make(model: str = "tiny", **options: Any) -> OpenAIEmbedder:
        settings: dict[str, Any] = {"api_key": KEY, "base_url": server.url, "sleep": waits.append} | options
        opened.append(OpenAIEmbedder(model, **settings))
        return opened[-1]

    yield make
    for embedder in opened:
        embedder.close()


def failure(embedder: OpenAIEmbedder) -> str:
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(TEXT)
    message = str(caught.value)
    assert KEY not in message
    assert TEXT not in message
    return message


def test_texts_go_out_in_batches_and_come_back_in_order(server: Server, connect: Connect) -> None:
    texts = [f"{'x' * number} text" for number in range(5)]
    matrix = connect(batch_size=2).embed_batch(texts)
    assert [len(request["input"]) for request in server.requests] == [2, 2, 1]
    for row, text in zip(matrix, texts, strict=True):
        length = sum(number**2 for number in encoded(text)) ** 0.5
        assert row.tolist() == pytest.approx([number / length for number in encoded(text)])


def test_a_request_names_the_model_and_bears_the_key(server: Server, connect: Connect) -> None:
    connect("some-model", api_key=f" {KEY}\n").embed(TEXT)
    assert server.requests == [{"model": "some-model", "input": [TEXT], "encoding_format": "float"}]
    assert server.authorizations == [f"Bearer {KEY}"]


def test_a_server_that_needs_no_key_gets_none(server: Server, connect: Connect) -> None:
    connect(api_key=None).embed(TEXT)
    assert server.authorizations == [None]


def test_chosen_dimensions_are_asked_for_and_are_part_of_the_name(server: Server, connect: Connect) -> None:
    embedder = connect(dimensions=3)
    embedder.embed(TEXT)
    assert server.requests[0]["dimensions"] == 3
    assert embedder.model == "127.0.0.1/tiny@3"


def test_blank_texts_are_not_sent(server: Server, connect: Connect) -> None:
    matrix = connect().embed_batch(["", "a", "  "])
    assert [request["input"] for request in server.requests] == [["a"]]
    assert matrix.any(axis=1).tolist() == [False, True, False]


def test_lone_surrogates_do_not_break_the_request(server: Server, connect: Connect) -> None:
    connect().embed("a\ud800")
    assert server.requests[0]["input"] == ["a?"]


def test_the_dimensions_of_an_unknown_model_are_learnt_from_its_first_answer(server: Server, connect: Connect) -> None:
    embedder = connect()
    embedder.embed(TEXT)
    assert embedder.dimensions == 3
    assert len(server.requests) == 1


def test_the_dimensions_of_an_unknown_model_can_be_asked_before_any_text(server: Server, connect: Connect) -> None:
    assert connect().embed_batch([]).shape == (0, 3)


@pytest.mark.parametrize(
    ("model", "dimensions"),
    [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072), ("text-embedding-ada-002", 1536)],
)
def test_the_dimensions_of_known_models_need_no_request(model: str, dimensions: int) -> None:
    embedder = OpenAIEmbedder(model)
    assert (embedder.model, embedder.dimensions) == (model, dimensions)


def test_vectors_of_the_wrong_length_are_refused(server: Server, connect: Connect) -> None:
    with pytest.raises(DimensionError, match="3 numbers for text-embedding-3-small, not 1536"):
        connect("text-embedding-3-small").embed(TEXT)


def test_vectors_whose_length_changes_later_are_refused(server: Server, connect: Connect) -> None:
    embedder = connect()
    embedder.embed(TEXT)
    server.planned = [embeddings([1.0, 2.0])]
    with pytest.raises(DimensionError, match="2 numbers for tiny, not 3"):
        embedder.embed(TEXT)


def test_a_busy_server_is_asked_again_after_the_time_that_it_named(
    server: Server, connect: Connect, waits: list[float]
) -> None:
    server.planned = [Reply(b"", 429, {"Retry-After": "7"}), Reply(b"", 503)]
    assert connect().embed(TEXT).shape == (3,)
    assert waits == [7, 1]


def test_errors_of_the_server_are_retried_with_doubled_waits_and_then_reported(
    server: Server, connect: Connect, waits: list[float]
) -> None:
    server.planned = [Reply(f"{KEY} {TEXT}".encode(), 500)] * 9
    assert "HTTP 500 for tiny after 4 attempts" in failure(connect(max_retries=3))
    assert waits == [0.5, 1, 2]
    assert len(server.requests) == 4


def test_a_wait_that_is_too_long_is_reported_at_once(server: Server, connect: Connect, waits: list[float]) -> None:
    server.planned = [Reply(b"", 429, {"Retry-After": "3600"})]
    assert failure(connect()).endswith("HTTP 429 for tiny: it asks to wait 3600 seconds")
    assert waits == []


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        (400, "too long"),
        (401, "OPENAI_API_KEY"),
        (404, "the model's name"),
        (413, "batch_size"),
        (302, "later"),
    ],
)
def test_a_refusal_is_not_retried_and_says_what_to_check(
    server: Server, connect: Connect, waits: list[float], status: int, fix: str
) -> None:
    server.planned = [Reply(json.dumps({"error": {"message": f"{KEY} {TEXT}"}}).encode(), status)]
    message = failure(connect())
    assert f"HTTP {status}" in message
    assert fix in message
    assert waits == []


def test_a_server_that_does_not_answer_in_time_is_asked_again(
    server: Server, connect: Connect, waits: list[float]
) -> None:
    server.planned = [Reply(b"", stall=True)] * 2
    assert "(ReadTimeout) after 2 attempts" in failure(connect(timeout=0.05, max_retries=1))
    assert waits == [0.5]


def test_a_server_that_is_not_there_is_reported(server: Server, connect: Connect) -> None:
    assert "127.0.0.1 could not be reached (ConnectError)" in failure(
        connect(base_url="http://127.0.0.1:1/v1", max_retries=0)
    )


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"<html>", "did not answer in JSON"),
        (b"\xff\xfe", "did not answer in JSON"),
        (b"[]", "no `data` list for 1 texts"),
        (b'{"data": 3}', "no `data` list"),
        (b'{"data": []}', "0 items for 1 texts"),
        (b'{"data": [{"embedding": [1]}]}', "without `index` or `embedding`"),
        (b'{"data": [{"index": 0}]}', "without `index` or `embedding`"),
        (b'{"data": [7]}', "without `index` or `embedding`"),
        (b'{"data": [{"index": 1, "embedding": [1]}]}', "1 items for 1 texts"),
        (
            b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
            "2 items for 1 texts",
        ),
        (b'{"data": [{"index": 0, "embedding": ["a"]}]}', "other things than numbers"),
        (b'{"data": [{"index": 0, "embedding": [[1]]}]}', "other things than numbers"),
        (b'{"data": [{"index": 0, "embedding": []}]}', "other things than numbers"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}]}', "infinite or missing"),
        (b'{"data": [{"index": 0, "embedding": [1e999]}]}', "infinite or missing"),
        (b'{"data": [{"index": 0, "embedding": [null]}]}', "infinite or missing"),
    ],
)
def test_nonsense_in_an_answer_is_named(server: Server, connect: Connect, body: bytes, complaint: str) -> None:
    server.planned = [Reply(body)]
    assert complaint in failure(connect())


def test_vectors_of_mixed_length_are_refused(server: Server, connect: Connect) -> None:
    server.planned = [embeddings([1.0], [1.0, 2.0])]
    with pytest.raises(EmbeddingError, match="mixed length"):
        connect().embed_batch(["a", "b"])


def test_a_closed_embedder_opens_again(server: Server, connect: Connect) -> None:
    with connect() as embedder:
        embedder.embed(TEXT)
    assert embedder.embed(TEXT).shape == (3,)


def test_the_environment_gives_the_key_and_the_address(server: Server) -> None:
    settings = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
    with OpenAIEmbedder.from_env("tiny", settings) as embedder:
        embedder.embed(TEXT)
    assert server.authorizations == [f"Bearer {KEY}"]
    assert OpenAIEmbedder.from_env(environ={}).model == "text-embedding-3-small"


@pytest.mark.parametrize("key", ["sk-ключ", "sk-a\nb"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(connect: Connect, key: str) -> None:
    with pytest.raises(EmbeddingError, match="check OPENAI_API_KEY") as caught:
        connect(api_key=key).embed(TEXT)
    assert key not in str(caught.value)


@pytest.mark.parametrize("options", [{"max_retries": -1}, {"batch_size": 0}, {"base_url": "localhost:80"}])
def test_impossible_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        OpenAIEmbedder(**options)


def test_the_error_for_the_absent_client_has_the_command_that_installs_it() -> None:
    code = (
        "import sys; sys.modules['httpx'] = None\n"
        "from weftwork.embed.openai import OpenAIEmbedder\nfrom weftwork.errors import MissingExtra\n"
        "try: OpenAIEmbedder().embed('x')\nexcept MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "httpx is not installed: run  pip install 'weftwork[openai]'"
