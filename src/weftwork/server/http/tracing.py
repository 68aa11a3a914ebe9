"""OpenTelemetry spans: one for each request, and below it one for the context that it had assembled and its stages.

Nothing of OpenTelemetry is imported unless spans are wanted. Names are those of the GenAI conventions. Spans say how
long something took and how much there was; what was asked and found only where the conventions' variable allows it.
"""

from __future__ import annotations

import json
import os
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
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The conventions' variable that lets spans hold what was asked and found."""
MEMORY_OPERATIONS = {
    ("POST", "memories"): "create_memory",
    ("POST", "memories-add"): "create_memory",
    ("POST", "memories-search"): "search_memory",
    ("POST", "memories-context"): "search_memory",
    ("PUT", "memories/{memory:path}"): "update_memory",
    ("DELETE", "memories/{memory:path}"): "delete_memory",
    ("POST", "memories-forget"): "delete_memory",
}
"""The GenAI conventions' names for what is done with memories."""
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
                operation = MEMORY_OPERATIONS.get((method, route.rpartition("{workspace}/")[2]))
                if operation is not None:
                    span.set_attribute("gen_ai.operation.name", operation)
                span.update_name(f"{method} {route}")


def _content(context: Context) -> dict[str, str]:
    """Question and sources as span attributes, where content is switched on."""
    found = [{"id": each.citation, "score": round(each.score, 4)} for each in context.excerpts]
    return {
        "gen_ai.data_source.id": context.workspace,
        "gen_ai.retrieval.query.text": context.query,
        "gen_ai.retrieval.documents": json.dumps(found),
    }


def trace_contexts(provider: Any) -> Callable[[Context, bool], None]:
    """A tracer that makes spans of the stages of each context, from the times that they took."""
    from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - an optional extra

    tracer = provider.get_tracer(NAME)
    captured = os.environ.get(CAPTURE, "").lower() in ("true", "1")

    def trace(context: Context, kept: bool) -> None:
        ended = time.time_ns()
        spent = {} if kept else {name: int(1e6 * took) for name, took in context.timings.items()}
        began = ended - sum(spent.values())
        whole = tracer.start_span("retrieval", start_time=began)
        whole.set_attributes({"gen_ai.operation.name": "retrieval", "gen_ai.provider.name": NAME})
        if captured:
            whole.set_attributes(_content(context))
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
