"""Liveness, readiness, metrics and the OpenAPI description."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import anyio
from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import HTTPConnection

from weftwork.server.http.access import AnyCaller, identify
from weftwork.server.http.openapi import describe
from weftwork.server.http.problems import Problem
from weftwork.server.http.schemas.values import Reply
from weftwork.server.http.service import Served, Service, service_of

router = APIRouter(tags=["operation"])


class Health(Reply):
    """The state of the server."""

    status: Literal["ok", "ready"]


FIGURES: dict[int | str, dict[str, Any]] = {
    200: {"description": "Figures.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}

_OWN_THREAD = anyio.CapacityLimiter(1)
"""Threads for readiness checks, which do not wait behind long answers."""


@router.get("/healthz", summary="Tell that the process answers")
async def check_health() -> Health:
    """The process answers; needs no key."""
    return Health(status="ok")


@router.get("/readyz", summary="Tell that requests can be answered")
async def check_readiness(served: Served) -> Health:
    """The store can be read, and the server is not about to stop; needs no key."""
    if served.jobs.stopping:
        raise Problem(503, "the server is about to stop", headers={"Retry-After": "5"})
    await anyio.to_thread.run_sync(served.weft.store.jobs.get, "", limiter=_OWN_THREAD)
    return Health(status="ready")


def may_measure(connection: HTTPConnection, service: Annotated[Service, Depends(service_of)]) -> None:
    """Let in whom the figures are for: everyone if so configured, else who has an admin key."""
    if not service.options.open_metrics and identify(connection, service).scope != "admin":
        raise Problem(403, "this needs a key with scope admin, or a server that was started with  --open-metrics")


@router.get("/metrics", dependencies=[Depends(may_measure)], response_class=Response, responses=FIGURES)
def read_metrics(served: Served) -> Response:
    """Figures for Prometheus; none is about a single user or workspace."""
    served.metrics.unfinished.set(served.jobs.unfinished)
    served.metrics.cached.set(len(served.weft.context_cache))
    return Response(served.metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})


@router.get("/openapi.json", include_in_schema=False)
def description(request: Request, _caller: AnyCaller) -> dict[str, object]:
    """The OpenAPI description of everything here."""
    return describe(request.app)
