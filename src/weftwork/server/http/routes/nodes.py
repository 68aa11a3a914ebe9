"""Nodes and edges: written in batches, read one by one or in lists."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from weftwork.document import LEAST_TOKENS, READ_TOKENS, DocumentText
from weftwork.errors import NotFound
from weftwork.server.http.access import Caller, Reader, Served, Writer
from weftwork.server.http.authorised_writes import NODE, AuthorisedWriter, new_id
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.replies import reply
from weftwork.server.http.schemas.faces import TextNode
from weftwork.server.http.schemas.nodes import (
    Access,
    AddedOut,
    Addition,
    Changed,
    Edges,
    Move,
    Neighbours,
    NodeList,
    Removal,
    Removed,
)
from weftwork.server.http.schemas.values import LONGEST_NAME, LONGEST_TITLE, MOST_LISTED
from weftwork.server.http.service import Service
from weftwork.types import Filters, Node

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["nodes"], route_class=MeteredRoute)

FEW_PASSAGES = 50
"""Passages of one write that the next search may index."""

Listed = Annotated[int | None, Query(ge=1, le=MOST_LISTED, description="The most that are listed.")]
NodeName = Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="The id of a node.")]
InPath = Annotated[str, Path(max_length=LONGEST_NAME, description="A node's id, percent-encoded.")]
Several = Annotated[list[str], Query(max_length=50)]


@router.get("/nodes", response_model=NodeList, summary="List nodes")
def list_nodes(
    *,
    workspace: str,
    caller: Reader,
    served: Served,
    type: Annotated[Several, Query(description="Only these types.")] = [],  # noqa: B006  (FastAPI copies it)
    tag: Annotated[Several, Query(description="Only what has all of these tags.")] = [],  # noqa: B006
    limit: Listed = None,
    sort: Literal["updated", "title"] = "updated",
) -> Response:
    """Nodes that the user may see, without their texts."""
    with served.weft.store.view(workspace, caller.user) as view:
        filters = Filters(types=frozenset(type), tags=frozenset(tag))
        return reply({"nodes": view.select(filters, limit=listed(limit, 50, served), sort=sort)})


@router.post("/nodes", response_model=AddedOut, summary="Write nodes and edges")
def write_nodes(workspace: str, body: Addition, caller: Writer, served: Served) -> Response:
    """Insert or replace nodes and edges, all of them or none; what is unchanged costs next to nothing.

    A key without the scope `admin` changes what its user sees and nobody else owns. New nodes get ids that begin with
    the user's name and a slash, such as `ana/plan`, or are given one.
    """
    limits = served.options.limits
    within("the number of nodes", len(body.nodes), limits.batch)
    within("the number of edges", len(body.edges), limits.batch)
    now = served.weft.now().isoformat()
    nodes = [
        node.value(node.id or new_id(caller.user, node.type, now, str(place), node.title, node.text))
        for place, node in enumerate(body.nodes)
    ]
    edges = [edge.value() for edge in body.edges]
    writer = AuthorisedWriter.of(served.weft, caller, workspace)
    added = writer.add(nodes, edges, in_place=body.in_place, keep_access=body.keep_access)
    if added.embedded > FEW_PASSAGES:  # or whoever searches next would do the writer's work
        served.weft.catch_up(workspace)
    caller.note(workspace, nodes=[node.id for node in nodes], edges=len(edges))
    if not body.in_place and any(node.parent is not None for node in nodes):
        caller.note(workspace, parents=[node.parent for node in nodes])
    if not body.in_place and any(node.access is not None for node in nodes):
        caller.note(workspace, access=[None if node.access is None else sorted(node.access) for node in nodes])
    told = {"nodes": added.nodes, "edges": added.edges, "embedded": added.embedded}
    return reply({**told, "ids": [node.id for node in nodes]})


@router.get("/nodes/{node:path}", response_model=TextNode, summary="Read a node")
def read_node(workspace: str, node: InPath, caller: Reader, served: Served) -> Response:
    """A node with its text, by its id or by the citation id of one of its passages."""
    return reply(read(served, caller, workspace, node))


@router.get("/read", response_model=DocumentText, summary="Read a document")
def read_document(
    *,
    workspace: str,
    reference: Annotated[
        str, Query(min_length=1, max_length=LONGEST_TITLE, description="A title, source, node's id or citation.")
    ],
    caller: Reader,
    served: Served,
    start: Annotated[str, Query(max_length=LONGEST_NAME, description="`next` of the part before.")] = "",
    tokens: Annotated[
        int | None,
        Query(ge=LEAST_TOKENS, description=f"The most that the text may count, by default {READ_TOKENS:,}."),
    ] = None,
    ids: Annotated[bool, Query(description="Whether citations stand in the text.")] = True,
) -> Response:
    """A document, or the part of one that is meant, whole and in reading order; `next` says where it goes on."""
    most = served.options.limits.budget_tokens
    within("the number of tokens", tokens or 0, most)
    room = min(READ_TOKENS, most) if tokens is None else tokens
    return reply(served.weft.read(reference, user=caller.user, workspace=workspace, start=start, tokens=room, ids=ids))


@router.delete("/nodes/{node:path}", response_model=Removed, summary="Remove a node")
def remove_node(workspace: str, node: InPath, caller: Writer, served: Served) -> Response:
    """Remove a node with everything below it that the user may see; what is hidden stays, one level higher."""
    removed = AuthorisedWriter.of(served.weft, caller, workspace).remove([node])
    if not removed:
        raise NODE.missing(node)
    return reply({"removed": removed})


@router.post("/nodes-remove", response_model=Removed, summary="Remove nodes")
def remove_nodes(workspace: str, body: Removal, caller: Writer, served: Served) -> Response:
    """Remove several nodes, all of them or none; ids that do not exist, or are hidden, are passed over."""
    within("the number of ids", len(body.ids), served.options.limits.batch)
    caller.note(workspace, nodes=body.ids)
    return reply({"removed": AuthorisedWriter.of(served.weft, caller, workspace).remove(body.ids)})


@router.get("/children", response_model=NodeList, summary="List children")
def list_children(
    workspace: str, node: NodeName, caller: Reader, served: Served, limit: Listed = None, last: bool = False
) -> Response:
    """The first, or last, children of a node in their order, without their texts."""
    with served.weft.store.view(workspace, caller.user) as view:
        if not view.nodes([node]):
            raise NODE.missing(node)
        return reply({"nodes": view.children(node, listed(limit, 100, served), last=last)})


@router.get("/neighbours", response_model=Neighbours, summary="List neighbours")
def list_neighbours(
    *,
    workspace: str,
    node: NodeName,
    caller: Reader,
    served: Served,
    type: Annotated[Several, Query(description="Only edges of these types.")] = [],  # noqa: B006
    direction: Literal["out", "in", "both"] = "both",
    limit: Listed = None,
) -> Response:
    """The nodes at the other ends of a node's edges, with these edges."""
    with served.weft.store.view(workspace, caller.user) as view:
        if not view.nodes([node]):
            raise NODE.missing(node)
        found = view.neighbours(node, types=type, direction=direction, limit=listed(limit, 100, served))
    return reply({"neighbours": [{"edge": edge, "node": other} for edge, other in found]})


