"""Questions to the documents, answered at once or as the answer comes."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from weftwork.faces.research import ContextBuilder, ResearchAnswer, ask
from weftwork.faces.research.ask import NO_MODEL, checked, messages_for, unanswered
from weftwork.faces.research.extract import NOTHING, extract_answer
from weftwork.faces.research.model import LanguageModel, StreamingModel
from weftwork.faces.research.values import ResearchContext
from weftwork.server.http.access import Caller, Reader, Served
from weftwork.server.http.limits import within
from weftwork.server.http.replies import EVENTS, Event, EventStream, in_threads, reply
from weftwork.server.http.schemas.faces import AskIn, ResearchOut
from weftwork.server.http.service import Service

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["questions"])


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
    answer = asyncio.run(
        ask(
            _builder(body, workspace, caller, served),
            body.query,
            model=_model(body, served),
            embedder=served.weft.tools.embedder,
            num_results=body.num_results,
            include_text=body.mode != "visual",
            include_visual=body.mode != "text",
        )
    )
    return answer.to_dict()


def check_limits(body: AskIn, served: Service) -> None:
    """Refuse what this server does not allow."""
    within("the length of the query", len(body.query), served.options.limits.query_characters)
    within("max_tokens", body.max_tokens, served.options.limits.budget_tokens)


def _builder(body: AskIn, workspace: str, caller: Caller, served: Service) -> ContextBuilder:
    return ContextBuilder.for_weft(
        served.weft,
        user=caller.user,
        workspace=workspace,
        max_sources=body.num_results,
        max_tokens=body.max_tokens,
    )


def _model(body: AskIn, served: Service) -> LanguageModel | None:
    return None if body.extractive else served.options.model


def _events(body: AskIn, workspace: str, caller: Caller, served: Service) -> Generator[Event, None, None]:
    build = _builder(body, workspace, caller, served).build_context
    research = asyncio.run(build(body.query, body.num_results, body.mode != "visual", body.mode != "text"))
    yield "sources", [source.to_dict() for source in research.sources]
    model, text = _model(body, served), ""
    pieces = _pieces(body.query, research, model, served)
    try:
        for piece in pieces:
            if served.jobs.stopping:
                return
            text += piece
            yield "piece", {"text": piece}
    finally:
        pieces.close()
    yield "done", _ended(text, research, model).to_dict()


def _ended(text: str, research: ResearchContext, model: LanguageModel | None) -> ResearchAnswer:
    if not research.sources:
        return unanswered(research)
    answer = checked(text.strip(), research)
    return replace(answer, note=NO_MODEL) if model is None else replace(answer, model=model.name)


def _pieces(
    query: str, research: ResearchContext, model: LanguageModel | None, served: Service
) -> Generator[str, None, None]:
    """The answer as it comes: of a model word by word, of the sources sentence by sentence."""
    if not research.sources:
        yield NOTHING
    elif model is None:
        yield from _lines(extract_answer(query, research.sources, served.weft.tools.embedder))
    elif isinstance(model, StreamingModel):
        yield from model.stream(messages_for(query, research))
    else:
        yield model.complete(messages_for(query, research))


def _lines(text: str) -> Iterator[str]:
    yield from text.splitlines(keepends=True)
