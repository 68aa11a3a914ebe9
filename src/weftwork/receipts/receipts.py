"""Receipts: a record of each context and turn that was handed out, without its text.

A receipt says who was given what, when, through which surface, by which settings and versions, and why. It holds ids
and hashes, no words of sources: what a user may no longer see cannot be read from here. Titles are looked up for the
one who asks. A user reads their own receipts, an administrator all of a workspace.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from weftwork.errors import InvalidInput, NotFound, StoreError
from weftwork.identity import node_id, text_hash
from weftwork.receipts.values import Answered, LeftOut, Receipt, Replay, Used
from weftwork.recipe import Recipe
from weftwork.request import Request
from weftwork.store.receipts import ReceiptRow
from weftwork.surface import current_surface
from weftwork.types import EVERYONE, Context, Decision
from weftwork.wire import decode, encode

if TYPE_CHECKING:
    from weftwork.answer import AnswerCheck
    from weftwork.engine import Weft
    from weftwork.turn.sources import Added
    from weftwork.turn.values import Turn

DEFAULT_USER, DEFAULT_WORKSPACE = "me", "main"
log = logging.getLogger("weftwork.receipts")
MOST_RECEIPTS = 1_000
"""Receipts that are kept for each workspace, unless told otherwise; the oldest go first."""
MOST_LEFT_OUT = 20
"""Candidates that were left out of which a receipt tells, the best."""
LOOKED_THROUGH = 20
"""A user's latest receipts among which the question is looked for that a source was given for."""
WAIT_SECONDS = 5.0
PENDING = 20
"""Receipts of contexts that wait to be written together."""
Shown = Mapping[str, tuple[str, Sequence[str]]]
"""By id, the text of each source as it was shown, and the ids of the passages in it."""
UNSENT = ("query", "workspace", "user", "budget", "vector", "history")
"""Fields of a request that a receipt has elsewhere, or not at all."""


