"""Errors as RFC 9457 problem details: every answer that is not a success has this shape."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weftwork.errors import (
    EmbeddingError,
    InvalidInput,
    MissingExtra,
    ModelError,
    NotFound,
    NotPermitted,
    StoreError,
    UnknownName,
    WeftError,
)
from weftwork.server.http.logs import REQUEST_ID, log_failure

MEDIA_TYPE = "application/problem+json"
STATUS: dict[type[WeftError], int] = {  # the first that fits
    NotPermitted: 403,
    InvalidInput: 400,
    NotFound: 404,
    MissingExtra: 501,
    EmbeddingError: 502,
    ModelError: 502,
    StoreError: 503,
}
KINDS = {
    400: ("invalid-input", "Something in the request cannot be answered. The detail names the value and the remedy."),
    401: ("key-needed", "Send a key that holds: `Authorization: Bearer weftwork_…`."),
    403: ("not-permitted", "The key does not allow this. Use one with the scope that the detail names."),
    404: ("not-found", "There is no such thing, or none that you may see: the two cannot be told apart."),
    405: ("method-not-allowed", "The header `Allow` names the methods of this address."),
    413: ("too-large", "The body is larger than the server takes. Send less at once."),
    421: ("another-name", "Without a key a server answers only as 127.0.0.1 or localhost."),
    422: ("does-not-fit", "The request does not fit its description. `errors` names the places, at most 20 of them."),
    429: ("too-many-requests", "Wait for as many seconds as `Retry-After` says."),
    500: ("server-error", "The server failed. Its log has the request id, with the place of the failure."),
    501: ("missing-extra", "The server lacks a part that has to be installed. The detail names it."),
    502: ("model-error", "The model that the server asks did not answer."),
    503: ("unavailable", "The server has too much to do, is about to stop, or cannot reach its store. Try again."),
}
"""The kinds of problems by their status, as /docs has them: a name, and what to do."""
MOST_ERRORS = 20
"""Places of one request that are named."""
HIDDEN = "the server could not answer: try again; its log says more"
TOLD = (InvalidInput, NotFound, MissingExtra)
"""Errors whose message is for the caller; those of the others may tell of the machine."""


class Problem(Exception):
    """An answer that is an error: a status, what is wrong and what to do, and more for programs."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = dict(more or {})

    def response(self) -> Response:
        """The answer."""
        body = {
            "type": address_of(self.status),
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **({"request": request} if (request := REQUEST_ID.get()) else {}),
            **self.more,
        }
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return Response(content, self.status, self.headers, MEDIA_TYPE)


def problem_of(error: Exception) -> Problem:
    """The problem that a caller is told for an error."""
    match error:
        case Problem():
            return error
        case RequestValidationError():
            return _unfit(error)
        case HTTPException():
            return Problem(error.status_code, _http_detail(error), headers=error.headers)
        case WeftError():
            status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 500)
            return Problem(status, str(error) if isinstance(error, TOLD) else HIDDEN, more=_more(error))
    return Problem(500, HIDDEN)


def _more(error: WeftError) -> dict[str, Any]:
    """Extra members with which a client raises the same error."""
    if isinstance(error, UnknownName):
        return {"unknown": error.kind, "name": error.name, "available": list(error.available)}
    return {"code": "embedding_error"} if isinstance(error, EmbeddingError) else {}


def address_of(status: int) -> str:
    """The address of the documentation of a kind of problem, on the server that answers."""
    return f"/docs#{KINDS[status][0]}" if status in KINDS else "about:blank"


def add_problems(app: FastAPI) -> None:
    """Have the application answer all errors as problems."""
    for kind in (Problem, RequestValidationError, HTTPException, WeftError):
        app.add_exception_handler(kind, _answer)
    app.add_middleware(Unexpected)


async def _answer(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.status >= 500 and problem is not error:
        log_failure(error)
    return problem.response()


class Unexpected:
    """Answers what nothing else caught, as far as nothing was answered yet."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, sending)
        except Exception as error:
            if scope["type"] != "http":
                raise
            problem = problem_of(error)
            if problem.status >= 500 and problem is not error:
                log_failure(error)
            if not started:
                await problem.response()(scope, receive, send)


def _http_detail(error: HTTPException) -> str:
    known = {404: "there is nothing at this address", 405: "this address does not take that method"}
    return known.get(error.status_code, str(error.detail))


def _unfit(error: RequestValidationError) -> Problem:
    """The first places where a request does not fit, and how many there are."""
    errors = cast("list[dict[str, Any]]", error.errors())
    told = [_place(each, error.body) for each in errors[:MOST_ERRORS]]
    rest = f", {MOST_ERRORS} of {len(errors):,}" if len(errors) > MOST_ERRORS else ""
    return Problem(422, f"the request does not fit its description: see errors{rest}", more={"errors": told})


def _place(error: dict[str, Any], body: Any) -> dict[str, str]:
    """The place and the message of an error; not the value, which the caller knows and a log should not."""
    place, *path = error["loc"]
    if error["type"] == "json_invalid":
        where = f" at character {path[0]}" if path else ""
        return {"in": "body", "pointer": "", "detail": f"not JSON{where}: {error['ctx']['error']}"}
    whole = place != "body" or body is None
    parts = tuple(path) if whole else tuple(_in_body(path, body, missing=error["type"] == "missing"))
    return {"in": str(place), "pointer": _pointer(parts), "detail": str(error["msg"]).removeprefix("Value error, ")}


def _in_body(path: list[int | str], body: Any, *, missing: bool) -> Iterator[int | str]:
    """The parts of a path that lead through the body: between them stand the alternatives that were tried."""
    for number, part in enumerate(path, 1):
        inside = body if isinstance(body, dict) else dict(enumerate(body)) if isinstance(body, list) else {}
        if part in inside:
            body = inside[part]
        elif not (missing and number == len(path)):
            continue
        yield part


def _pointer(parts: tuple[Any, ...]) -> str:
    """A JSON pointer, RFC 6901."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)
