"""The routes that contracts prescribe, in their words; the workspace is the key's, or the header's."""

from __future__ import annotations

from fastapi import APIRouter, Response

from weftwork.faces.thread import ContextAssemblyService, to_response
from weftwork.server.http.access import AnyCaller, Served, home_of
from weftwork.server.http.limits import within
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

router = APIRouter(tags=["contracts"])


@router.post("/context/build", response_model=PrimeContextOut, summary="Context for a message")
def build_context(body: PrimeContextRequest, caller: AnyCaller, served: Served) -> Response:
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
def give_feedback(body: ContextFeedback, caller: AnyCaller, served: Served) -> Response:
    """Take feedback on an item of a context, as the thread contract has it."""
    workspace = home_of(caller, "write")
    served.weft.feedback(body.contextItemId, body.useful, user=caller.user, workspace=workspace)
    return reply({"success": True})


@router.post("/api/research/ask", response_model=ResearchOut, summary="Answer a research question")
def ask_research_question(body: ResearchRequest, caller: AnyCaller, served: Served) -> Response:
    """An answer with its sources, as the research contract has it."""
    return reply(answered(AskIn(query=body.query), home_of(caller, "read"), caller, served))
