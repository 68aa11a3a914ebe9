"""Errors as RFC 9457 problem details: every answer that is not a success has this shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from weftwork.server.http.logs import log_failure

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
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
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
            return Problem(422, "the request does not fit its description: see errors", more={"errors": _errors(error)})
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


def add_problems(app: FastAPI) -> None:
    """Have the application answer all errors as problems."""
    for kind in (Problem, RequestValidationError, HTTPException, WeftError):
        app.add_exception_handler(kind, _answer)
    app.add_middleware(Unexpected)


async def _answer(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.status >= 500:
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
            if problem.status >= 500:
                log_failure(error)
            if not started:
                await problem.response()(scope, receive, send)


def _http_detail(error: HTTPException) -> str:
    known = {404: "there is nothing at this address", 405: "this address does not take that method"}
    return known.get(error.status_code, str(error.detail))


def _errors(error: RequestValidationError) -> list[dict[str, str]]:
    """The place and the message of an error; not the value, which the caller knows and a log should not."""
    return [
        {"in": str(each["loc"][0]), "pointer": _pointer(each["loc"][1:]), "detail": str(each["msg"])}
        for each in cast("list[dict[str, Any]]", error.errors())
    ]


def _pointer(parts: tuple[Any, ...]) -> str:
    """A JSON pointer, RFC 6901."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)
