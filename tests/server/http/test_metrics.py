"""What a server counts, logs and traces: how much and how long, never what or who."""

import logging
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from weftwork.errors import MissingExtra
from weftwork.server.http.tracing import exporting_provider

from .serving import calling, key_for

SECRETS = ("ana", "ben", "studio", "mirror", "plan", "private", "Salary", "weftwork_")


def figures(text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_workspace_contracts_metrics_follow_what_is_assembled(weft):
    with calling(weft) as client:
        before = figures(client.get("/metrics").text)
        context = weft.context("When does the mirror ship?", user="ben", workspace="studio", budget=500)
        weft.context("When does the mirror ship?", user="ben", workspace="studio", budget=500)
        after = figures(client.get("/metrics").text)
    grown = {name: value - before.get(name, 0) for name, value in after.items()}
    assert grown["weftwork_assembly_seconds_count",] == 1
    assert grown["weftwork_assembly_seconds_sum",] == pytest.approx(sum(context.timings.values()) / 1000)
    assert grown["weftwork_items_retrieved_sum",] == len(context.trace)
    assert grown["weftwork_items_selected_sum",] == 2 * len(context.items) > 0
    assert grown["weftwork_context_tokens_sum",] == 2 * context.tokens
    assert grown["weftwork_context_budget_tokens_total",] == 1000
    assert grown["weftwork_context_cache_total", ("result", "hit")] == 1
    assert grown["weftwork_context_cache_total", ("result", "miss")] == 1
    stages = {
        stage: grown["weftwork_stage_seconds_count", ("stage", stage)] for stage in ("search", "scoring", "packing")
    }
    assert grown["weftwork_context_cache_entries",] == 1
    assert not [name for name, *_ in after if name.endswith("_created")]
    assert after["process_cpu_seconds_total",] > 0
    assert stages == {"search": 1, "scoring": 1, "packing": 1}


def test_requests_are_counted_by_the_pattern_of_their_route(weft):
    with calling(weft) as client:
        for _ in range(2):
            client.get("/healthz?secret=mirror")
        client.get("/private/mirror")
        client.request("BREW", "/healthz")
        found = figures(client.get("/metrics").text)
    name = "weftwork_http_requests_total"
    assert found[name, ("method", "GET"), ("route", "/healthz"), ("status", "200")] == 2
    assert found[name, ("method", "GET"), ("route", "-"), ("status", "404")] == 1
    assert found[name, ("method", "-"), ("route", "/healthz"), ("status", "405")] == 1
    assert found["weftwork_http_requests_in_flight",] == 1  # this one


def test_no_figure_names_anybody_or_anything(weft):
    with calling(weft) as client:
        client.get("/v1/workspaces/studio/nodes/private", params={"q": "Salary"})
        weft.context("Salary", user="ana", workspace="studio")
        text = client.get("/metrics").text
    assert not [word for word in SECRETS if word in text.replace("weftwork_", "") and word != "weftwork_"]


def test_the_figures_are_for_administrators_unless_they_are_open_to_all(weft):
    read, admin = key_for(weft), key_for(weft, scope="admin")
    with calling(weft) as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers=read).status_code == 403
        assert client.get("/metrics", headers=admin).status_code == 200
    with calling(weft, open_metrics=True) as client:
        assert client.get("/metrics").status_code == 200


def test_health_needs_no_key_and_tells_whether_the_store_can_be_read(weft):
    key_for(weft)
    with calling(weft) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json() == {"status": "ready"}
        client.app.state.service.jobs.stop_soon()
        assert client.get("/readyz").status_code == 503
        client.app.state.service.jobs.stopping = False
        weft.close()
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert "studio" not in answer.text
        assert client.get("/healthz").status_code == 200


def test_the_log_has_neither_content_nor_query_strings_nor_keys(weft, caplog):
    headers = key_for(weft, scope="write")
    token = headers["Authorization"].partition(" ")[2]
    with caplog.at_level(logging.DEBUG), calling(weft) as client:
        client.get("/v1/workspaces/studio/nodes/private?q=Salary", headers=headers)
        client.get(f"/openapi.json?key={token}")
        client.post("/mcp", headers=headers, content=b'{"Salary": "secret"}')
    logged = "\n".join(
        record.getMessage() for record in caplog.records if record.name.startswith(("weftwork", "uvicorn", "mcp"))
    )
    assert "GET /openapi.json 401" in logged
    assert "POST /mcp 4" in logged
    for word in (token, "Salary", "secret", "private", "?"):
        assert word not in logged


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(MissingExtra, match=r"weftwork\[otel\]"):
        exporting_provider()


def test_a_request_and_the_stages_of_its_context_are_spans(weft):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "weftwork_context", "arguments": {"query": "Salary of the mirror"}}}  # fmt: skip
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with calling(weft, tracer_provider=provider) as client:
        answer = client.post(
            "/mcp", json=call, headers={"Accept": "application/json, text/event-stream", "traceparent": parent}
        )
        assert answer.status_code == 200, answer.text
    spans = {span.name: span for span in exporter.get_finished_spans()}
    request, whole = spans["POST /mcp"], spans["retrieval"]
    assert f"{request.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{request.parent.span_id:016x}" == "b7ad6b7169203331"
    assert request.attributes["http.response.status_code"] == 200
    assert whole.context.trace_id == request.context.trace_id
    for stage in ("search", "scoring", "packing"):
        assert spans[stage].parent.span_id == whole.context.span_id
        assert whole.start_time <= spans[stage].start_time <= spans[stage].end_time <= whole.end_time
    assert whole.attributes["gen_ai.operation.name"] == "retrieval"
    told = str([(span.name, dict(span.attributes)) for span in spans.values()])
    assert not [word for word in ("Salary", "ana", "studio", "plan") if word in told]


def test_content_is_in_spans_only_where_it_is_switched_on_and_memories_are_named(weft, monkeypatch):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    place = "/v1/workspaces/studio"
    with calling(weft, tracer_provider=provider) as client:
        client.post(f"{place}/context/build", json={"query": "When does the mirror cell ship?"})
        kept = client.post(f"{place}/memories", json={"text": "Mirrors are heavy."}).json()
        client.post(f"{place}/memories-search", json={"query": "mirrors"})
        client.delete(f"{place}/memories/{kept['id']}")
    spans = exporter.get_finished_spans()
    (retrieval,) = [span for span in spans if span.name == "retrieval" and "ship" in str(dict(span.attributes))]
    assert retrieval.attributes["gen_ai.data_source.id"] == "studio"
    assert "score" in str(retrieval.attributes["gen_ai.retrieval.documents"])
    named = [span.attributes.get("gen_ai.operation.name") for span in spans if span.name != "retrieval"]
    assert [name for name in named if name] == ["create_memory", "search_memory", "delete_memory"]
