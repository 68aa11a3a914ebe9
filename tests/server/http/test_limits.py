"""How much, how often, from where: and what every answer carries."""

import socket
import threading
from contextlib import closing

import pytest
from fastapi import APIRouter, Request
from pydantic import BaseModel

from weftwork.errors import EmbeddingError, InvalidInput, NotFound, StoreError
from weftwork.server.http.app import make_app
from weftwork.server.http.limits import Rates
from weftwork.server.http.options import Limits, Options
from weftwork.server.http.problems import Problem

from .serving import STUDIO, calling, key_for, local_client, running

router = APIRouter()


class Body(BaseModel):
    text: str
    count: int = 0


@router.post("/test/echo")
def echo(body: Body) -> int:
    return len(body.text)


@router.post("/v1/workspaces/{workspace}/documents")
async def upload(workspace: str, request: Request) -> int:
    return len(await request.body())


@router.get("/test/fail/{kind}")
def fail(kind: str) -> None:
    kinds = {
        "invalid": InvalidInput("say it otherwise"),
        "absent": NotFound("there is none"),
        "store": StoreError("/srv/secret.weft is damaged"),
        "provider": EmbeddingError("https://key@provider failed"),
        "bug": ZeroDivisionError("the secret text"),
        "problem": Problem(409, "it is there already", more={"node": "a"}),
    }
    raise kinds[kind]


@pytest.fixture(scope="module")
def app(shared):
    limits = Limits(body_bytes=1000, upload_bytes=5000, requests_per_minute=0)
    app = make_app(shared, Options(local=STUDIO, limits=limits))
    app.router.routes[:0] = router.routes
    return app


def is_problem(answer, status):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert {"type", "title", "detail"} <= body.keys()
    return body


@pytest.mark.parametrize(
    ("kind", "status", "told"),
    [
        ("invalid", 400, "say it otherwise"),
        ("absent", 404, "there is none"),
        ("store", 503, None),
        ("provider", 502, None),
        ("bug", 500, None),
        ("problem", 409, "it is there already"),
    ],
)
def test_every_error_is_a_problem_and_tells_nothing_of_the_machine(app, kind, status, told, caplog):
    body = is_problem(local_client(app).get(f"/test/fail/{kind}"), status)
    if told is None:
        assert "secret" not in str(body)
        assert "provider" not in str(body)
        assert "request the-same-request failed with" in caplog.text
        assert "secret" not in caplog.text
    else:
        assert body["detail"] == told


def test_what_does_not_fit_is_named_by_its_place_and_not_repeated(app):
    body = is_problem(local_client(app).post("/test/echo", json={"text": ["the secret"], "count": "x"}), 422)
    assert [each["pointer"] for each in body["errors"]] == ["/text", "/count"]
    assert "secret" not in str(body)
    is_problem(local_client(app).post("/test/echo", content=b"{", headers={"content-type": "application/json"}), 422)


def test_unknown_paths_and_methods_are_problems(app):
    is_problem(local_client(app).get("/nothing"), 404)
    answer = local_client(app).delete("/healthz")
    is_problem(answer, 405)
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


def chunks(total, size=300):
    return (b"x" * min(size, total - start) for start in range(0, total, size))


def test_a_body_that_says_that_it_is_too_large_is_refused(app):
    is_problem(local_client(app).post("/test/echo", json={"text": "x" * 1000}), 413)
    assert local_client(app).post("/test/echo", json={"text": "x" * 900}).json() == 900


def test_a_body_that_does_not_say_how_large_it_is_is_refused_when_it_is(app):
    for path, most in (("/test/echo", 1000), ("/v1/workspaces/studio/documents", 15_000)):
        headers = {"content-type": "application/json"}
        is_problem(local_client(app).post(path, content=chunks(most + 1), headers=headers), 413)
    answer = local_client(app).post("/v1/workspaces/studio/documents", content=chunks(15_000))
    assert answer.json() == 15_000


def raw(url, text):
    """What a server answers to bytes that no client would send, until it closes."""
    host, _, port = url.removeprefix("http://").partition(":")
    with closing(socket.create_connection((host, int(port)), timeout=10)) as connection:
        connection.sendall(text.encode("latin-1"))
        found = b""
        while part := connection.recv(65536):
            found += part
        return found.decode("latin-1")


