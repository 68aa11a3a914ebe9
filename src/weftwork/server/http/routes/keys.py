"""Keys of a workspace, for its administrators."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from weftwork.errors import InvalidInput, NotFound
from weftwork.server.http.access import LOCAL, Admin, Served
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.replies import reply
from weftwork.server.http.schemas.keys import KeyIn, KeyList, KeyOut, NewKey
from weftwork.server.http.service import Service
from weftwork.server.keys import make_key, read_span, revoke_key, state_of
from weftwork.store.server_state import Key

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["keys"], route_class=MeteredRoute)

KeyName = Annotated[str, Path(max_length=100, description="The id of a key.")]


@router.get("/keys", response_model=KeyList, summary="List keys")
def list_keys(workspace: str, caller: Admin, served: Served) -> Response:
    """The keys that cover this workspace and no other, also those that hold no longer."""
    return reply({"keys": [_told(key, served) for key in _covering(served, workspace)]})


@router.post("/keys", response_model=NewKey, status_code=201, summary="Make a key")
def create_key(workspace: str, body: KeyIn, caller: Admin, served: Served) -> Response:
    """Make a key that covers this workspace alone; its token is in the answer and is never told again."""
    if caller.key == LOCAL and body.scope != "admin":
        raise InvalidInput("from the first key on everyone needs one: make an admin key first")
    weft = served.weft
    key, token = make_key(
        weft.store,
        user=body.user,
        workspaces=(workspace,),
        scope=body.scope,
        now=weft.now(),
        lasts=None if body.lasts is None else read_span(body.lasts),
        name=body.name,
    )
    caller.note(workspace, made=key.id, user=key.user, scope=key.scope)
    return reply({**_told(key, served), "token": token}, 201)


@router.delete("/keys/{key}", response_model=KeyOut, summary="Revoke a key")
def end_key(workspace: str, key: KeyName, caller: Admin, served: Served) -> Response:
    """End a key for good: one that covers this workspace and no other."""
    found = next((each for each in _covering(served, workspace) if each.id == key), None)
    if found is None:
        raise NotFound(f"there is no key {key!r} of this workspace alone: see  weftwork keys list")
    return reply(_told(revoke_key(served.weft.store, found.id, served.weft.now()), served))


def _covering(served: Service, workspace: str) -> list[Key]:
    """Keys of this workspace alone: an administrator of one workspace learns nothing of others."""
    return [key for key in served.weft.store.keys.all() if key.workspaces == {workspace}]


def _told(key: Key, served: Service) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "user": key.user,
        "scope": key.scope,
        "state": state_of(key, served.weft.now()),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "last_used_at": key.used_at,
    }
