"""HEAD and OPTIONS for every address, and a full `Allow` where a method is not taken."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MCP_PATH = "/mcp"
"""It is reached by more methods than it takes, so that each of them gets its own refusal."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Methods:
    """Answers HEAD as GET without its body, and OPTIONS with the methods that an address takes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and (allowed := _allowed(scope)):
            headers = [(b"allow", allowed.encode()), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body"})
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        bodiless = scope["method"] == "HEAD"

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 405 and scope["path"] != MCP_PATH:
                MutableHeaders(scope=message)["Allow"] = _allowed(scope)
            if bodiless and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        inner = {**scope, "method": "GET"} if bodiless else scope
        try:
            await self.app(inner, receive, sending)
        finally:
            if bodiless:  # what was found out about the request is for the log, too
                scope.update({name: value for name, value in inner.items() if name != "method"})


def _allowed(scope: Scope) -> str:
    """The methods that the address of a request takes; empty if there is nothing at it."""
    routes = scope["app"].router.routes
    taken = {
        method
        for method in METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    }
    return ", ".join(sorted(taken | ({"HEAD"} if "GET" in taken else set()) | {"OPTIONS"})) if taken else ""
