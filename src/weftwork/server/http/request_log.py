"""Counting and logging requests, without what they say: no path, no query string, no key, no content."""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weftwork.server.http.metrics import Metrics
from weftwork.surface import set_surface

NOWHERE = "-"
"""The route of a request that met none."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

log = logging.getLogger("weftwork.access")


class Observing:
    """Counts each request under its route's pattern, and logs one line for it."""

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
            await send(message)

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
        log.info("%s %s %d %.1f ms", method, route, status, seconds * 1000)


def route_of(scope: Scope) -> str:
    """The pattern of the route that a request met, which names nobody's nodes."""
    route = scope.get("route")
    return str(getattr(route, "path", "")) or NOWHERE
