"""The proxy as an application: requests go on as they came, with sources where there are some."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from weftwork.asynchronous import AsyncWeft
from weftwork.engine import Weft
from weftwork.errors import MissingExtra, WeftError
from weftwork.server.http.headers import LocalGuard
from weftwork.server.proxy.answers import AnswerReader
from weftwork.server.proxy.bodies import FORMATS, Body
from weftwork.server.proxy.conversations import Conversation, Conversations
from weftwork.surface import set_surface

try:
    import httpx
except ModuleNotFoundError as error:
    raise MissingExtra("The proxy", "proxy") from error

INJECT_HEADER = "weftwork-inject"
THREAD_HEADER = "weftwork-thread"
RECEIPT_HEADER = "Weftwork-Receipt"
WARNING_HEADER = "Weftwork-Warning"
OFF = frozenset({"off", "0", "no", "false"})
OWN = frozenset({INJECT_HEADER, THREAD_HEADER})
HOP_BY_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade host"
    " content-length accept-encoding".split()
)
TIMEOUT_SECONDS = 600.0

log = logging.getLogger("weftwork.proxy")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """Where requests go on to, and for whom."""

    upstream: str
    """The address of the other endpoint, such as https://api.openai.com/v1."""
    user: str
    workspace: str
    budget: int | None = None
    key: str | None = None
    """The key of the other endpoint, for programs that send none."""


def make_proxy(weft: Weft, options: ProxyOptions) -> Starlette:
    """The proxy as an ASGI application, for programs of this machine."""
    proxy = _Proxy(AsyncWeft(weft), options)
    route = Route("/v1/{path:path}", proxy.answer, methods=["GET", "POST", "DELETE"])
    return Starlette(routes=[route], middleware=[Middleware(LocalGuard, cors=())], lifespan=proxy.lifespan)


class _Proxy:
    def __init__(self, weft: AsyncWeft, options: ProxyOptions) -> None:
        self._options = options
        self._conversations = Conversations(weft, user=options.user, workspace=options.workspace, budget=options.budget)
        self._client = httpx.AsyncClient(timeout=httpx.Timeout(TIMEOUT_SECONDS, connect=10.0), follow_redirects=False)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Close the connections at the end."""
        try:
            yield
        finally:
            await self._client.aclose()

    async def answer(self, request: Request) -> Response:
        """The answer of the other endpoint, as it is."""
        set_surface("proxy")
        content = await request.body()
        told: dict[str, str] = {}
        conversation = None
        body = self._body(request, content)
        if body is not None:
            try:
                conversation = await self._conversations.next(body, request.headers.get(THREAD_HEADER))
            except WeftError as error:
                # The program gets its answer all the same: what the workspace knows is an addition.
                log.warning("nothing was added", exc_info=error)
                told[WARNING_HEADER] = str(error).encode("ascii", "replace").decode()[:300].replace("\n", " ")
        if conversation is not None and body is not None:
            content = body.with_sources(conversation.head, conversation.prefixes)
            told |= {RECEIPT_HEADER: conversation.receipt} if conversation.receipt else {}
        return await self._passed_on(request, content, conversation, told)

    def _body(self, request: Request, content: bytes) -> Body | None:
        """The body of a request to which something may be added."""
        form = FORMATS.get(request.path_params["path"])
        if form is None or request.method != "POST" or request.headers.get(INJECT_HEADER, "").lower() in OFF:
            return None
        try:
            parsed = json.loads(content)
        except ValueError:
            return None  # the other endpoint says what is wrong with it
        return Body(form, parsed) if isinstance(parsed, dict) else None

    async def _passed_on(
        self, request: Request, content: bytes, conversation: Conversation | None, told: dict[str, str]
    ) -> Response:
        headers = [(name, value) for name, value in request.headers.items() if name not in HOP_BY_HOP | OWN]
        if self._options.key is not None and "authorization" not in request.headers:
            headers.append(("authorization", f"Bearer {self._options.key}"))
        target = f"{self._options.upstream.rstrip('/')}/{request.path_params['path']}"
        asked = self._client.build_request(
            request.method,
            target,
            params=str(request.query_params),
            content=content,
            headers=[*headers, ("accept-encoding", "identity")],
        )
        try:
            answer = await self._client.send(asked, stream=True)
        except httpx.HTTPError as error:
            message = f"{httpx.URL(self._options.upstream).host} does not answer ({type(error).__name__})"
            return JSONResponse({"error": {"message": message, "type": "upstream_unreachable"}}, 502, told)
        kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP}
        return StreamingResponse(self._copied(answer, conversation), answer.status_code, kept | told)

    async def _copied(self, answer: Any, conversation: Conversation | None) -> AsyncIterator[bytes]:
        reader = AnswerReader(answer.headers.get("content-type", ""))
        try:
            async for chunk in answer.aiter_raw():
                reader.feed(chunk)
                yield chunk
        finally:
            await answer.aclose()
        if conversation is not None and answer.is_success:
            try:
                await self._conversations.answered(conversation, *reader.read())
            except WeftError as error:
                log.warning("an answer was not stored", exc_info=error)
