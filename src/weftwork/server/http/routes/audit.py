"""The audit log of a workspace, for its administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from weftwork.server.http.access import Admin, Served
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.replies import reply
from weftwork.server.http.routes.nodes import Listed, listed
from weftwork.server.http.schemas.audit import AuditList

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["operation"], route_class=MeteredRoute)

After = Annotated[int, Query(ge=0, le=2**53, description="The id of the last entry that is known; 0 for the first.")]


@router.get("/audit", response_model=AuditList, summary="List changes")
def list_audit(workspace: str, caller: Admin, served: Served, after: After = 0, limit: Listed = None) -> Response:
    """The changes in this workspace after one that is known: by whom, with which key, from where."""
    most = listed(limit, 100, served)
    return reply({"entries": served.weft.store.audit.entries(after=after, workspace=workspace, limit=most)})
