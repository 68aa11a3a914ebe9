"""The Model Context Protocol over HTTP: the same tools as on standard input and output, for the holder of a key.

Each request stands for itself: the server that answers it is made for its caller and ends with it. There is no session
that a second key could get hold of, and a client goes on where it was when the server is started again.
"""

from __future__ import annotations

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from weftwork.server.http.access import home_of, identify
from weftwork.server.http.problems import Problem
from weftwork.server.http.service import Service
from weftwork.server.mcp import make_server
from weftwork.server.tools import Reach

PATH = "/mcp"


class McpEndpoint:
    """Answers one request after the other, each for whom its key is."""

    def __init__(self, service: Service) -> None:
        self.path = PATH
        self._service = service
        self._threads = anyio.CapacityLimiter(service.options.threads)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["route"] = self  # as the framework notes its own routes, for what counts and logs
        manager = await anyio.to_thread.run_sync(self._manager, Request(scope))
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    def _manager(self, request: Request) -> StreamableHTTPSessionManager:
        """The MCP server that answers for the caller. Blocks."""
        service = self._service
        caller = identify(request, service)
        if request.method != "POST":
            raise Problem(405, "there is nothing to listen to here: send a request", headers={"Allow": "POST"})
        limits = service.options.limits
        server = make_server(
            service.weft,
            workspace=home_of(caller, "read"),
            user=caller.user,
            max_output_tokens=service.options.max_output_tokens,
            reach=Reach(
                caller.workspaces,
                writes=caller.scope != "read",
                query_characters=limits.query_characters,
                depth=limits.depth,
                changed=lambda workspace, tool: caller.note(workspace, action=tool),
            ),
            threads=self._threads,
        )
        return StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=limits.body_bytes
        )


def mcp_route(service: Service) -> Route:
    """The route of the protocol."""
    return Route(PATH, endpoint=McpEndpoint(service), methods=["GET", "POST", "DELETE"])
