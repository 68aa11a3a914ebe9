"""The application: what a request goes through, from the outside in, and the routes at the end of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import anyio
from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.cors import CORSMiddleware

from weftwork.engine import Weft
from weftwork.errors import StoreError
from weftwork.server.http import health
from weftwork.server.http.access import USER_HEADER, WORKSPACE_HEADER, KeyFirst
from weftwork.server.http.audit import Auditing
from weftwork.server.http.docs_page import docs_page
from weftwork.server.http.fairness import FairShare
from weftwork.server.http.headers import LocalGuard, SecurityHeaders
from weftwork.server.http.jobs import Jobs
from weftwork.server.http.key_uses import WRITE_SECONDS, KeyUses
from weftwork.server.http.limits import BodyLimit, Buckets, Rates
from weftwork.server.http.logs import log_failure
from weftwork.server.http.mcp import mcp_route
from weftwork.server.http.methods import Methods
from weftwork.server.http.metrics import Metrics
from weftwork.server.http.oauth.routes import OAuth
from weftwork.server.http.openapi import describe, operation_id
from weftwork.server.http.options import Options
from weftwork.server.http.problems import add_problems
from weftwork.server.http.request_log import Observing
from weftwork.server.http.routes import ROUTERS
from weftwork.server.http.service import Service
from weftwork.server.http.tracing import Tracing, trace_contexts
from weftwork.types import Context

RECEIPT_SECONDS = 1.0
"""Time after which the receipt of a context is written at the latest."""
DESCRIPTION = """\
The context that a question needs: permitted, scored, packed to an exact token budget, cited and explained.

Every route but `/healthz` and `/readyz` needs a key as `Authorization: Bearer weftwork_…`; it decides the user and the
workspaces. Errors are problem details as RFC 9457 has them."""


def make_app(weft: Weft, options: Options | None = None, buckets: Buckets | None = None) -> FastAPI:
    """Weftwork as an ASGI application; the engine stays the caller's to close, after the application has shut down."""
    chosen = options or Options()
    metrics = Metrics()
    jobs = Jobs(weft, chosen, on_end=lambda state: metrics.jobs.labels(state).inc())
    app = FastAPI(
        title="Weftwork",
        version=version("weftwork"),
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        generate_unique_id_function=operation_id,
    )
    oauth = None if chosen.oauth is None else OAuth.of(weft, chosen.oauth)
    service = app.state.service = Service(weft, chosen, jobs, metrics, Rates(chosen.limits, buckets), KeyUses(), oauth)
    app.router.routes.extend((mcp_route(service), *(() if oauth is None else oauth.routes())))
    # Its files before the routes, each of which a request would be compared with: the page asks for thirty of them.
    _serve_page(app, Path(str(files("weftwork.server"))) / "web")
    for router in (health.router, *ROUTERS):
        app.include_router(router)
    _wrap(app, chosen, metrics)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    anyio.to_thread.current_default_thread_limiter().total_tokens = service.options.threads
    service.weft.context_cache.watch = _watching(service)
    service.weft.receipts.delay = RECEIPT_SECONDS
    await anyio.to_thread.run_sync(service.jobs.start)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_write_key_uses, service)
            yield
            group.cancel_scope.cancel()
    finally:
        await anyio.to_thread.run_sync(service.key_uses.write, service.weft.store)
        service.weft.receipts.delay = None
        await anyio.to_thread.run_sync(service.weft.receipts.write_pending)
        await anyio.to_thread.run_sync(service.jobs.stop)


async def _write_key_uses(service: Service) -> None:
    while True:
        await anyio.sleep(WRITE_SECONDS)
        try:
            await anyio.to_thread.run_sync(service.key_uses.write, service.weft.store)
        except StoreError as error:  # the next time will do
            log_failure(error)


def _watching(service: Service) -> Callable[[Context, bool], None]:
    """Tell of each context to what counts and to what traces."""
    provider = service.options.tracer_provider
    traces = None if provider is None else trace_contexts(provider)

    def watch(context: Context, kept: bool) -> None:
        service.metrics.observe(context, kept)
        if traces is not None:
            traces(context, kept)

    return watch


def _wrap(app: FastAPI, options: Options, metrics: Metrics) -> None:
    """Put the layers around the routes: the last one added is the first one that a request meets."""
    app.add_middleware(Auditing)
    app.add_middleware(BodyLimit, limits=options.limits)
    app.add_middleware(FairShare, threads=options.threads)
    app.add_middleware(KeyFirst)
    add_problems(app)
    app.add_middleware(Methods)
    if options.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(options.cors),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", USER_HEADER, WORKSPACE_HEADER],
            expose_headers=["Retry-After"],
            max_age=600,
        )
    if options.local is not None:
        app.add_middleware(LocalGuard, cors=options.cors)
    app.add_middleware(SecurityHeaders)
    if options.tracer_provider is not None:
        app.add_middleware(Tracing, provider=options.tracer_provider)
    app.add_middleware(Observing, metrics=metrics)


def _serve_page(app: FastAPI, folder: Path) -> None:
    """The inspector: a page without any data, which asks for a key itself."""
    if not (folder / "index.html").is_file():
        return

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(folder / "index.html")

    @app.get("/docs", include_in_schema=False)
    def documentation() -> HTMLResponse:
        return HTMLResponse(docs_page(describe(app)))

    app.mount("/assets", StaticFiles(directory=folder))
