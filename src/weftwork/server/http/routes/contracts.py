"""The routes of contracts, in their words; where the path names no workspace, it is the key's, or the header's."""

from __future__ import annotations

from fastapi import APIRouter, Response

from weftwork.faces.thread import ContextAssemblyService, to_response
from weftwork.faces.workspace import ContextBuilder, ContextRequest, User
from weftwork.server.http.access import USER_HEADER, AnyCaller, Caller, Reader, Served, home_of
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.problems import Problem
from weftwork.server.http.replies import reply
from weftwork.server.http.routes.questions import answered
from weftwork.server.http.schemas.faces import (
    AskIn,
    ContextFeedback,
    Done,
    PrimeContextOut,
    PrimeContextRequest,
    ResearchOut,
    ResearchRequest,
)
from weftwork.server.http.schemas.workspace import (
    ContextPayloadModel,
    ContextRequestIn,
    ContextValidationResultOut,
    EstimateIn,
    EstimateOut,
    ValidateIn,
)
from weftwork.server.http.service import Service

router = APIRouter(tags=["contracts"], route_class=MeteredRoute)
workspaces = APIRouter(
    prefix="/v1/workspaces/{workspace}/context/workspace", tags=["contracts"], route_class=MeteredRoute
)


@router.post("/context/build", response_model=PrimeContextOut, summary="Context for a message")
def build_thread_context(body: PrimeContextRequest, caller: AnyCaller, served: Served) -> Response:
    """The context for a message in a thread, as the thread contract has it."""
    workspace = home_of(caller, "read")
    within("the length of the message", len(body.message), served.options.limits.query_characters)
    service = ContextAssemblyService(
        served.weft,
        workspace=workspace,
        track_metrics=lambda told: served.metrics.observe_thread(told.assembly_time, told.token_usage),
    )
    return reply(to_response(service.build(body.threadId, body.message, caller.user)))


@router.post("/context/feedback", response_model=Done, summary="Feedback on an item")
def give_item_feedback(body: ContextFeedback, caller: AnyCaller, served: Served) -> Response:
    """Take feedback on an item of a context, as the thread contract has it."""
    workspace = home_of(caller, "write")
    served.weft.feedback(body.contextItemId, body.useful, user=caller.user, workspace=workspace)
    return reply({"success": True})


@router.post("/api/research/ask", response_model=ResearchOut, summary="Answer a research question")
def ask_research_question(body: ResearchRequest, caller: AnyCaller, served: Served) -> Response:
    """An answer with its sources, as the research contract has it."""
    return reply(answered(AskIn(query=body.query, mode="hybrid"), home_of(caller, "read"), caller, served))


@workspaces.post("/build", response_model=ContextPayloadModel, summary="Context for an assistant")
def build_workspace_context(workspace: str, body: ContextRequestIn, caller: Reader, served: Served) -> Response:
    """The context for a request of an assistant inside a workspace, as the workspace contract has it."""
    request = _request(body, workspace, caller, served)
    return reply(ContextBuilder(served.weft).build_sync(request).to_dict())


@workspaces.post("/validate", response_model=ContextValidationResultOut, summary="Check a context")
def validate_workspace_context(workspace: str, body: ValidateIn, caller: Reader, served: Served) -> Response:
    """Check that a payload is what its request asks for, and shows only what the user may see."""
    payload = body.payload.value(_request(body.request, workspace, caller, served))
    return reply(ContextBuilder(served.weft).validate(payload).to_dict())


@workspaces.post("/estimate", response_model=EstimateOut, summary="Count a context")
def estimate_workspace_context(workspace: str, body: EstimateIn, caller: Reader, served: Served) -> Response:
    """The exact tokens of a payload's text."""
    return reply({"tokens": served.weft.tools.counter.count(body.payload.serialized)})


def _request(body: ContextRequestIn, workspace: str, caller: Caller, served: Service) -> ContextRequest:
    """The request of the caller, within the limits of the server."""
    if body.user is not None and body.user.id != caller.user:
        raise Problem(
            403,
            f"this key acts for {caller.user!r}: leave out user, or send {USER_HEADER} with an admin key",
        )
    limits, budget = served.options.limits, body.token_budget
    within("the budget", (budget and budget.total) or 0, limits.budget_tokens)
    within("the length of the query", len(body.query), limits.query_characters)
    within("the depth", (body.hints and body.hints.max_depth) or 1, limits.depth)
    return body.value(User(caller.user, workspace))
