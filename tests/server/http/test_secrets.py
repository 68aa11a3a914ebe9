"""No key and no text gets into a log, into an error, or into what is stored beside the nodes, on whichever path."""

import io
import logging
import sqlite3
from contextlib import closing, suppress

import pytest
from starlette.testclient import TestClient

from weftwork.server.http.app import make_app
from weftwork.server.http.logs import Discreet, JsonLines
from weftwork.server.http.options import Limits, Options

from .serving import LOCAL_URL, STUDIO, key_for

STORED, SAID = "earns a secret sum", "zanzibar77"
"""What a stored node says, and what each request says in every place."""
STREAMS = ("/events",)
BESIDE = ("audit", "keys", "given", "commits", "changes", "marks")
"""Tables without content; receipts have the question that was asked, jobs the name of a file."""


@pytest.fixture
def logged(monkeypatch):
    """What all loggers write, in both forms."""
    stream, root = io.StringIO(), logging.getLogger()
    handlers = []
    for form in (Discreet("%(asctime)s %(levelname)s %(name)s: %(message)s"), JsonLines("%(message)s")):
        handlers.append(logging.StreamHandler(stream))
        handlers[-1].setFormatter(form)
        root.addHandler(handlers[-1])
    level = root.level
    monkeypatch.setattr(logging.getLogger("httpx"), "disabled", True)  # the test's own client
    monkeypatch.setattr(logging.getLogger("httpx2"), "disabled", True)
    root.setLevel(logging.INFO)
    yield stream
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


def requests(app):
    """A few requests to every route: that say something, that say it in a wrong way, and that are no JSON."""
    value = {name: SAID for name in ("query", "text", "title", "message", "node", "thread", "answer", "name", "user")}
    wrong = {name: [{SAID: SAID}] for name in (*value, "nodes", "budget", "ids")}
    nodes = {"nodes": [{"id": SAID, "text": SAID}], "ids": [SAID], "messages": [{"role": SAID, "text": SAID}]}
    for number, (path, methods) in enumerate(app.openapi()["paths"].items()):
        if path.endswith(STREAMS):
            continue
        for method in methods:
            place = path.replace("{workspace}", SAID if method == "delete" else "studio")
            found = SAID if method == "delete" or number % 2 else "plan"
            while "{" in place:
                place = place[: place.index("{")] + found + place[place.index("}") + 1 :]
            yield method, f"{place}?query={SAID}&{SAID}={SAID}&limit={SAID}", {}
            if method != "get":
                yield from ((method, place, {"json": body}) for body in (value | nodes, wrong))
                yield method, place, {"content": SAID.encode(), "headers": {"content-type": "application/json"}}


def test_no_log_and_no_error_holds_a_key_or_what_anybody_wrote(weft, logged, monkeypatch):
    headers = [key_for(weft, scope=scope) for scope in ("read", "admin")] + [key_for(weft, user="ben")]
    tokens = [each["Authorization"].removeprefix("Bearer ") for each in headers]
    unknown = {"Authorization": f"Bearer {tokens[0][:-4]}zzzz", "X-Request-Id": SAID + "!" * 9}
    app = make_app(weft, Options(local=STUDIO, limits=Limits(requests_per_minute=0)))
    client = TestClient(app, base_url=LOCAL_URL, raise_server_exceptions=False)
    everything = list(requests(app))
    statuses = set()

    def send(method, url, more, head):
        more = {**more, "headers": {**more.get("headers", {}), **head}}
        answer = client.request(method, url, **more)
        statuses.add(answer.status_code)
        assert not any(token in answer.text for token in tokens)
        if answer.status_code >= 400 and head is headers[2]:
            assert STORED not in answer.text  # Ben may not see it

    for number, (method, url, more) in enumerate(everything):
        send(method, url, more, headers[number % 2 + 1])
        if number % 9 == 0:
            send(method, url, more, unknown)
    assert {200, 401, 403, 404, 422} <= statuses

    def fail(*_, **__):
        raise RuntimeError(f"{SAID} {STORED} {tokens[0]}")

    monkeypatch.setattr(weft.store, "view", fail)
    monkeypatch.setattr(weft.store, "atomic", fail)
    for method, url, more in everything[::7]:
        send(method, url, more, headers[1])
    assert 500 in statuses
    monkeypatch.undo()

    text = logged.getvalue()
    assert "RuntimeError" in text
    assert not [line for line in text.splitlines() for secret in (STORED, SAID, *tokens) if secret in line]

    weft.receipts.write_pending()
    with closing(sqlite3.connect(weft.store.path)) as connection:
        rows = {table: repr(connection.execute(f"SELECT * FROM {table}").fetchall()) for table in (*BESIDE, "receipts")}
    assert "rec-" in rows["receipts"]
    for table, text in rows.items():
        assert STORED not in text, table
        assert not any(token in text for token in tokens), table
    with suppress(KeyError):
        del rows["receipts"], rows["changes"]
    assert [table for table, text in rows.items() if f"{SAID} " in text] == []
