"""The state that the routes of one server share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from weftwork.engine import Weft
from weftwork.server.http.jobs import Jobs
from weftwork.server.http.key_uses import KeyUses
from weftwork.server.http.limits import Rates
from weftwork.server.http.metrics import Metrics
from weftwork.server.http.oauth.routes import OAuth
from weftwork.server.http.options import Options


@dataclass(frozen=True, slots=True)
class Service:
    """An engine, how it is served, and what is counted and worked on meanwhile."""

    weft: Weft
    options: Options
    jobs: Jobs
    metrics: Metrics
    rates: Rates
    key_uses: KeyUses
    oauth: OAuth | None = None
    """How tokens of OAuth are checked, where they are offered."""


async def service_of(connection: HTTPConnection) -> Service:
    """The service of the application that was asked; asynchronous, so that no thread is needed to tell it."""
    return cast("Service", connection.app.state.service)


Served = Annotated[Service, Depends(service_of)]
