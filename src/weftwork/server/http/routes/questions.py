"""Questions to a workspace, answered at once or as the answer comes."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from weftwork.faces.research import (
    AskEvent,
    LanguageModel,
    ResearchAnswer,
    ResearchContext,
    SourceDocument,
    answer_from,
    ask_events,
    research,
)
from weftwork.ingest.documents.libreoffice import DRAWN, NO_PICTURES
from weftwork.server.http.access import Caller, Reader, Served
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.replies import EVENTS, Event, EventStream, in_threads, reply
from weftwork.server.http.schemas.faces import AskIn, ResearchOut
from weftwork.server.http.service import Service

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["questions"], route_class=MeteredRoute)


@router.post("/ask", response_model=ResearchOut, summary="Ask a question")
def ask_question(workspace: str, body: AskIn, caller: Reader, served: Served) -> Response:
    """The answer of the server's model, with page citations that were checked; without one, quotes of the sources."""
    return reply(answered(body, workspace, caller, served))


@router.post("/ask/stream", response_class=StreamingResponse, responses=EVENTS, summary="Ask, and read as it comes")
def stream_answer(workspace: str, body: AskIn, caller: Reader, served: Served) -> Response:
    """The same as events: `sources`, then the answer `piece` by `piece`, then `done` with the whole of it."""
    check_limits(body, served)
    return EventStream(in_threads(_events(body, workspace, caller, served)))


def answered(body: AskIn, workspace: str, caller: Caller, served: Service) -> dict[str, Any]:
    """The whole answer."""
    check_limits(body, served)
    found = _research(body, workspace, caller, served)
    answer = answer_from(body.query, found, _model(body, served), served.weft.tools.embedder)
    return _told_whole(answer, workspace)


def _told_whole(answer: ResearchAnswer, workspace: str) -> dict[str, Any]:
    """An answer as it is sent, with a note on documents that have no pictures and could."""
    bare = [each.filename for each in answer.sources if not each.thumbnail_path and each.extension in DRAWN]
    named = ", ".join(dict.fromkeys(bare))
    note = "; ".join(filter(None, (answer.note, named and f"there are no pictures of {named}: {NO_PICTURES}")))
    return replace(answer, sources=linked(answer.sources, workspace), note=note).to_dict()


def linked(sources: Iterable[SourceDocument], workspace: str) -> tuple[SourceDocument, ...]:
    """The sources with paths of their pictures that this server serves; those of another index stay as they are."""
    return tuple(
        replace(
            source,
            image_path=source.image_path and _path(workspace, "page-image", source.node_id),
            thumbnail_path=source.thumbnail_path and _path(workspace, "page-thumbnail", source.node_id),
        )
        if source.node_id
        else source
        for source in sources
    )


def _path(workspace: str, route: str, node: str) -> str:
    return f"/v1/workspaces/{quote(workspace, safe='')}/{route}?node={quote(node, safe='')}"


def check_limits(body: AskIn, served: Service) -> None:
    """Refuse what this server does not allow."""
    within("the length of the query", len(body.query), served.options.limits.query_characters)
    within("max_tokens", body.max_tokens, served.options.limits.budget_tokens)


def _research(body: AskIn, workspace: str, caller: Caller, served: Service) -> ResearchContext:
    return research(
        served.weft,
        body.query,
        mode=body.mode,
        user=caller.user,
        workspace=workspace,
        max_sources=body.num_results,
        max_tokens=body.max_tokens,
        min_support=body.min_support,
    )


def _model(body: AskIn, served: Service) -> LanguageModel | None:
    return None if body.extractive else served.options.model


def _events(body: AskIn, workspace: str, caller: Caller, served: Service) -> Generator[Event, None, None]:
    found = _research(body, workspace, caller, served)
    model, embedder = _model(body, served), served.weft.tools.embedder
    with closing(ask_events(body.query, found, model=model, embedder=embedder)) as events:
        for event in events:
            if event[0] == "piece" and served.jobs.stopping:
                return
            yield _told(event, workspace)


def _told(event: AskEvent, workspace: str) -> Event:
    """An event as it is sent."""
    match event:
        case "sources", sources:
            return "sources", [source.to_dict() for source in linked(sources, workspace)]
        case "piece", text:
            return "piece", {"text": text}
        case "done", answer:
            return "done", _told_whole(answer, workspace)
