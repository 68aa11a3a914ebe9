"""Contexts and searches, and the checks of answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Response

from weftwork.answer import check_answer
from weftwork.delta import Delta
from weftwork.render import LeanContext, LeanDelta, lean, to_dict
from weftwork.results import Preview
from weftwork.server.http.access import Caller, Reader, Served, Writer
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.replies import reply, written
from weftwork.server.http.schemas.context import (
    AnswerCheckOut,
    AnswerIn,
    BuildIn,
    ContextIn,
    DeltaIn,
    Explanation,
    Results,
    SearchIn,
)
from weftwork.server.http.schemas.document import ContextOut, DeltaOut
from weftwork.server.http.schemas.faces import Done, FeedbackIn
from weftwork.server.http.service import Service
from weftwork.types import Budget, Context

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["context"], route_class=MeteredRoute)


@router.post("/context/build", response_model=LeanContext | ContextOut | Context, summary="Build a context")
def build_context(workspace: str, body: BuildIn, caller: Reader, served: Served) -> Response:
    """The context for a query: the text for the model, and its sources; `form` asks for more."""
    context = served.weft.context(**_options(body, served, caller, workspace))
    if body.form == "lean":
        content = served.weft.context_cache.derived(context, "lean", lambda: written(lean(context)))
        return Response(content, media_type="application/json")
    context = without_timings(context, caller, workspace)
    return reply(context if body.form == "whole" else to_dict(context, timings=True))


def without_timings(context: Context, caller: Caller, workspace: str) -> Context:
    """The context without how long it took, unless for an admin: a kept one's stays until anybody writes anything."""
    return context if caller.may(workspace, "admin") else replace(context, timings={})


@router.post("/context/preview", response_model=Preview, summary="Preview a context")
def preview_context(workspace: str, body: ContextIn, caller: Reader, served: Served) -> Response:
    """The figures of the context for the same request."""
    return reply(served.weft.preview(**_options(body, served, caller, workspace)))


@router.post("/context/explain", response_model=Explanation, summary="Explain a context")
def explain_context(workspace: str, body: ContextIn, caller: Reader, served: Served) -> Response:
    """Why the context for the same request is what it is, in words."""
    return reply({"text": served.weft.explain(**_options(body, served, caller, workspace))})


@router.post("/context/delta", response_model=LeanDelta | DeltaOut | Delta, summary="Build what changed")
def build_delta(workspace: str, body: DeltaIn, caller: Reader, served: Served) -> Response:
    """The difference to an earlier context of the same user and thread; `form` asks for more."""
    difference = served.weft.context(**_options(body, served, caller, workspace), since=body.since)
    if body.form == "lean":
        return reply(difference.lean())
    return reply(difference if body.form == "whole" else difference.to_dict())


@router.post("/answers/check", response_model=AnswerCheckOut, summary="Check an answer")
def check_citations(workspace: str, body: AnswerIn, caller: Reader, served: Served) -> Response:
    """The sources of a context that an answer cites, makes up, or quotes without citing them."""
    context = served.weft.context(**_options(body, served, caller, workspace))
    result = check_answer(body.answer, context)
    return reply({"sound": result.sound, "used": result.used, "unknown": result.unknown, "uncited": result.uncited})


@router.post("/search", response_model=Results, summary="Search passages", tags=["search"])
def search_passages(workspace: str, body: SearchIn, caller: Reader, served: Served) -> Response:
    """The passages that answer a query best, with an excerpt around what matched."""
    limits = served.options.limits
    within("limit", body.limit, limits.results)
    within("the length of the query", len(body.query), limits.query_characters)
    results = served.weft.search(
        body.query,
        user=caller.user,
        workspace=workspace,
        limit=body.limit,
        mode=body.mode,
        filters=body.filters.value(),
    )
    return reply({"results": results})


@router.post("/feedback", response_model=Done, summary="Give feedback", tags=["feedback"])
def give_feedback(workspace: str, body: FeedbackIn, caller: Writer, served: Served) -> Response:
    """Say whether a source helped with a question; one's later word on both replaces the earlier one."""
    served.weft.feedback(body.reference, body.useful, query=body.query, user=caller.user, workspace=workspace)
    return reply({"success": True})


def _options(body: ContextIn, served: Service, caller: Caller, workspace: str) -> dict[str, Any]:
    """The arguments of the engine, within the limits of the server."""
    limits, options = served.options.limits, body.options(served.weft.tools.recipes)
    budget = options["budget"]
    total = budget.total if isinstance(budget, Budget) else budget
    within("the budget", total or served.weft.default_budget(options["recipe"]), limits.budget_tokens)
    within("the length of the query", len(body.query), limits.query_characters)
    within("the length of the topics", sum(len(topic.text) for topic in body.topics), limits.query_characters)
    within("the depth", body.depth or 1, limits.depth)
    return {**options, "user": caller.user, "workspace": workspace}
