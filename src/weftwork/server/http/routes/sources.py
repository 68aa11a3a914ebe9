"""What was added from files and folders of the server: listed, read again and removed by administrators."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from weftwork.errors import NotFound
from weftwork.ingest.import_log import ImportLog
from weftwork.ingest.imports import Import, list_imports, read_again, remove_imports
from weftwork.ingest.report import Options
from weftwork.server.http.access import Admin, Served
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.replies import reply
from weftwork.server.http.schemas.nodes import Removed
from weftwork.server.http.schemas.sources import SourceList, SourceRead
from weftwork.server.http.schemas.values import LONGEST_NAME
from weftwork.server.http.service import Service

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["sources"], route_class=MeteredRoute)

MOST_SKIPPED = 50
SourceName = Annotated[str, Path(max_length=LONGEST_NAME, description="A source's id, percent-encoded.")]


@router.get("/sources", response_model=SourceList, summary="List sources")
def list_sources(workspace: str, caller: Admin, served: Served) -> Response:
    """The files and folders of the server that were added, with what could not be read of them."""
    store = served.weft.store
    return reply({"sources": [_told(served, workspace, each) for each in list_imports(store, workspace)]})


@router.post("/sources/{source:path}/read", response_model=SourceRead, summary="Read a source again")
def read_source(workspace: str, source: SourceName, caller: Admin, served: Served) -> Response:
    """Read every file of a source again, changed or not; ids, access lists and memories stay."""
    imported = _found(served, workspace, source)
    report = read_again(served.weft, imported, Options(workspace=workspace, user=caller.user))
    counts = {name: getattr(report, name) for name in ("added", "changed", "moved", "removed", "unchanged")}
    skipped = [{"what": each.what, "why": each.why} for each in report.skipped[:MOST_SKIPPED]]
    return reply({**counts, "skipped": skipped})


@router.delete("/sources/{source:path}", response_model=Removed, summary="Remove a source")
def remove_source(workspace: str, source: SourceName, caller: Admin, served: Served) -> Response:
    """Remove everything that came from a source, all or nothing; the files themselves stay."""
    imported = _found(served, workspace, source)
    return reply({"removed": remove_imports(served.weft, workspace, [imported])})


def _found(served: Service, workspace: str, source: str) -> Import:
    """A source by its id alone: a path of the server is nobody's to guess."""
    found = next((each for each in list_imports(served.weft.store, workspace) if each.id == source), None)
    if found is None:
        raise NotFound(f"there is no source {source!r}: see  weftwork sources")
    return found


def _told(served: Service, workspace: str, imported: Import) -> dict[str, Any]:
    states = ImportLog(served.weft.store, workspace, imported.id).states
    skipped = [{"what": key, "why": state.why} for key, state in sorted(states.items()) if not state.id and state.why]
    return {
        "id": imported.id,
        "name": PurePath(imported.place).name or imported.id,
        "connector": imported.connector,
        "stored": imported.stored,
        "skipped": skipped[:MOST_SKIPPED],
        "is_there": imported.is_there,
    }
