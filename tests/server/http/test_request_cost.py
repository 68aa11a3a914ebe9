"""What a request costs beside what it asks for, in counts that no other program on the machine can change."""

import asyncio
import cProfile
import json

import pytest

from weftwork.server.http.app import make_app
from weftwork.server.http.options import Options

from .serving import key_for, open_studio

PATH = "/v1/workspaces/studio/context/build"
BODY = json.dumps({"query": "When does the mirror ship?", "budget": 500}).encode()
HOPS = "_report_result"
"""What anyio calls when a thread is done with what it was given."""


@pytest.fixture
def weft(tmp_path):
    with open_studio(tmp_path / "studio.weft") as opened:
        yield opened


async def ask(app, headers):
    """Ask for a context as a server does, without a connection; return the body of the answer."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message):
        sent.append(message)

    given = {"content-type": "application/json", "content-length": str(len(BODY)), **headers}
    await app(
        {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": PATH, "raw_path": PATH.encode(), "query_string": b"", "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 8000),
        },
        receive,
        send,
    )  # fmt: skip
    assert sent[0]["status"] == 200
    return sent[1]["body"]


def counted(weft, questions):
    """Calls by name on the event loop while the same question is asked again, and the answers."""
    app, headers = make_app(weft, Options()), key_for(weft)
    profile = cProfile.Profile()

    async def asking():
        async with app.router.lifespan_context(app):
            answers = [await ask(app, headers) for _ in range(3)]
            profile.enable()
            answers += [await ask(app, headers) for _ in range(questions)]
            profile.disable()
        return answers

    answers = asyncio.run(asking())
    calls = {}
    for entry in profile.getstats():
        name = entry.code if isinstance(entry.code, str) else entry.code.co_name
        calls[name] = calls.get(name, 0) + entry.callcount / questions
    return calls, answers


def test_a_cached_context_takes_two_turns_of_a_thread_and_few_calls(weft):
    calls, answers = counted(weft, 20)
    assert len(set(answers)) == 1
    assert calls[HOPS] == 2, "one to look the key up, one to answer"
    assert sum(calls.values()) <= 2_700


def test_a_cached_context_is_sent_as_the_same_bytes_and_not_written_again(weft):
    _, answers = counted(weft, 5)
    assert all(answer is answers[0] for answer in answers)
