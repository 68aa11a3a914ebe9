"""The engine with an OpenAI-compatible provider, over HTTP to a server on this machine."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from weftwork import Weft
from weftwork.embed.hashing import HashingEmbedder
from weftwork.embed.openai import OpenAIEmbedder
from weftwork.faces.memory import CacheConfig, ContextEngine, ContextEngineConfig, Memories

KEY = "sk-secret-0123456789"
TRUE = HashingEmbedder(16)


class Handler(BaseHTTPRequestHandler):
    asked: list
    fault: dict

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body["input"])
        width = self.fault.get("width", 16)
        items = [{"index": n, "embedding": TRUE.embed(text).tolist()[:width]} for n, text in enumerate(body["input"])]
        reply = json.dumps({"data": items}).encode()
        self.send_response(self.fault.get("status", 200))
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """The class of its handler: what it was asked, and what is to go wrong."""
    handler: Any = type("Bound", (Handler,), {"asked": [], "fault": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        handler.url = f"http://127.0.0.1:{http.server_port}/v1"
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield handler
        http.shutdown()
        thread.join()


@pytest.fixture
def provider(server):
    with OpenAIEmbedder("tiny", api_key=KEY, base_url=server.url, dimensions=16, max_retries=0) as embedder:
        yield embedder


@pytest.fixture
def paid(tmp_path, provider):
    """An engine over a store with one memory, which takes its provider from the store."""
    with opened(tmp_path / "paid.weft", provider) as weft:
        Memories(weft).remember("green tea")
        yield ContextEngine(ContextEngineConfig(storage_client=weft))


def opened(path, provider):
    return Weft.open(path, embedder=provider)


def engine_of(weft, provider, **more):
    return ContextEngine(ContextEngineConfig(storage_client=weft, embedding_provider=provider, **more))


def test_memories_and_queries_are_embedded_over_http(tmp_path, provider, server, ask):
    with opened(tmp_path / "paid.weft", provider) as weft:
        for text in ("green tea", "a ship at sea"):
            Memories(weft).remember(text)
        assert server.asked == [["\ngreen tea"], ["\na ship at sea"]]  # each once
        found = ask(engine_of(weft, provider, expected_embedding_dimensions=16).search("ship", "main"))
        assert found[0].memory.content == "a ship at sea"


def test_a_query_is_paid_for_once_even_by_another_process(tmp_path, provider, server, ask):
    path = tmp_path / "paid.weft"
    for _ in range(2):
        with opened(path, provider) as weft:
            engine = engine_of(weft, provider, cache_config=CacheConfig(max_size=10, ttl=60))
            ask(engine.search("ship", "main"))
            ask(engine.build_context("ship", "main"))
    assert server.asked == [["ship"]]


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 401}, {"status": 429}, {"width": 7}])
def test_what_goes_wrong_there_is_an_embedding_error_and_no_empty_answer(paid, server, ask, fail, caplog, fault):
    server.fault.update(fault)
    for call in (paid.search, paid.build_context, paid.preview_context):
        error = fail(call("tea", "main"))
        assert error.type == "embedding_error"
        assert "127.0.0.1" not in str(error)
        assert KEY not in str(error) + caplog.text
    server.fault.clear()
    assert len(ask(paid.search("tea", "main"))) == 1
