"""Nothing of a body is read before its key is known, and a key is asked for once."""

import asyncio

import pytest

from weftwork.server.http.app import make_app
from weftwork.server.http.options import Limits, Options

from .serving import calling, key_for

STUDIO = "/v1/workspaces/studio"


def answered(app, path, headers, body=b""):
    """The status of an answer, and how often the body was asked for."""
    asked, told = [], []

    async def receive():
        asked.append(1)
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        told.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return told[0]["status"], len(asked)


@pytest.mark.parametrize("sent", [{"Content-Length": "90000000"}, {"Transfer-Encoding": "chunked"}])
@pytest.mark.parametrize("path", [f"{STUDIO}/documents", f"{STUDIO}/search", "/context/build", "/mcp"])
def test_a_body_is_not_read_for_whoever_has_no_key(shared, keys, path, sent):
    app = make_app(shared, Options())
    form = {"Content-Type": "multipart/form-data; boundary=x", **sent}
    assert answered(app, path, form) == (401, 0)
    assert answered(app, path, form | {"Authorization": "Bearer weftwork_" + "x" * 43}) == (401, 0)


def test_what_is_broken_is_told_to_those_with_a_key(shared, keys):
    app = make_app(shared, Options())
    sent = {"Content-Type": "application/json", "Content-Length": "4"}
    assert answered(app, f"{STUDIO}/search", sent, b"{bad") == (401, 0)
    assert answered(app, f"{STUDIO}/search", sent | keys["read"], b"{bad") == (422, 1)


def test_a_request_with_a_body_counts_once(weft):
    key = key_for(weft)
    with calling(weft, limits=Limits(requests_per_minute=1, burst=2)) as client:
        codes = [client.post(f"{STUDIO}/search", json={"query": "x"}, headers=key).status_code for _ in range(3)]
    assert codes == [200, 200, 429]
