"""Prometheus metrics: durations and amounts, with no label that names a person or a workspace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from weftwork.types import Context

FIGURES = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder in which several processes share their figures."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10, 30)
AMOUNTS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
TOKENS = (0, 100, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000)
STAGES = {"collect": "search", "score": "scoring", "pack": "packing", "render": "rendering"}


class Metrics:
    """The figures of one server, apart from those of any other in this process."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.build = self._gauge("weftwork_build_info", "The version", "max", ["version"])
        self.build.labels(version("weftwork")).set(1)
        self.unfinished = self._gauge("weftwork_jobs_unfinished", "Jobs that wait or are worked on", "livesum")
        self.cached = self._gauge("weftwork_context_cache_entries", "Contexts that are kept", "livesum")
        self.requests = Counter(
            "weftwork_http_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self.request_seconds = Histogram(
            "weftwork_http_request_seconds", "Time to answer", ["route"], buckets=SECONDS, registry=self.registry
        )
        self.in_flight = self._gauge("weftwork_http_requests_in_flight", "Requests being answered", "livesum")
        self.assembly = Histogram(
            "weftwork_assembly_seconds", "Time to assemble a context", buckets=SECONDS, registry=self.registry
        )
        self.stage = Histogram(
            "weftwork_stage_seconds", "Time of each stage", ["stage"], buckets=SECONDS, registry=self.registry
        )
        self.retrieved = Histogram(
            "weftwork_items_retrieved", "Candidates found for a context", buckets=AMOUNTS, registry=self.registry
        )
        self.selected = Histogram(
            "weftwork_items_selected", "Items in a context", buckets=AMOUNTS, registry=self.registry
        )
        self.tokens = Histogram(
            "weftwork_context_tokens", "Tokens of a context", buckets=TOKENS, registry=self.registry
        )
        # The names that the thread contract gives them; for its route alone.
        self.thread_assembly = Histogram(
            "context_assembly_time", "Seconds to build a prime context", buckets=SECONDS, registry=self.registry
        )
        self.thread_tokens = self._gauge("context_token_usage", "Tokens of the latest prime context", "mostrecent")
        self.budget = Counter(
            "weftwork_context_budget_tokens", "Tokens that contexts could have", registry=self.registry
        )
        self.cache = Counter("weftwork_context_cache", "Contexts, kept or made", ["result"], registry=self.registry)
        self.jobs = Counter("weftwork_jobs", "Jobs that ended", ["state"], registry=self.registry)
        for result in ("hit", "miss"):
            self.cache.labels(result)
        for stage in STAGES.values():
            self.stage.labels(stage)

    def _gauge(
        self, name: str, about: str, mode: Literal["livesum", "max", "mostrecent"], labels: Sequence[str] = ()
    ) -> Gauge:
        """A gauge, and what it is of several processes."""
        return Gauge(name, about, labels, registry=self.registry, multiprocess_mode=mode)

    def observe(self, context: Context, kept: bool) -> None:
        """Count a context that was answered, and how long it took if it was not kept from before."""
        self.cache.labels("hit" if kept else "miss").inc()
        self.selected.observe(len(context.items))
        self.tokens.observe(context.tokens)
        self.budget.inc(context.budget)
        if kept:
            return
        self.retrieved.observe(len(context.trace))
        self.assembly.observe(sum(context.timings.values()) / 1000)
        for name, milliseconds in context.timings.items():
            self.stage.labels(STAGES.get(name, name)).observe(milliseconds / 1000)

    def observe_thread(self, milliseconds: float, tokens: int) -> None:
        """Count a prime context, kept or made, as the thread contract does."""
        self.thread_assembly.observe(milliseconds / 1000)
        self.thread_tokens.set(tokens)

    def text(self) -> bytes:
        """All figures in Prometheus's text format; those of all processes, where several serve together."""
        if FIGURES not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