class Receipts:
    """The receipts of an engine. Thread-safe.

    Those of turns are written at once. Those of contexts, which read and do not wait for writers, are written a few at
    a time: before receipts are read, when the engine is closed, and by a server every second.
    """

    def __init__(self, weft: Weft, most: int = MOST_RECEIPTS) -> None:
        self._weft = weft
        self.most = most
        """Receipts that are kept for each workspace; 0 keeps none."""
        self.delay: float | None = None
        """Seconds after which a context's receipt is written at the latest; None leaves it until others follow."""
        self._pending: list[tuple[Context, Request, Recipe, int, datetime, str]] = []
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._timer: threading.Timer | None = None

    def note(self, context: Context, request: Request, recipe: Recipe, version: int) -> None:
        """Note that a context was handed out."""
        name = current_surface()
        if not self.most or not name:
            return
        entry = (context, request, recipe, version, self._weft.now(), name)
        with self._guard:
            self._pending.append(entry)
            full = len(self._pending) >= PENDING
            if self.delay is not None and self._timer is None and not full:
                self._timer = threading.Timer(self.delay, self.write_pending)
                self._timer.daemon = True
                self._timer.start()
        if full:
            self._weft.tools.pool.submit(self.write_pending)

    def write_pending(self) -> None:
        """Write what waits to be written; where the store cannot be written, reading goes on."""
        # Who reads receipts waits for those that another thread is writing; not for ever, within a transaction.
        ours = self._writing.acquire(timeout=WAIT_SECONDS)
        try:
            self._write_pending()
        except StoreError as error:
            log.warning("receipts were not written: %s", error)
        finally:
            if ours:
                self._writing.release()

    def _write_pending(self) -> None:
        with self._guard:
            pending, self._pending = self._pending, []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        by_workspace: dict[str, list[ReceiptRow]] = {}
        for entry in pending:
            by_workspace.setdefault(entry[1].workspace, []).append(self._row_of_context(*entry))
        for workspace, rows in by_workspace.items():
            with suppress(NotFound):  # the workspace was dropped meanwhile
                self._weft.store.receipts.put(workspace, rows, most=self.most)

    def of_turn(self, turn: Turn, request: Request, recipe: Recipe, added: Added, earlier: Sequence[str]) -> str:
        """Write the receipt of a turn, and return its id; empty if none are kept."""
        name = current_surface()
        if not self.most or not name:
            return ""
        now = self._weft.now()
        decisions = added.decisions
        shown = {part.citation: (part.text, part.covers) for part in added.parts if part.citation}
        receipt = self._receipt(request, recipe, now, name, self._weft.store.version(request.workspace))
        receipt = replace(
            receipt,
            id=node_id("receipt", request.user, "\0".join((now.isoformat(), turn.message))),
            kind="turn",
            thread=turn.thread,
            message=turn.message,
            budget=turn.budget,
            tokens=turn.tokens,
            cached_tokens=turn.cached_tokens,
            hash=text_hash("\0".join(f"{each['role']}\0{each['content']}" for each in turn.messages)),
            inject=turn.inject,
            reason=turn.reason,
            support=turn.support,
            options={**receipt.options, "room": json.dumps(added.room), "named": json.dumps(added.named)},
            used=_used(decisions, shown),
            earlier=tuple(earlier),
            withdrawn=tuple(each.citation for each in turn.withdrawn),
            left_out=_left_out(decisions, shown),
            considered=len(decisions),
            warnings=turn.warnings,
        )
        self._weft.store.receipts.put(request.workspace, [_row(receipt)], most=self.most)
        return receipt.id

    def answered(self, name: str, check: AnswerCheck, workspace: str) -> None:
        """Note what the answer to a turn cited."""
        row = self._weft.store.receipts.get(workspace, name)
        if row is None:
            return
        cited = tuple(citation.id for citation in check.used)
        answer = Answered(self._weft.now(), cited, check.unknown, len(check.uncited))
        receipt = replace(decode(Receipt, json.loads(row.record)), answer=answer)
        self._weft.store.receipts.put(workspace, [_row(receipt)], most=self.most)

    def list(
        self,
        limit: int = 50,
        *,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        thread: str | None = None,
        of: str | None = None,
        admin: bool = False,
    ) -> Sequence[Receipt]:
        """The latest receipts first: one's own, or as an administrator those `of` a user or of everybody."""
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInput(f"the limit must be a whole number of at least 1, got {limit!r}")
        self.write_pending()
        whose = of if admin else user
        if not admin and of not in (None, user):
            return []
        rows = self._weft.store.receipts.list(workspace, limit=limit, user=whose, thread=thread)
        return self._titled([decode(Receipt, json.loads(row.record)) for row in rows], user, workspace)

    def get(
        self, name: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE, admin: bool = False
    ) -> Receipt:
        """A receipt by its id; that of another user is an administrator's to read."""
        self.write_pending()
        row = self._weft.store.receipts.get(workspace, name)
        if row is None or not (admin or row.user == user):
            raise NotFound(f"there is no receipt {name!r} that you may see: list yours with  weftwork receipts")
        return self._titled([decode(Receipt, json.loads(row.record))], user, workspace)[0]

    def question_for(self, *names: str, user: str, workspace: str) -> str:
        """The latest question of a user whose context held a node or citation; "" if none of the latest did."""
        self.write_pending()
        for row in self._weft.store.receipts.list(workspace, limit=LOOKED_THROUGH, user=user):
            receipt = json.loads(row.record)
            if any(not {each["node"], each["citation"]}.isdisjoint(names) for each in receipt["used"]):
                return str(receipt["query"])
        return ""

    def erase(
        self,
        *names: str,
        user: str = DEFAULT_USER,
        workspace: str = DEFAULT_WORKSPACE,
        of: str | None = None,
        everything: bool = False,
        admin: bool = False,
    ) -> int:
        """Remove receipts by their ids; with `everything`, all of one's own; return their number.

        An administrator removes those of others, too, and everything `of` a user, or of all for "*".
        """
        if bool(names) == everything:
            raise InvalidInput("name the receipts to erase, or say everything=True")
        self.write_pending()
        whose: str | None = user
        if admin:
            whose = of or (None if names else user)
            whose = None if whose == EVERYONE else whose
        return self._weft.store.receipts.remove(workspace, ids=names or None, user=whose)

    def replay(
        self, name: str, *, user: str = DEFAULT_USER, workspace: str = DEFAULT_WORKSPACE, admin: bool = False
    ) -> Replay:
        """Repeat the request of a receipt as its user and compare the answers."""
        from weftwork.receipts.replay import replay  # noqa: PLC0415 - hardly anybody replays, and it needs turns

        return replay(self._weft, self.get(name, user=user, workspace=workspace, admin=admin))

    def _titled(self, receipts: Sequence[Receipt], user: str, workspace: str) -> Sequence[Receipt]:
        """The receipts with the titles that a user may see."""
        with self._weft.store.view(workspace, user) as view:
            used = {each.node for receipt in receipts for each in receipt.used}
            names = sorted(used | {each.node for receipt in receipts for each in receipt.left_out})
            titles = {node.id: node.title or node.text[:80] for node in view.nodes(names)}
        return [
            replace(
                receipt,
                used=tuple(replace(each, title=titles.get(each.node, "")) for each in receipt.used),
                left_out=tuple(replace(each, title=titles.get(each.node, "")) for each in receipt.left_out),
            )
            for receipt in receipts
        ]

    def _row_of_context(
        self, context: Context, request: Request, recipe: Recipe, at_version: int, now: datetime, name: str
    ) -> ReceiptRow:
        """The row of a context; that of one from the cache differs in when and through what it was handed out."""
        record: dict[str, Any] = self._weft.context_cache.derived(
            context, "receipt", lambda: encode(self._of_context(context, request, recipe))
        )
        number = node_id("receipt", request.user, "\0".join((now.isoformat(), request.thread or "", context.id)))
        handed = {"id": number, "at": encode(now), "version": at_version, "surface": name}
        return ReceiptRow(number, request.user, request.thread or "", now, _written({**record, **handed}))

    def _of_context(self, context: Context, request: Request, recipe: Recipe) -> Receipt:
        """The receipt of a context, without when and through what it was handed out."""
        covers = {
            each.citation: tuple(item.candidate.passage.citation for item in each.items)
            for each in (*context.excerpts, *context.overflow)
        }
        shown = {
            piece.citation: (piece.text, covers.get(piece.citation, ())) for piece in context.pieces if piece.citation
        }
        return replace(
            self._receipt(request, recipe, self._weft.now(), "", 0),
            tokens=context.tokens,
            hash=text_hash(context.text),
            support=context.support,
            inject=bool(context.excerpts),
            used=_used(context.trace, shown),
            left_out=_left_out(context.trace, shown),
            considered=len(context.trace),
            warnings=context.warnings,
        )

    def _receipt(self, request: Request, recipe: Recipe, now: datetime, name: str, at_version: int) -> Receipt:
        tools = self._weft.tools
        default = Request(workspace="", user="", budget=request.budget)
        changed = {each.name for each in fields(Request) if getattr(request, each.name) != getattr(default, each.name)}
        return Receipt(
            id="",
            kind="context",
            at=now,
            user=request.user,
            workspace=request.workspace,
            surface=name,
            query=request.query,
            recipe=recipe.name,
            budget=request.budget.total,
            tokens=0,
            hash="",
            version=at_version,
            software=_software(),
            tokenizer=tools.counter.name,
            embedder="" if tools.embedder is None else tools.embedder.model,
            options={each: json.dumps(encode(getattr(request, each))) for each in sorted(changed.difference(UNSENT))},
            thread=request.thread or "",
        )


