"""Documents: handed in, indexed while nobody waits, and shown page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import quote

import anyio
from fastapi import APIRouter, File, Form, Path, Response, UploadFile
from fastapi.responses import StreamingResponse
from pydantic import Field

from weftwork.errors import NotFound
from weftwork.ingest.documents.libreoffice import DRAWN, NO_PICTURES
from weftwork.server.http.access import Caller, Reader, Served, Writer
from weftwork.server.http.authorised_writes import NODE
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.replies import EVENTS, Event, EventStream, reply
from weftwork.server.http.routes.nodes import Listed, NodeName, listed
from weftwork.server.http.schemas.faces import DocumentList, JobList, JobOut
from weftwork.server.http.schemas.values import LONGEST_NAME
from weftwork.server.http.service import Service
from weftwork.server.overview import opened_types
from weftwork.store.server_state import UNFINISHED, Job
from weftwork.types import MEMORY, PAGE, Filters

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["documents"], route_class=MeteredRoute)

CHUNK = 1 << 20
MOST_MEMORIES = 1000
"""Memories that are looked for among notes."""
SECONDS_BETWEEN_LOOKS = 0.2
LOOKS_BETWEEN_SIGNS = 75
"""A sign of life every 15 seconds, so that nothing between takes the connection for dead."""
TOLD = ("name", "node", "bytes", "done", "expected", "read", "changed", "notes", "why")
PICTURES = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}
"""First bytes of pictures; anything else is never sent, whatever a field of a node says."""
IMAGE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A picture.",
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in PICTURES.values()},
    }
}
JobName = Annotated[str, Path(max_length=100, description="The id of a job.")]


@router.post("/documents", response_model=JobOut, status_code=202, summary="Upload a document")
def upload_document(
    workspace: str,
    caller: Writer,
    served: Served,
    file: Annotated[UploadFile, File(description="PDF, DOCX, PPTX, XLSX, HTML, EPUB, a picture, or text.")],
    access: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]],
        Form(description="Who may see it beside oneself; whom the workspace admits, if nothing is said."),
    ] = [],  # noqa: B006  (FastAPI copies it)
) -> Response:
    """Hand in a document, to be read page by page; the answer is a job to be watched.

    A document of the same name replaces one's earlier one.
    """
    with served.jobs.folder.arriving() as incoming:
        while chunk := file.file.read(CHUNK):
            incoming.write(chunk)
        job = served.jobs.submit(
            incoming,
            workspace=workspace,
            user=caller.user,
            name=file.filename or "",
            access=frozenset(access) or None,
        )
    caller.note(workspace, job=job.id, access=sorted(access) or None)
    return reply(told(job), 202, Location=f"/v1/workspaces/{quote(workspace, safe='')}/jobs/{job.id}")


@router.get("/documents", response_model=DocumentList, summary="List documents and notes")
def list_documents(workspace: str, caller: Reader, served: Served, limit: Listed = None) -> Response:
    """List documents, pages and notes, without their parts and without memories."""
    with served.weft.store.view(workspace, caller.user) as view:
        counts = view.counts()
        kinds = opened_types(counts)
        most = listed(limit, 100, served)
        nodes = view.select(Filters(types=kinds), limit=most + MOST_MEMORIES) if kinds else []
        memories = view.select(Filters(tags=frozenset({MEMORY})), limit=MOST_MEMORIES)
    own = [node for node in nodes if MEMORY not in node.tags][:most]
    total = sum(counts[f"nodes.{kind}"] for kind in kinds) - len(memories)
    return reply({"documents": own, "total": max(total, len(own))})


@router.get("/jobs", response_model=JobList, summary="List jobs")
def list_jobs(workspace: str, caller: Reader, served: Served) -> Response:
    """The user's jobs in this workspace, the latest first; with an admin key, everybody's."""
    found = served.jobs.list(workspace=workspace, user=None if caller.may(workspace, "admin") else caller.user)
    return reply({"jobs": [told(job) for job in found]})


@router.get("/jobs/{job}", response_model=JobOut, summary="Watch a job")
def read_job(workspace: str, job: JobName, caller: Reader, served: Served) -> Response:
    """The progress of the indexing of a document."""
    return reply(told(served.jobs.get(job, workspace=workspace, user=caller.user)))


@router.delete("/jobs/{job}", response_model=JobOut, summary="Cancel a job")
def cancel_job(workspace: str, job: JobName, caller: Writer, served: Served) -> Response:
    """End a job, of which nothing is kept; one that has ended stays as it is."""
    return reply(told(served.jobs.cancel(job, workspace=workspace, user=caller.user)))


@router.get("/jobs/{job}/events", response_class=StreamingResponse, responses=EVENTS, summary="Follow a job")
def follow_job(workspace: str, job: JobName, caller: Reader, served: Served) -> Response:
    """A job as it goes on: an event `progress` with the job for each change, and `done` at its end."""
    found = served.jobs.get(job, workspace=workspace, user=caller.user)
    return EventStream(_followed(served, caller, found))


@router.get("/page-image", response_class=Response, responses=IMAGE, summary="Show a page")
def read_page_image(workspace: str, node: NodeName, caller: Reader, served: Served) -> Response:
    """The picture of a page that the user may see."""
    return _picture(served, caller, workspace, node, "image_path")


@router.get("/page-thumbnail", response_class=Response, responses=IMAGE, summary="Show a page in small")
def read_page_thumbnail(workspace: str, node: NodeName, caller: Reader, served: Served) -> Response:
    """The small picture of a page that the user may see."""
    return _picture(served, caller, workspace, node, "thumbnail_path")


async def _followed(served: Service, caller: Caller, job: Job) -> AsyncIterator[Event]:
    """The states of a job. No thread waits meanwhile: many may follow jobs, and there are few threads."""
    seen, quiet = None, 0
    while True:
        if job != seen:
            yield "progress" if job.state in UNFINISHED else "done", told(job)
            seen, quiet = job, 0
        if job.state not in UNFINISHED or served.jobs.stopping:
            return
        await anyio.sleep(SECONDS_BETWEEN_LOOKS)
        quiet += 1
        if quiet % LOOKS_BETWEEN_SIGNS == 0:
            yield "", None
        job = await anyio.to_thread.run_sync(_look, served, caller, job)


def _look(served: Service, caller: Caller, job: Job) -> Job:
    return served.jobs.get(job.id, workspace=job.workspace, user=caller.user)


def told(job: Job) -> dict[str, Any]:
    """A job without what is the server's own business, such as where the upload lies."""
    known = {name: job.details[name] for name in TOLD if name in job.details}
    times = {"created_at": job.created_at, "updated_at": job.updated_at}
    return {"id": job.id, "state": job.state, **times, **known}


def _picture(served: Service, caller: Caller, workspace: str, name: str, field: str) -> Response:
    with served.weft.store.view(workspace, caller.user) as view:
        found = [node for node in view.nodes([name]) if node.type == PAGE]
    if not found:
        raise NODE.missing(name)
    try:
        content = served.weft.store.files(workspace).path(found[0], field).read_bytes()
    except (NotFound, OSError):
        if found[0].fields.get("extension") in DRAWN:
            raise NotFound(f"page {name!r} has no picture: {NO_PICTURES}") from None
        raise NODE.missing(name) from None
    kind = next((kind for start, kind in PICTURES.items() if content.startswith(start)), None)
    if kind is None:
        raise NODE.missing(name)
    return Response(content, media_type=kind, headers={"Content-Disposition": "inline"})
