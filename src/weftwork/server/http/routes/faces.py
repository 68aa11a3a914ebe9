"""Threads with their messages and references, and activity."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import anyio
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from weftwork.errors import NotFound
from weftwork.request import Message
from weftwork.server.http.access import Caller, Reader, Recorder, Served, Writer
from weftwork.server.http.authorised_writes import NODE
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.replies import reply
from weftwork.server.http.routes.nodes import Listed, NodeName, after, listed
from weftwork.server.http.schemas.faces import (
    BEACON,
    ActivityIn,
    Done,
    EventList,
    MessageList,
    MessagesIn,
    ReferencesIn,
    TextNode,
    ThreadIn,
    ThreadList,
    TitleIn,
    UsesIn,
)
from weftwork.server.http.schemas.nodes import AddedOut, Changed, NodeList, Removed
from weftwork.server.http.schemas.values import LONGEST_NAME
from weftwork.server.http.service import Service

router = APIRouter(prefix="/v1/workspaces/{workspace}", route_class=MeteredRoute)

ThreadName = Annotated[str, Path(max_length=LONGEST_NAME, description="A thread's id, percent-encoded.")]


@router.post("/threads", response_model=TextNode, status_code=201, summary="Start a thread", tags=["threads"])
def start_thread(workspace: str, body: ThreadIn, caller: Writer, served: Served) -> Response:
    """A new thread, and what it is about."""
    within("the number of references", len(body.references), served.options.limits.batch)
    thread = served.weft.threads.create(
        body.title, references=body.references, access=body.access or (), **_as(caller, workspace)
    )
    caller.note(workspace, thread=thread.id, access=sorted(body.access or ()))
    return reply(after(served, caller, workspace, thread.id), 201)


@router.get("/threads", response_model=ThreadList, summary="List threads", tags=["threads"])
def list_threads(workspace: str, caller: Reader, served: Served, limit: Listed = None) -> Response:
    """The threads that the user may see, those that changed last first."""
    threads = served.weft.threads.list(listed(limit, 50, served), user=caller.user, workspace=workspace)
    return reply({"threads": threads})


@router.put("/threads/{thread:path}", response_model=TextNode, summary="Rename a thread", tags=["threads"])
def rename_thread(workspace: str, thread: ThreadName, body: TitleIn, caller: Writer, served: Served) -> Response:
    """Give a thread another title."""
    served.weft.threads.rename(thread, body.title, **_as(caller, workspace))
    return reply(after(served, caller, workspace, thread))


@router.delete("/threads/{thread:path}", response_model=Removed, summary="Remove a thread", tags=["threads"])
def remove_thread(workspace: str, thread: ThreadName, caller: Writer, served: Served) -> Response:
    """Remove a thread with its messages, whoever wrote them."""
    return reply({"removed": served.weft.threads.remove(thread, **_as(caller, workspace))})


@router.post("/messages", response_model=AddedOut, status_code=201, summary="Add messages", tags=["threads"])
def add_messages(workspace: str, body: MessagesIn, caller: Writer, served: Served) -> Response:
    """Put messages at the end of a thread, all of them or none."""
    within("the number of messages", len(body.messages), served.options.limits.batch)
    now = served.weft.now()
    turns = [Message(turn.role, turn.text, turn.at and min(turn.at, now)) for turn in body.messages]
    posted = served.weft.threads.post_all(body.thread, turns, user=caller.user, workspace=workspace)
    return reply({"nodes": len(posted.ids), "edges": 0, "embedded": posted.embedded, "ids": posted.ids}, 201)


@router.get("/messages", response_model=MessageList, summary="List messages", tags=["threads"])
def list_messages(workspace: str, thread: NodeName, caller: Reader, served: Served, limit: Listed = None) -> Response:
    """The last messages of a thread, the oldest of them first."""
    limit = listed(limit, 100, served)
    return reply({"messages": served.weft.threads.messages(thread, limit, user=caller.user, workspace=workspace)})


@router.get("/references", response_model=NodeList, summary="List references", tags=["threads"])
def list_references(workspace: str, thread: NodeName, caller: Reader, served: Served) -> Response:
    """The references of a thread."""
    return reply({"nodes": served.weft.threads.references(thread, user=caller.user, workspace=workspace)})


@router.post("/references", response_model=Changed, summary="Add references", tags=["threads"])
def add_references(workspace: str, body: ReferencesIn, caller: Writer, served: Served) -> Response:
    """Say what a thread is about."""
    within("the number of nodes", len(body.nodes), served.options.limits.batch)
    changed = served.weft.threads.reference(body.thread, *body.nodes, **_as(caller, workspace))
    return reply({"changed": changed})


@router.post("/references-remove", response_model=Changed, summary="Remove references", tags=["threads"])
def remove_references(workspace: str, body: ReferencesIn, caller: Writer, served: Served) -> Response:
    """Say what a thread is no longer about."""
    within("the number of nodes", len(body.nodes), served.options.limits.batch)
    changed = served.weft.threads.unreference(body.thread, *body.nodes, **_as(caller, workspace))
    return reply({"changed": changed})


@router.post("/uses", response_model=Changed, summary="Count uses", tags=["threads"])
def count_uses(workspace: str, body: UsesIn, caller: Writer, served: Served) -> Response:
    """Note that an answer used these sources; what is gone or hidden is passed over."""
    within("the number of references", len(body.references), served.options.limits.batch)
    counted = served.weft.threads.count_use(body.references, user=caller.user, workspace=workspace)
    return reply({"changed": counted})


@router.post("/activity", response_model=Done, summary="Record activity", tags=["activity"])
def record_activity(workspace: str, body: ActivityIn, caller: Recorder, served: Served) -> Response:
    """Note that the user saw or changed a node."""
    return _recorded(workspace, body, caller, served)


@router.post(
    "/activity/beacon",
    response_model=Done,
    openapi_extra=BEACON,
    summary="Record by beacon",
    tags=["activity"],
)
async def record_beacon(
    *,
    workspace: str,
    request: Request,
    caller: Recorder,
    served: Served,
    key: Annotated[str | None, Query(max_length=LONGEST_NAME, description="A key with scope record.")] = None,
) -> Response:
    """The same for `navigator.sendBeacon`: JSON whatever its content type, and the key in the address."""
    try:
        body = ActivityIn.model_validate_json(await request.body())
    except ValidationError as error:
        raise RequestValidationError([{**each, "loc": ("body", *each["loc"])} for each in error.errors()]) from None
    return await anyio.to_thread.run_sync(_recorded, workspace, body, caller, served)


@router.get("/activity", response_model=EventList, summary="List activity", tags=["activity"])
def list_activity(
    workspace: str, kind: Literal["view", "edit"], caller: Reader, served: Served, limit: Listed = None
) -> Response:
    """The user's own latest views or edits, newest first, each node once."""
    with served.weft.store.view(workspace, caller.user) as view:
        events = view.events(kind, limit=listed(limit, 50, served))
    return reply({"events": [{"node": event.node, "kind": event.kind, "at": event.at} for event in events]})


def _as(caller: Caller, workspace: str) -> dict[str, Any]:
    """The rights of a key, as the methods of threads take them."""
    return {"user": caller.user, "workspace": workspace, "admin": caller.may(workspace, "admin")}


def _recorded(workspace: str, body: ActivityIn, caller: Caller, served: Service) -> Response:
    try:
        served.weft.record(body.node, body.kind, user=caller.user, workspace=workspace, at=body.at)
    except NotFound:
        raise NODE.missing(body.node) from None
    return reply({"success": True})
