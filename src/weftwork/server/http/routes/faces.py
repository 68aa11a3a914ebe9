"""Threads with their messages and references, and activity."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Response

from weftwork.server.http.access import Reader, Served, Writer
from weftwork.server.http.authorised_writes import NODE, AuthorisedWriter, new_id
from weftwork.server.http.limits import within
from weftwork.server.http.replies import reply
from weftwork.server.http.routes.nodes import Listed, NodeName, after, listed
from weftwork.server.http.schemas.faces import (
    ActivityIn,
    Done,
    EventList,
    MessageList,
    MessagesIn,
    ReferencesIn,
    TextNode,
    ThreadIn,
    ThreadList,
)
from weftwork.server.http.schemas.nodes import AddedOut, Changed, NodeList
from weftwork.store.protocol import View
from weftwork.types import Edge, Filters, Node

router = APIRouter(prefix="/v1/workspaces/{workspace}")

REFERENCE = "reference"
THREAD = "thread"
MOST_REFERENCES = 50
"""The most references of a thread that a context looks at."""


@router.post("/threads", response_model=TextNode, status_code=201, summary="Start a thread", tags=["threads"])
def start_thread(workspace: str, body: ThreadIn, caller: Writer, served: Served) -> Response:
    """A new thread, and what it is about."""
    within("the number of references", len(body.references), served.options.limits.batch)
    now = served.weft.now()
    thread = Node(
        id=new_id(caller.user, THREAD, now.isoformat(), body.title),
        type=THREAD,
        title=body.title,
        created_at=now,
        updated_at=now,
        owner=caller.user,
        access=frozenset(body.access or ()),
    )
    edges = [Edge(source=thread.id, target=name, type=REFERENCE) for name in dict.fromkeys(body.references)]
    AuthorisedWriter.of(served.weft, caller, workspace).add([thread], edges)
    return reply(after(served, caller, workspace, thread.id), 201)


@router.get("/threads", response_model=ThreadList, summary="List threads", tags=["threads"])
def list_threads(workspace: str, caller: Reader, served: Served, limit: Listed = None) -> Response:
    """The threads that the user may see, those that changed last first."""
    with served.weft.store.view(workspace, caller.user) as view:
        return reply({"threads": view.select(Filters(types=frozenset({THREAD})), limit=listed(limit, 50, served))})


@router.post("/messages", response_model=AddedOut, status_code=201, summary="Add messages", tags=["threads"])
def add_messages(workspace: str, body: MessagesIn, caller: Writer, served: Served) -> Response:
    """Put messages at the end of a thread, all of them or none."""
    within("the number of messages", len(body.messages), served.options.limits.batch)
    now = served.weft.now()
    with served.weft.store.view(workspace, caller.user) as view:
        last = max((node.position for node in view.children(_thread(view, body.thread), 1, last=True)), default=0)
    nodes = [
        Node(
            id=new_id(caller.user, "message", body.thread, now.isoformat(), str(last + place), turn.role, turn.text),
            type="message",
            title=turn.role,
            text=turn.text,
            parent=body.thread,
            position=last + place,
            conversation=body.thread,
            created_at=turn.at or now,
            updated_at=turn.at or now,
            owner=caller.user,
        )
        for place, turn in enumerate(body.messages, start=1)
    ]
    added = AuthorisedWriter.of(served.weft, caller, workspace).add(nodes)
    told = {"nodes": added.nodes, "edges": added.edges, "embedded": added.embedded}
    return reply({**told, "ids": [node.id for node in nodes]}, 201)


@router.get("/messages", response_model=MessageList, summary="List messages", tags=["threads"])
def list_messages(workspace: str, thread: NodeName, caller: Reader, served: Served, limit: Listed = None) -> Response:
    """The last messages of a thread, the oldest of them first."""
    with served.weft.store.view(workspace, caller.user) as view:
        found = view.children(_thread(view, thread), listed(limit, 100, served), last=True)
        return reply({"messages": view.nodes([node.id for node in found])})


@router.get("/references", response_model=NodeList, summary="List references", tags=["threads"])
def list_references(workspace: str, thread: NodeName, caller: Reader, served: Served) -> Response:
    """The references of a thread."""
    with served.weft.store.view(workspace, caller.user) as view:
        found = view.neighbours(_thread(view, thread), types=(REFERENCE,), direction="out", limit=MOST_REFERENCES)
    return reply({"nodes": [node for _, node in found]})


@router.post("/references", response_model=Changed, summary="Add references", tags=["threads"])
def add_references(workspace: str, body: ReferencesIn, caller: Writer, served: Served) -> Response:
    """Say what a thread is about."""
    within("the number of nodes", len(body.nodes), served.options.limits.batch)
    return reply({"changed": AuthorisedWriter.of(served.weft, caller, workspace).link(_edges(body))})


@router.post("/references-remove", response_model=Changed, summary="Remove references", tags=["threads"])
def remove_references(workspace: str, body: ReferencesIn, caller: Writer, served: Served) -> Response:
    """Say what a thread is no longer about."""
    within("the number of nodes", len(body.nodes), served.options.limits.batch)
    return reply({"changed": AuthorisedWriter.of(served.weft, caller, workspace).unlink(_edges(body))})


@router.post("/activity", response_model=Done, summary="Record activity", tags=["activity"])
def record(workspace: str, body: ActivityIn, caller: Writer, served: Served) -> Response:
    """Note that the user saw or changed a node."""
    with (
        served.weft.atomic(workspace) as batch,
        served.weft.store.view(workspace, caller.user) as view,
    ):
        if not view.nodes([body.node]):
            raise NODE.missing(body.node)
        batch.record(caller.user, body.node, body.kind, body.at or served.weft.now())
    return reply({"success": True})


@router.get("/activity", response_model=EventList, summary="List activity", tags=["activity"])
def list_activity(
    workspace: str, kind: Literal["view", "edit"], caller: Reader, served: Served, limit: Listed = None
) -> Response:
    """The user's own latest views or edits, newest first, each node once."""
    with served.weft.store.view(workspace, caller.user) as view:
        events = view.events(kind, limit=listed(limit, 50, served))
    return reply({"events": [{"node": event.node, "kind": event.kind, "at": event.at} for event in events]})


def _thread(view: View, name: str) -> str:
    """The id, if it is that of a thread that the viewer may see."""
    if not any(node.type == THREAD for node in view.nodes([name])):
        raise NODE.missing(name)
    return name


def _edges(body: ReferencesIn) -> list[Edge]:
    return [Edge(source=body.thread, target=name, type=REFERENCE) for name in dict.fromkeys(body.nodes)]
