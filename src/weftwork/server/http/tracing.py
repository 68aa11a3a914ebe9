"""OpenTelemetry spans: one for each request, and below it one for the context that it had assembled and its stages.

Nothing of OpenTelemetry is imported unless spans are wanted. Spans say how long something took and how much there was,
never what was asked, by whom or where.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weftwork.errors import MissingExtra
from weftwork.server.http.metrics import STAGES
from weftwork.server.http.request_log import METHODS, route_of
from weftwork.types import Context

NAME = "weftwork"
OTHER = "_OTHER"
"""The conventions' name for a method that they do not know."""


def exporting_provider() -> Any:
    """A provider that sends its spans where the variables OTEL_EXPORTER_OTLP_… say, under OTEL_SERVICE_NAME."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an optional extra
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtra("OpenTelemetry", "otel") from error
    provider = TracerProvider(resource=Resource.create({"service.name": NAME}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class Tracing:
    """A span around each request, below the caller's own if it sent one."""

    def __init__(self, app: ASGIApp, provider: Any) -> None:
        from opentelemetry.propagate import extract  # noqa: PLC0415 - an optional extra
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        self.app = app
        self._tracer = provider.get_tracer(NAME)
        self._extract = extract
        self._kind = SpanKind.SERVER

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else OTHER
        above = self._extract(dict(Headers(scope=scope)))
        with self._tracer.start_as_current_span(
            method, context=above, kind=self._kind, record_exception=False, set_status_on_exception=False
        ) as span:

            async def sending(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            span.set_attribute("http.request.method", method)
            try:
                await self.app(scope, receive, sending)
            finally:
                route = route_of(scope)
                span.set_attribute("http.route", route)
                span.update_name(f"{method} {route}")


def trace_contexts(provider: Any) -> Callable[[Context, bool], None]:
    """A tracer that makes spans of the stages of each context, from the times that they took."""
    from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - an optional extra

    tracer = provider.get_tracer(NAME)

    def trace(context: Context, kept: bool) -> None:
        ended = time.time_ns()
        spent = {} if kept else {name: int(1e6 * took) for name, took in context.timings.items()}
        began = ended - sum(spent.values())
        whole = tracer.start_span("assemble", start_time=began)
        whole.set_attribute("weftwork.cached", kept)
        whole.set_attribute("weftwork.items.retrieved", len(context.trace))
        whole.set_attribute("weftwork.items.selected", len(context.items))
        whole.set_attribute("weftwork.text.tokens", context.tokens)
        whole.set_attribute("weftwork.budget", context.budget)
        for name, nanoseconds in spent.items():
            stage = tracer.start_span(STAGES.get(name, name), set_span_in_context(whole), start_time=began)
            began += nanoseconds
            stage.end(end_time=began)
        whole.end(end_time=ended)

    return trace