@cache
def _software() -> str:
    return version("weftwork")


def _used(decisions: Sequence[Decision], shown: Shown) -> tuple[Used, ...]:
    """The sources that are shown, each with the best evidence in it."""
    taken = {decision.citation: decision for decision in decisions if decision.fate != "dropped"}
    used = []
    for name, (text, covers) in shown.items():
        found = max(
            (taken[each] for each in (name, *covers) if each in taken), key=lambda each: each.score, default=None
        )
        if found is None:
            used.append(Used(name, "", "", "stands around a hit", 0.0, 0, text_hash(text)))
        else:
            score = round(found.score, 4)
            used.append(Used(name, found.node, found.section, _why(found), score, found.tokens, text_hash(text)))
    return tuple(used)


def _left_out(decisions: Sequence[Decision], shown: Shown) -> tuple[LeftOut, ...]:
    visible = {name for head, (_, covers) in shown.items() for name in (head, *covers)}
    dropped = [each for each in decisions if each.fate == "dropped" and each.citation not in visible]
    best = sorted(dropped, key=lambda each: (-each.score, each.citation))[:MOST_LEFT_OUT]
    return tuple(LeftOut(each.citation, each.node, each.reason, round(each.score, 4)) for each in best)


def _why(decision: Decision) -> str:
    found = "; ".join(dict.fromkeys(finding.why for finding in decision.findings if finding.why))
    return found or decision.reason


def _row(receipt: Receipt) -> ReceiptRow:
    return ReceiptRow(receipt.id, receipt.user, receipt.thread, receipt.at, _written(encode(receipt)))


def _written(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
