"""Turns of conversations, and receipts of what was handed out."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from weftwork.receipts import Receipt, Replay
from weftwork.server.http.access import Caller, Reader, Served, Writer
from weftwork.server.http.fairness import MeteredRoute
from weftwork.server.http.limits import within
from weftwork.server.http.replies import reply
from weftwork.server.http.routes.nodes import Listed, listed
from weftwork.server.http.schemas.nodes import Removed
from weftwork.server.http.schemas.turns import CompactIn, EraseIn, ReceiptList, ReplyIn, ReplyOut, ToolIn, TurnIn
from weftwork.server.http.schemas.values import LONGEST_NAME
from weftwork.turn import TURN_BUDGET, Compacted, ToolResult, TurnFields

router = APIRouter(prefix="/v1/workspaces/{workspace}", route_class=MeteredRoute)
ReceiptName = Annotated[str, Path(max_length=LONGEST_NAME, description="A receipt's id.")]


@router.post("/turns", response_model=TurnFields, status_code=201, summary="Take a turn", tags=["turns"])
def take_turn(workspace: str, body: TurnIn, caller: Writer, served: Served) -> Response:
    """Post a user's message, and return what to send to the model for it, within one budget."""
    limits = served.options.limits
    within("the budget", body.budget or TURN_BUDGET, limits.budget_tokens)
    within("the length of the message", len(body.message), limits.query_characters)
    turn = served.weft.turn(
        body.thread,
        body.message,
        budget=body.budget,
        rules=body.rules,
        recipe=body.recipe,
        min_support=body.min_support,
        user=caller.user,
        workspace=workspace,
    )
    return reply({field.name: getattr(turn, field.name) for field in fields(TurnFields)}, 201)


@router.post("/turns/tool", response_model=ToolResult, status_code=201, summary="Add a tool result", tags=["turns"])
def add_tool_result(workspace: str, body: ToolIn, caller: Writer, served: Served) -> Response:
    """Put a tool's output into a thread; a large one becomes a document, and the model gets a preview."""
    result = served.weft.turns.tool(
        body.thread, body.name, body.output, keep=body.keep, user=caller.user, workspace=workspace
    )
    return reply(result, 201)


@router.post("/turns/reply", response_model=ReplyOut, status_code=201, summary="Post an answer", tags=["turns"])
def post_answer(workspace: str, body: ReplyIn, caller: Writer, served: Served) -> Response:
    """Post the model's answer, check its citations against all that the thread was given, and count their use."""
    answer = served.weft.reply(body.thread, body.text, user=caller.user, workspace=workspace)
    check = answer.check
    checked = {"sound": check.sound, "used": check.used, "unknown": check.unknown, "uncited": check.uncited}
    return reply({"message": answer.message, "check": checked, "used": answer.used, "receipt": answer.receipt}, 201)


@router.post("/turns/compact", response_model=Compacted, summary="Compact a thread", tags=["turns"])
def compact_thread(workspace: str, body: CompactIn, caller: Writer, served: Served) -> Response:
    """Shorten a thread's history; rules, decisions, open tasks and cited sources survive."""
    within("keep", body.keep, served.options.limits.budget_tokens)
    return reply(served.weft.compact(body.thread, keep=body.keep, user=caller.user, workspace=workspace))


@router.get("/receipts", response_model=ReceiptList, summary="List receipts", tags=["receipts"])
def list_receipts(
    *,
    workspace: str,
    caller: Reader,
    served: Served,
    thread: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Those of one thread.")] = None,
    of: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Those of another user, for admins.")] = None,
    limit: Listed = None,
) -> Response:
    """The contexts and turns that the user was given, the latest first; an administrator sees those of everybody."""
    found = served.weft.receipts.list(listed(limit, 50, served), thread=thread, of=of, **_as(caller, workspace))
    return reply({"receipts": found})


@router.get("/receipts/{receipt}", response_model=Receipt, summary="Show a receipt", tags=["receipts"])
def show_receipt(workspace: str, receipt: ReceiptName, caller: Reader, served: Served) -> Response:
    """Show a receipt: what was handed out, to whom, when and why."""
    return reply(served.weft.receipts.get(receipt, **_as(caller, workspace)))


@router.post("/receipts/{receipt}/replay", response_model=Replay, summary="Replay a receipt", tags=["receipts"])
def replay_receipt(workspace: str, receipt: ReceiptName, caller: Reader, served: Served) -> Response:
    """Repeat the request of a receipt and compare the answers."""
    return reply(served.weft.receipts.replay(receipt, **_as(caller, workspace)))


@router.post("/receipts-erase", response_model=Removed, summary="Erase receipts", tags=["receipts"])
def erase_receipts(workspace: str, body: EraseIn, caller: Writer, served: Served) -> Response:
    """Remove receipts by their ids, or all of one's own; an administrator also those of others."""
    within("the number of ids", len(body.ids), served.options.limits.batch)
    removed = served.weft.receipts.erase(*body.ids, everything=body.everything, of=body.of, **_as(caller, workspace))
    return reply({"removed": removed})


def _as(caller: Caller, workspace: str) -> dict[str, Any]:
    """The rights of a key."""
    return {"user": caller.user, "workspace": workspace, "admin": caller.may(workspace, "admin")}
