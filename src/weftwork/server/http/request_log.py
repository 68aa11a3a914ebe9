"""Count, log and name requests, without what they say: no path, no query string, no key, no content."""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weftwork.server.http.logs import REQUEST_ID
from weftwork.server.http.metrics import Metrics
from weftwork.surface import set_surface

NOWHERE = "-"
"""The route of a request that met none."""
ID_HEADER = "X-Request-Id"
CALLER = "weftwork.caller"
"""The name under which a request's state holds its caller, once that is known."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")

log = logging.getLogger("weftwork.access")


class Observing:
    """Gives each request an id, counts it under its route's pattern, and logs one line for it."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, started = 500, time.perf_counter()

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[ID_HEADER] = REQUEST_ID.get()
            await send(message)

        REQUEST_ID.set(_id_of(Headers(scope=scope)))
        self._metrics.in_flight.inc()
        set_surface("mcp" if scope["path"].startswith("/mcp") else "http")
        try:
            await self.app(scope, receive, sending)
        finally:
            self._metrics.in_flight.dec()
            self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = route_of(scope)
        method = scope["method"] if scope["method"] in METHODS else NOWHERE
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        told = {
            "request": REQUEST_ID.get(),
            "client": address_of(scope),
            "key": getattr(scope.get(CALLER), "key", NOWHERE),
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        log.info("%s %s %s %s %s %d %.1f ms", *told.values(), extra={"told": told})


def _id_of(headers: Headers) -> str:
    """The id that a proxy or a client gave a request, where it is a plain one; else a new one."""
    given = headers.get(ID_HEADER, "")
    return given if _ID.fullmatch(given) else secrets.token_hex(8)


def address_of(scope: Scope) -> str:
    """The address that a request came from."""
    client = scope.get("client")
    return str(client[0]) if client else NOWHERE


def route_of(scope: Scope) -> str:
    """The pattern of the route that a request met, which names nobody's nodes."""
    route = scope.get("route")
    return str(getattr(route, "path", "")) or NOWHERE
