"""Answers: values as JSON, and events as they happen."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from typing import Any

import anyio
from fastapi import Response
from fastapi.responses import StreamingResponse

from weftwork.server.http.logs import log_failure
from weftwork.server.http.problems import Problem, problem_of
from weftwork.wire import encode

_EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {"event": {"type": "string"}, "data": {"type": "string", "contentMediaType": "application/json"}},
}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": _EVENT}}}
}
"""The OpenAPI response of a route that answers with events."""

Event = tuple[str, Any]
_END: Any = object()


def reply(value: Any, status: int = 200, **headers: str) -> Response:
    """A value as JSON."""
    return Response(written(value), status, headers, "application/json")


def written(value: Any) -> bytes:
    """A value as the bytes of its JSON."""
    return json.dumps(encode(value), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


class EventStream(StreamingResponse):
    """Events as they come; when the client goes away, what makes them is closed."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[Event]) -> None:
        super().__init__(_written(events), headers={"X-Accel-Buffering": "no"})


async def in_threads(events: Generator[Event, None, None]) -> AsyncGenerator[Event, None]:
    """The events of a generator that blocks, each made in a worker thread; it is closed whatever happens."""
    try:
        while (event := await anyio.to_thread.run_sync(next, events, _END)) is not _END:
            yield event
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(events.close)


async def _written(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    """Events in their form on the wire; an error ends them as the event `error`."""
    try:
        async for name, value in events:
            yield _line(name, encode(value))
    except Exception as error:
        # The status was sent before: this is the outermost place that can still tell the client.
        problem = problem_of(error)
        if problem.status >= 500:
            log_failure(error)
        yield _line("error", _told(problem))
    finally:
        if isinstance(events, AsyncGenerator):
            with anyio.CancelScope(shield=True):
                await events.aclose()


def _line(name: str, value: Any) -> bytes:
    """JSON has no line breaks of its own, so one line of data will do; without a name it is a comment."""
    if not name:
        return b": waiting\n\n"
    data = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return f"event: {name}\ndata: {data}\n\n".encode("utf-8", "replace")


def _told(problem: Problem) -> dict[str, Any]:
    return json.loads(bytes(problem.response().body))  # type: ignore[no-any-return]
