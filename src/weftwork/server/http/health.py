"""Liveness, readiness, metrics and the OpenAPI description."""

from __future__ import annotations

from typing import Annotated

import anyio
from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import HTTPConnection

from weftwork.server.http.access import AnyCaller, identify
from weftwork.server.http.openapi import describe
from weftwork.server.http.problems import Problem
from weftwork.server.http.service import Served, Service, service_of

router = APIRouter(tags=["operation"])

_OWN_THREAD = anyio.CapacityLimiter(1)
"""Threads for readiness checks, which do not wait behind long answers."""


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers; needs no key."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(served: Served) -> dict[str, str]:
    """The store can be read, and the server is not about to stop; needs no key."""
    if served.jobs.stopping:
        raise Problem(503, "the server is about to stop", headers={"Retry-After": "5"})
    await anyio.to_thread.run_sync(served.weft.store.jobs.get, "", limiter=_OWN_THREAD)
    return {"status": "ready"}


def may_measure(connection: HTTPConnection, service: Annotated[Service, Depends(service_of)]) -> None:
    """Let in whom the figures are for: everyone if so configured, else who has an admin key."""
    if not service.options.open_metrics and identify(connection, service).scope != "admin":
        raise Problem(403, "this needs a key with scope admin, or a server that was started with  --open-metrics")


@router.get("/metrics", dependencies=[Depends(may_measure)], response_class=Response)
def metrics(served: Served) -> Response:
    """Figures for Prometheus; none is about a single user or workspace."""
    return Response(served.metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})


@router.get("/openapi.json", include_in_schema=False)
def description(request: Request, _caller: AnyCaller) -> dict[str, object]:
    """The OpenAPI description of everything here."""
    return describe(request.app)
