"""Memories: remember, add, list, search, read, change and forget."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from weftwork.engine import Weft
from weftwork.errors import InvalidInput
from weftwork.faces.memory import Memories
from weftwork.server.http.access import Reader, Served, Writer
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.replies import reply
from weftwork.server.http.routes.nodes import Listed, listed
from weftwork.server.http.schemas.memories import (
    AdditionOut,
    ConversationIn,
    ForgetIn,
    MemoryChange,
    MemoryContext,
    MemoryContextQuery,
    MemoryIn,
    MemoryList,
    MemoryOut,
    MemoryQuery,
    MemoryResults,
)
from weftwork.server.http.schemas.nodes import Removed
from weftwork.server.http.schemas.values import LONGEST_NAME

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["memories"], route_class=MeteredRoute)

MemoryName = Annotated[str, Path(max_length=LONGEST_NAME, description="A memory's id, percent-encoded.")]
MemoryId = Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="A memory's id.")]


@lru_cache(maxsize=4)
def _memories(weft: Weft) -> Memories:
    """The memories of an engine; the same object for all requests, which looks once for texts without a vector."""
    return Memories(weft)


@router.post("/memories", response_model=MemoryOut, status_code=201, summary="Remember")
def remember(workspace: str, body: MemoryIn, caller: Writer, served: Served) -> Response:
    """Keep a memory; nobody else sees it unless `access` says so."""
    memory = _memories(served.weft).remember(
        body.text, user=caller.user, workspace=workspace, on_conflict=body.on_conflict, **body.details()
    )
    caller.note(workspace, memory=memory.id, access=sorted(body.access or ()))
    return reply(memory, 201)


@router.get("/memories", response_model=MemoryList, summary="List memories")
def list_memories(
    workspace: str, caller: Reader, served: Served, every: bool = False, limit: Listed = None
) -> Response:
    """The memories that the user may see, the latest first; `every` brings those that do not hold now as well."""
    found = _memories(served.weft).list(
        every=every, limit=listed(limit, 100, served), user=caller.user, workspace=workspace
    )
    return reply({"memories": found})


@router.post("/memories-add", response_model=AdditionOut, summary="Remember a conversation")
def remember_conversation(workspace: str, body: ConversationIn, caller: Writer, served: Served) -> Response:
    """Keep what is said in a conversation; turns that were read before are passed over."""
    within("the number of messages", len(body.messages), served.options.limits.batch)
    model = served.options.model if body.extract else None
    if body.extract and model is None:
        raise InvalidInput("this server has no language model: set [model] in its weftwork.toml, or leave out extract")
    added = _memories(served.weft).add(
        [turn.model_dump() for turn in body.messages],
        user=caller.user,
        workspace=workspace,
        extract=model,
        on_conflict=body.on_conflict,
        dry_run=body.dry_run,
        **body.details(),
    )
    return reply(added)


@router.post("/memories-search", response_model=MemoryResults, summary="Search memories")
def search_memories(workspace: str, body: MemoryQuery, caller: Reader, served: Served) -> Response:
    """The memories that answer a query, the most similar first."""
    found = _memories(served.weft).search(body.query or "", user=caller.user, workspace=workspace, **body.options())
    return reply({"results": found})


@router.post("/memories-context", response_model=MemoryContext, summary="A context of memories")
def build_memory_context(workspace: str, body: MemoryContextQuery, caller: Reader, served: Served) -> Response:
    """The memories that answer a query as text, within a budget of tokens."""
    memories, options = _memories(served.weft), body.options()
    return reply(memories.context(body.query or "", user=caller.user, workspace=workspace, **options))


@router.get("/memories-history", response_model=MemoryList, summary="The versions of a memory")
def list_memory_versions(workspace: str, memory: MemoryId, caller: Reader, served: Served) -> Response:
    """All versions of a memory that the user may see, the first one first."""
    return reply({"memories": _memories(served.weft).history(memory, user=caller.user, workspace=workspace)})


@router.post("/memories-forget", response_model=Removed, summary="Forget memories")
def forget_memories(workspace: str, body: ForgetIn, caller: Writer, served: Served) -> Response:
    """Remove memories with their earlier versions for good, all of them or none."""
    caller.note(workspace, memories=list(body.ids))
    count = _memories(served.weft).forget(
        *body.ids,
        filters=None if body.filters is None else body.filters.value(),
        metadata=body.metadata,
        versions=body.versions,
        user=caller.user,
        workspace=workspace,
    )
    return reply({"removed": count})


@router.get("/memories/{memory:path}", response_model=MemoryOut, summary="Read a memory")
def read_memory(workspace: str, memory: MemoryName, caller: Reader, served: Served) -> Response:
    """One memory, whether it holds now or not."""
    return reply(_memories(served.weft).get(memory, user=caller.user, workspace=workspace))


@router.put("/memories/{memory:path}", response_model=MemoryOut, summary="Change a memory")
def change_memory(workspace: str, memory: MemoryName, body: MemoryChange, caller: Writer, served: Served) -> Response:
    """Write the next version of a memory, which ends where that begins; without a text, change its details in place."""
    changed = _memories(served.weft).update(memory, body.text, user=caller.user, workspace=workspace, **body.details())
    return reply(changed)


@router.delete("/memories/{memory:path}", response_model=Removed, summary="Forget a memory")
def forget_memory(workspace: str, memory: MemoryName, caller: Writer, served: Served) -> Response:
    """Remove a memory with its earlier versions for good."""
    return reply({"removed": _memories(served.weft).forget(memory, user=caller.user, workspace=workspace)})
