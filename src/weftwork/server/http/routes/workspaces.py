"""Workspaces and their users, and what there is to choose from."""

from __future__ import annotations

from fastapi import APIRouter, Response

from weftwork.pack import PACKERS
from weftwork.server.http.access import LOCAL, Admin, AnyCaller, Caller, Reader, Served
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.problems import Problem
from weftwork.server.http.replies import reply
from weftwork.server.http.schemas.choices import LensList, NamedList, RecipeList
from weftwork.server.http.schemas.nodes import (
    Counts,
    UserIn,
    UserList,
    UserOut,
    WorkspaceIn,
    WorkspaceList,
    WorkspaceOut,
)

router = APIRouter(prefix="/v1", tags=["workspaces"], route_class=MeteredRoute)
choices = APIRouter(prefix="/v1", tags=["choices"], route_class=MeteredRoute)


@router.get("/workspaces", response_model=WorkspaceList, summary="List workspaces")
def list_workspaces(caller: AnyCaller) -> Response:
    """The workspaces that the key covers."""
    return reply({"workspaces": [_told(name, caller) for name in sorted(caller.workspaces)]})


@router.post("/workspaces", response_model=WorkspaceOut, status_code=201, summary="Create a workspace")
def create_workspace(body: WorkspaceIn, caller: AnyCaller, served: Served) -> Response:
    """Make a workspace, on a server that asks for no keys.

    A key covers the workspaces that it was made for, so new ones are made where keys are made, on the command line:
    a name that is refused because it is taken would tell of workspaces that a key does not cover.
    """
    if caller.key != LOCAL:
        raise Problem(403, "workspaces are made where keys are made: on the command line of the server")
    served.weft.create_workspace(body.name, owner=body.owner or caller.user, access=body.access)
    return reply(_told(body.name, caller), 201)


@router.get("/workspaces/{workspace}", response_model=Counts, summary="Describe a workspace")
def describe_workspace(workspace: str, caller: Reader, served: Served) -> Response:
    """A workspace, with counts of what the user may see."""
    counts = served.weft.stats(user=caller.user, workspace=workspace)
    return reply({**_told(workspace, caller), "counts": counts})


@router.delete("/workspaces/{workspace}", status_code=204, summary="Delete a workspace")
def delete_workspace(workspace: str, caller: Admin, served: Served) -> None:
    """Remove a workspace with everything in it, for good."""
    served.weft.store.drop_workspace(workspace)


@router.get("/workspaces/{workspace}/users", response_model=UserList, summary="List users", tags=["users"])
def list_users(workspace: str, caller: Admin, served: Served) -> Response:
    """The users of a workspace with their groups."""
    users = served.weft.store.users(workspace)
    return reply({"users": [{"name": name, "groups": groups} for name, groups in sorted(users.items())]})


@router.put("/workspaces/{workspace}/users/{user:path}", response_model=UserOut, summary="Put a user", tags=["users"])
def put_user(workspace: str, user: str, body: UserIn, caller: Admin, served: Served) -> Response:
    """Make a user known to a workspace and set the groups that they belong to."""
    served.weft.add_user(user, groups=body.groups, workspace=workspace)
    return reply({"name": user, "groups": served.weft.store.users(workspace)[user]})


@choices.get("/recipes", response_model=RecipeList, summary="List recipes")
def list_recipes(caller: AnyCaller, served: Served) -> Response:
    """The recipes that a context can be asked for by."""
    told = [
        {
            "name": recipe.name,
            "packer": recipe.packer if isinstance(recipe.packer, str) else type(recipe.packer).__name__.lower(),
            "template": recipe.template if isinstance(recipe.template, str) else recipe.template.name,
            "collectors": [collector.name for collector in recipe.collectors],
            "sections": recipe.sections,
            "share": recipe.share,
        }
        for recipe in served.weft.tools.recipes.all()
    ]
    return reply({"recipes": told})


@choices.get("/lenses", response_model=LensList, summary="List lenses")
def list_lenses(caller: AnyCaller, served: Served) -> Response:
    """The lenses that a context can be seen through."""
    lenses = served.weft.tools.lenses
    return reply({"lenses": [lenses.get(name).to_dict() for name in lenses.names()]})


@choices.get("/templates", response_model=NamedList, summary="List templates")
def list_templates(caller: AnyCaller, served: Served) -> Response:
    """The templates that a context can be written with."""
    return reply({"names": served.weft.tools.templates.names()})


@choices.get("/packers", response_model=NamedList, summary="List packers")
def list_packers(caller: AnyCaller) -> Response:
    """The packers that a context can be packed with."""
    return reply({"names": PACKERS})


def _told(workspace: str, caller: Caller) -> dict[str, str]:
    return {"name": workspace, "user": caller.user, "scope": caller.scope}