def test_over_a_socket_neither_chunks_nor_false_lengths_get_past_the_limit(app):
    part = "100\r\n" + "x" * 256 + "\r\n"
    start = "POST /test/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with running(app) as url:
        assert "413" in raw(url, start + "Transfer-Encoding: chunked\r\n\r\n" + part * 5).splitlines()[0]
        assert "413" in raw(url, start + f"Content-Length: {10**12}\r\n\r\n").splitlines()[0]
        for odd in ("-5", "1e3", "five"):
            assert " 4" in raw(url, start + f"Content-Length: {odd}\r\n\r\n").splitlines()[0]


def test_a_bucket_empties_and_fills_with_time():
    now = [0.0]
    rates = Rates(Limits(requests_per_minute=60, burst=3), clock=lambda: now[0])
    for _ in range(3):
        rates.take("a")
    with pytest.raises(Problem) as refused:
        rates.take("a")
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (429, "1")
    rates.take("b")
    now[0] = 1.0
    rates.take("a")
    with pytest.raises(Problem):
        rates.take("a")
    now[0] = 1000.0
    for _ in range(3):
        rates.take("a")
    with pytest.raises(Problem):
        rates.take("a")


def test_a_key_that_comes_too_often_waits_and_holds_up_no_other(weft):
    first, second = key_for(weft), key_for(weft, user="ben")
    with calling(weft, limits=Limits(requests_per_minute=1, burst=2)) as client:
        codes = [client.get("/openapi.json", headers=first).status_code for _ in range(3)]
        assert codes == [200, 200, 429]
        answer = client.get("/openapi.json", headers=first)
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
        is_problem(answer, 429)
        assert client.get("/openapi.json", headers=second).status_code == 200
        assert client.get("/healthz").status_code == 200


def test_threads_share_a_bucket_fairly():
    rates, taken = Rates(Limits(requests_per_minute=1, burst=50), clock=lambda: 0.0), []

    def take():
        for _ in range(20):
            try:
                rates.take("a")
            except Problem:
                continue
            taken.append(1)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 50


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "192.168.1.7", "[::1", "localhost.evil"]
)
def test_without_keys_a_foreign_name_for_this_machine_is_refused(app, host):
    is_problem(local_client(app).get("/healthz", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000"])
def test_without_keys_the_machines_own_names_are_answered(app, host):
    assert local_client(app).get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Origin": "http://127.0.0.1:8000"}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({}, 200),
    ],
)
def test_without_keys_pages_of_other_sites_are_refused(app, headers, status):
    assert local_client(app).get("/healthz", headers=headers).status_code == status


def test_no_site_is_allowed_unless_it_is_named(shared, keys):
    asked = {"Origin": "https://wiki.example", "Access-Control-Request-Method": "POST"}
    closed = make_app(shared, Options())
    assert "access-control-allow-origin" not in local_client(closed).get("/healthz", headers=asked).headers
    opened = make_app(shared, Options(cors=("https://wiki.example",)))
    answer = local_client(opened).options("/mcp", headers=asked)
    assert answer.headers["access-control-allow-origin"] == "https://wiki.example"
    assert "access-control-allow-credentials" not in answer.headers
    other = local_client(opened).get("/healthz", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("path", ["/healthz", "/nothing", "/test/fail/bug", "/openapi.json"])
def test_every_answer_carries_the_headers_and_stays_out_of_caches(app, path):
    headers = local_client(app).get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


def test_the_page_runs_its_own_scripts_and_nothing_else(app):
    headers = local_client(app).get("/").headers
    rules = dict(rule.strip().split(" ", 1) for rule in headers["content-security-policy"].split(";"))
    assert rules["default-src"] == "'none'"
    assert (rules["script-src"], rules["style-src"], rules["connect-src"]) == ("'self'", "'self'", "'self'")
    assert (rules["frame-ancestors"], rules["base-uri"], rules["form-action"]) == ("'none'", "'none'", "'none'")
    assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "9"])
def test_a_limit_is_a_positive_whole_number(value):
    with pytest.raises(InvalidInput, match="batch"):
        Limits(batch=value)


def test_a_limit_that_could_not_hold_is_refused():
    with pytest.raises(InvalidInput, match="batch can be at most 1,000"):
        Limits(batch=1001)
    assert Limits(batch=1000, body_bytes=10**9).batch == 1000


def test_a_search_may_ask_for_as_many_as_the_server_allows(shared, keys):
    with calling(shared, limits=Limits(results=150, requests_per_minute=0)) as client:
        codes = [
            client.post(
                "/v1/workspaces/studio/search", json={"query": "mirror", "limit": limit}, headers=keys["read"]
            ).status_code
            for limit in (150, 151)
        ]
    assert codes == [200, 422]