@router.post("/move", response_model=TextNode, summary="Move a node")
def move_node(workspace: str, body: Move, caller: Writer, served: Served) -> Response:
    """Hang a node elsewhere, with everything below it; what it inherits changes with it."""
    caller.note(workspace, node=body.node, parent=body.parent)
    AuthorisedWriter.of(served.weft, caller, workspace).move(body.node, body.parent, body.position)
    return reply(after(served, caller, workspace, body.node))


@router.put("/access", response_model=TextNode, summary="Say who may see a node")
def put_access(workspace: str, body: Access, caller: Writer, served: Served) -> Response:
    """Give a node an access list of its own, or let it inherit again. For its owner, or an admin key."""
    access = None if body.access is None else frozenset(body.access)
    caller.note(workspace, node=body.node, access=None if access is None else sorted(access))
    AuthorisedWriter.of(served.weft, caller, workspace).set_access(body.node, access)
    return reply(after(served, caller, workspace, body.node))


@router.post("/edges", response_model=Changed, summary="Write edges", tags=["edges"])
def write_edges(workspace: str, body: Edges, caller: Writer, served: Served) -> Response:
    """Insert or replace edges between nodes that the user may see, all of them or none."""
    within("the number of edges", len(body.edges), served.options.limits.batch)
    writer = AuthorisedWriter.of(served.weft, caller, workspace)
    return reply({"changed": writer.link([edge.value() for edge in body.edges])})


@router.post("/edges-remove", response_model=Changed, summary="Remove edges", tags=["edges"])
def remove_edges(workspace: str, body: Edges, caller: Writer, served: Served) -> Response:
    """Remove edges, all of them or none; those that do not exist are passed over."""
    within("the number of edges", len(body.edges), served.options.limits.batch)
    writer = AuthorisedWriter.of(served.weft, caller, workspace)
    return reply({"changed": writer.unlink([edge.value() for edge in body.edges])})


def listed(asked: int | None, usual: int, served: Service) -> int:
    """The limit of a list: as asked for, if the server allows it; else the default, as far as it does."""
    most = served.options.limits.results
    if asked is None:
        return min(usual, most)
    within("limit", asked, most)
    return asked


def read(served: Service, caller: Caller, workspace: str, reference: str) -> Node:
    """A node that the caller may see."""
    try:
        return served.weft.node(reference, user=caller.user, workspace=workspace)
    except NotFound:
        raise NODE.missing(reference) from None


def after(served: Service, caller: Caller, workspace: str, name: str) -> Node:
    """A node that was just changed; an admin may have changed what the user that they act for cannot see."""
    with served.weft.store.view(workspace, caller.user) as view:
        found = view.nodes([name])
    return found[0] if found else Node(id=name)
