"""Replay: the request of a receipt once more, beside what it gave then."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

from weftwork.identity import text_hash
from weftwork.receipts.values import Receipt, Replay
from weftwork.request import Message, Request
from weftwork.turn.given import Given, Part
from weftwork.turn.prompt import is_message
from weftwork.turn.sources import LOOKED_BACK, Question, Search, turn_recipe
from weftwork.types import Budget
from weftwork.wire import decode

if TYPE_CHECKING:
    from weftwork.engine import Weft

MOST_MESSAGES = 1_000
Shown = tuple[dict[str, str], str]
"""The text of each source by its id, and the whole text."""


def replay(weft: Weft, receipt: Receipt) -> Replay:
    """Ask again for the user of a receipt, at the time of then."""
    shown, text = _turn(weft, receipt) if receipt.kind == "turn" else _context(weft, receipt)
    then = {each.citation: each.hash for each in receipt.used}
    now = {name: text_hash(each) for name, each in shown.items()}
    lost = [each for each in then if each not in now]
    with weft.store.view(receipt.workspace, receipt.user) as view:
        there = {each for each in lost if view.cited([each])}
    same_text = receipt.kind == "turn" or text_hash(text) == receipt.hash
    return Replay(
        receipt=receipt.id,
        same=list(then.items()) == list(now.items()) and same_text,
        version=weft.store.version(receipt.workspace),
        unchanged=tuple(each for each in then if now.get(each) == then[each]),
        changed=tuple(each for each in then if each in now and now[each] != then[each]),
        gone=tuple(each for each in lost if each not in there),
        unchosen=tuple(each for each in lost if each in there),
        added=tuple(each for each in now if each not in then),
        text=text,
    )


def _request(weft: Weft, receipt: Receipt) -> Request:
    hints = get_type_hints(Request)
    options: dict[str, Any] = {
        name: decode(hints[name], json.loads(value)) for name, value in receipt.options.items() if name in hints
    }
    request = Request(
        query=receipt.query,
        workspace=receipt.workspace,
        user=receipt.user,
        **{"budget": Budget(total=receipt.budget), **options},
    )
    return replace(request, filters=replace(request.filters, as_of=request.filters.as_of or receipt.at))


def _context(weft: Weft, receipt: Receipt) -> Shown:
    context = weft.assemble(_request(weft, receipt), weft.tools.recipes.get(receipt.recipe), receipt=False)
    return {piece.citation: piece.text for piece in context.pieces if piece.citation}, context.text


def _turn(weft: Weft, receipt: Receipt) -> Shown:
    """The sources that the same message adds to what was given before it."""
    recipe = turn_recipe(weft.tools.recipes.get(receipt.recipe))
    with weft.store.view(receipt.workspace, receipt.user) as view:
        children = view.children(receipt.thread, MOST_MESSAGES, last=True)
        messages = [node for node in view.nodes([child.id for child in children]) if is_message(node)]
    own = next((node.position for node in messages if node.id == receipt.message), 0)
    before = [Message(node.title, node.text) for node in messages if node.position < own][-LOOKED_BACK:]
    request = replace(_request(weft, receipt), history=tuple(before))
    given = Given(head=[Part("", name, (name,)) for name in receipt.earlier])
    search = Search(
        partial(weft.assemble, receipt=False), Question(request, recipe), given, json.loads(receipt.options["room"])
    )
    added = search.run(json.loads(receipt.options["named"]), memories=True, tools=True)
    return {part.citation: part.text for part in added.parts if part.citation}, "".join(p.text for p in added.parts)
