"""What the routes of one server share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from weft.engine import Weft
from weft.server.http.jobs import Jobs
from weft.server.http.limits import Rates
from weft.server.http.metrics import Metrics
from weft.server.http.options import Options


@dataclass(frozen=True, slots=True)
class Service:
    """An engine, how it is served, and what is counted and worked on meanwhile."""

    weft: Weft
    options: Options
    jobs: Jobs
    metrics: Metrics
    rates: Rates


async def service_of(connection: HTTPConnection) -> Service:
    """The service of the application that was asked; asynchronous, so that no thread is needed to tell it."""
    return cast("Service", connection.app.state.service)


Served = Annotated[Service, Depends(service_of)]
