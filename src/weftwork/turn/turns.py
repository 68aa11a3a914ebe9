"""Turns of a conversation: what to send to the model for a message, within one budget that is exact.

`messages` of a turn begin, byte for byte, with those of the turn before, unless something in them became hidden, false
or changed, or there was no room left: then older messages are compacted, once for many turns.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Unpack

from weftwork.answer import check_sources
from weftwork.errors import InvalidInput
from weftwork.options import named_options
from weftwork.pack import check_budget
from weftwork.recipe import Recipe
from weftwork.request import Message, Request
from weftwork.store.protocol import View
from weftwork.turn.asking import asks_for_sources
from weftwork.turn.compaction import compact
from weftwork.turn.given import Given, Part, parts_of, withdraw
from weftwork.turn.prompt import compose, is_message
from weftwork.turn.sources import (
    LEAST,
    LOOKED_BACK,
    REMEMBERED,
    Added,
    Question,
    Search,
    has_memories,
    has_tool_results,
    named_recipe,
    new_memories,
    standing_memories,
    turn_recipe,
)
from weftwork.turn.tool_results import ToolResults
from weftwork.turn.values import Compacted, Place, Reply, ToolResult, Turn, TurnOptions, Withdrawal
from weftwork.types import Budget, Filters, Node
from weftwork.validation import check_request
from weftwork.write.threads import KIND

if TYPE_CHECKING:
    from weftwork.engine import Weft

TURN_BUDGET = 16_000
"""Tokens of all messages of a turn, unless told otherwise."""
SHARE = 8
"""A turn adds at most one part in so many of its budget."""
HEAD_SHARE = 8
"""Rules and standing memories get at most one part in so many of the budget beside the rules themselves."""
AFTER_COMPACTION = 2
"""One part in so many of the budget is used after older messages were compacted, so that it holds for many turns."""
MOST_MESSAGES = 1_000
LOCKS = 64


class _Place(NamedTuple):
    thread: str
    user: str
    workspace: str


class Turns:
    """The turns of an engine's threads. Thread-safe."""

    def __init__(self, weft: Weft, workspace: str, user: str) -> None:
        """`workspace` and `user` are those of calls that name none."""
        self._weft = weft
        self._workspace = workspace
        self._user = user
        self._recipes: dict[int, tuple[Recipe, Recipe]] = {}
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    @named_options(TurnOptions)
    def turn(self, thread: str, message: str, **options: Unpack[TurnOptions]) -> Turn:
        """Post a user's message, and return what to send to the model for it."""
        place = self._place(thread, options)
        budget, rules = self._checked(message, options)
        recipe, least = self._recipe(options.get("recipe", "default")), options.get("min_support")
        check_request(
            Request(workspace=place.workspace, user=place.user, budget=Budget(total=budget), min_support=least)
        )
        tool = partial(self.tool, thread, user=place.user, workspace=place.workspace)
        with self._locks[hash(place) % LOCKS]:
            name = self._weft.threads.post(thread, message, user=place.user, workspace=place.workspace)[0]
            return _Turn(self._weft, place, name, budget, rules, recipe).made(message, least, tool)

    @named_options(Place)
    def tool(self, thread: str, name: str, output: str, *, keep: bool = False, **where: Unpack[Place]) -> ToolResult:
        """Put a tool's output into a thread; a large one becomes a document, and the model gets a preview."""
        place = self._place(thread, where)
        with self._locks[hash(place) % LOCKS]:
            return ToolResults(self._weft, *place).add(name, output, keep=keep)

    @named_options(Place)
    def reply(self, thread: str, text: str, **where: Unpack[Place]) -> Reply:
        """Post the model's answer, check its citations against all that the thread was given, and count their use."""
        place = self._place(thread, where)
        if not isinstance(text, str) or not text.strip():
            raise InvalidInput(f"an answer must be text, got {text!r}")
        with self._locks[hash(place) % LOCKS]:
            given = self._given(place)
            with self._weft.store.view(place.workspace, place.user) as view:
                asked = [node for node in _messages(view, thread, given.start) if node.title != "assistant"]
                check = check_sources(text, view.cited(list(given.ever)), given.ever, asked[-1].text if asked else "")
            posted = self._weft.threads.post(thread, text, role="assistant", user=place.user, workspace=place.workspace)
            used = [citation.id for citation in check.used]
            counted = self._weft.threads.count_use(used, user=place.user, workspace=place.workspace) if used else 0
            given.find(used)
            self._save(place, given)
            if given.receipt:
                self._weft.receipts.answered(given.receipt, check, place.workspace)
        return Reply(posted[0], check, counted, given.receipt)

    @named_options(Place)
    def compact(self, thread: str, *, keep: int = 2_000, **where: Unpack[Place]) -> Compacted:
        """Shorten a thread's history to `keep` tokens; later turns go on from there.

        Rules, standing memories, decisions, open tasks and cited sources survive.
        """
        place = self._place(thread, where)
        check_budget(Budget(total=keep))
        with self._locks[hash(place) % LOCKS]:
            given = self._given(place)
            with self._weft.store.view(place.workspace, place.user) as view:
                withdraw(given, view, self._weft.now())
                result = compact(given, _messages(view, thread, given.start), keep, self._weft.tools.counter)
            self._save(place, given)
        return result

    def _recipe(self, recipe: str | Recipe) -> Recipe:
        """The recipe of turns for a recipe; the same object each time, since contexts are cached by it."""
        chosen = self._weft.tools.recipes.get(recipe)
        if id(chosen) not in self._recipes:
            self._recipes[id(chosen)] = (chosen, turn_recipe(chosen))
        return self._recipes[id(chosen)][1]

    def _checked(self, message: object, options: TurnOptions) -> tuple[int, str]:
        if not isinstance(message, str) or not message.strip():
            raise InvalidInput(f"a message must be text, got {message!r}")
        budget, rules = options.get("budget"), options.get("rules", "")
        budget = TURN_BUDGET if budget is None else budget
        check_budget(Budget(total=budget))
        if not isinstance(rules, str):
            raise InvalidInput(f"rules must be text, got {rules!r}")
        count = self._weft.tools.counter.count
        needed = count(message) + count(rules)
        if needed > budget:
            raise InvalidInput(
                f"the message and the rules count {needed} tokens, more than the budget of {budget}: "
                "shorten them or give a larger budget"
            )
        return budget, rules

    def _place(self, thread: str, options: TurnOptions | Place) -> _Place:
        if not isinstance(thread, str):
            raise KIND.missing(thread)
        for name in ("user", "workspace"):
            if not isinstance(options.get(name, ""), str | None):
                raise InvalidInput(f"a {name} is named by text, got {options.get(name)!r}")
        return _Place(thread, options.get("user") or self._user, options.get("workspace") or self._workspace)

    def _given(self, place: _Place) -> Given:
        with self._weft.store.view(place.workspace, place.user) as view:
            if not any(KIND.includes(node) for node in view.nodes([place.thread])):
                raise KIND.missing(place.thread)
        return Given.read(self._weft.store.given.get(place.workspace, place.thread, user=place.user))

    def _save(self, place: _Place, given: Given) -> None:
        self._weft.store.given.put(
            place.workspace, place.thread, user=place.user, given=given.written(), at=self._weft.now()
        )


class _Turn:
    """One turn in the making."""

    def __init__(self, weft: Weft, place: _Place, message: str, budget: int, rules: str, recipe: Recipe) -> None:
        self.weft, self.place, self.name = weft, place, message
        self.budget, self.rules, self.recipe = budget, rules, recipe
        self.counter = weft.tools.counter
        self.now = weft.now()
        self.given = Given.read(weft.store.given.get(place.workspace, place.thread, user=place.user))
        self.before = self.given.sent
        self.compacted = False
        self.kinds: dict[str, bool] = {}

    def made(self, message: str, min_support: float | None, record_tool: object) -> Turn:
        """The turn, once what it was given is stored and its receipt written."""
        with self.weft.store.view(self.place.workspace, self.place.user) as view:
            (thread,) = view.nodes([self.place.thread])
            withdrawn, changed = withdraw(self.given, view, self.now)
            self._head(view)
            stored = _messages(view, self.place.thread, self.given.start)
            told = new_memories(view, self.place.user, self.given.since(thread.created_at), self.now)
            self.kinds = {
                "memories": has_memories(view, self.now),
                "tools": has_tool_results(view, self.place.thread),
            }
        self.given.turns += 1
        messages = self._with_room(stored)
        known = self.given.citations()
        shown = {node for part in self.given.parts() for node in part.nodes}
        named = [*changed, *(name for name in told if name not in shown)]
        question = self._question(message, messages, min_support)
        added = self._fitting(question, messages, named, withdrawn)
        prompt = compose(self.given, messages, self.counter)
        self.given.add(added.parts)
        self.given.find(added.repeated)
        stable, cached = prompt.prefix(self.before, self.counter)
        self.given.at, self.given.sent = self.now.isoformat(), prompt.sent()
        turn = Turn(
            thread=self.place.thread,
            message=self.name,
            inject=any(part.citation for part in added.parts),
            reason=added.reason,
            text="".join(part.text for part in self.given.injected.get(self.name, ())),
            messages=prompt.written(),
            tokens=prompt.tokens,
            cached_tokens=cached,
            budget=self.budget,
            stable_messages=stable,
            citations=tuple(part.citation for part in added.parts if part.citation),
            withdrawn=tuple(withdrawn),
            support=added.support,
            compacted=self.compacted,
            warnings=added.warnings,
            record_tool=record_tool,  # type: ignore[arg-type]
        )
        receipt = self.weft.receipts.of_turn(turn, question.request, self.recipe, added, sorted(known))
        self.given.receipt = receipt
        self.weft.store.given.put(
            self.place.workspace, self.place.thread, user=self.place.user, given=self.given.written(), at=self.now
        )
        return replace(turn, receipt=receipt)

    def _question(self, message: str, messages: Sequence[Node], min_support: float | None) -> Question:
        before = tuple(Message(node.title, node.text) for node in messages[:-1][-LOOKED_BACK:])
        in_messages = frozenset(node.id for node in messages)
        request = Request(
            query=message,
            workspace=self.place.workspace,
            user=self.place.user,
            budget=Budget(total=self.budget),
            thread=self.place.thread,
            history=before,
            filters=Filters(exclude=in_messages | {self.place.thread}),
            min_support=min_support,
            decay=self.weft.tools.decay,
        )
        return Question(request, self.recipe)

    def _head(self, view: View) -> None:
        """Make the system message with the first turn, after a compaction, and where the rules are others."""
        rules = Part(f"{self.rules.strip()}\n\n" if self.rules.strip() else "", kind="rules")
        if self.given.head and self.given.head[0].text == rules.text and self.given.turns:
            return
        kept = [part for part in self.given.head[1:] if self.given.turns]
        self.given.head = [rules, *(kept or self._remembered(view))]

    def _remembered(self, view: View) -> list[Part]:
        """The user's standing memories."""
        names = [info.id for info in standing_memories(view, self.place.user, self.now)]
        room = self.budget // HEAD_SHARE
        if not names or room < LEAST:
            return []
        recipe = replace(named_recipe(self.recipe), template=REMEMBERED)
        request = Request(
            workspace=self.place.workspace, user=self.place.user, budget=Budget(total=room), include=tuple(names)
        )
        context = self.weft.assemble(request, recipe, receipt=False)
        parts = parts_of(context, "standing")
        self.given.add(parts)
        return [Part(REMEMBERED.header, kind="standing"), *parts, Part("\n", kind="standing")] if parts else []

    def _with_room(self, messages: Sequence[Node]) -> Sequence[Node]:
        """The messages that are sent as they are, with the older ones compacted where no room would be left."""
        used = compose(self.given, messages, self.counter).tokens
        wanted = self.budget // SHARE // 2 if asks_for_sources(messages[-1].text) else 0
        if used + wanted <= self.budget or (len(messages) == 1 and used <= self.budget):
            return messages
        self.compacted = True
        own, older = messages[-1], messages[:-1]
        rules = self.counter.count(self.given.head[0].text) if self.given.head else 0
        room = max(0, self.budget // AFTER_COMPACTION - self.counter.count(own.text) - rules)
        compact(self.given, older, room, self.counter)
        remaining = [node for node in messages if node.position >= self.given.start]
        if compose(self.given, remaining, self.counter).tokens > self.budget:  # the message alone is nearly all
            self.given.head, self.given.injected, self.given.start = self.given.head[:1], {}, own.position
            remaining = [own]
        return remaining

    def _fitting(
        self,
        question: Question,
        messages: Sequence[Node],
        named: Sequence[str],
        withdrawn: Sequence[Withdrawal],
    ) -> Added:
        """Fit what the message adds into the room that is left: exact on the text as it is sent."""
        notice = _notice(withdrawn)
        self.given.injected[self.name] = notice
        left = self.budget - compose(self.given, messages, self.counter).tokens
        if left < 0:
            notice, self.given.injected[self.name] = [], []
            left = self.budget - compose(self.given, messages, self.counter).tokens
        room = min(left, self.budget // SHARE)
        assemble = partial(self.weft.assemble, receipt=False)
        while True:
            added = Search(assemble, question, self.given, room - LEAST // 2).run(named, **self.kinds)
            self.given.injected[self.name] = [*notice, *added.parts]
            over = compose(self.given, messages, self.counter).tokens - self.budget
            if over <= 0 or not added.parts:
                break
            room -= over + 1
        if not self.given.injected[self.name]:
            del self.given.injected[self.name]
        return added


def _messages(view: View, thread: str, start: int) -> list[Node]:
    """The messages of a thread from a position on."""
    children = view.children(thread, MOST_MESSAGES, last=True)
    return [
        node for node in view.nodes([child.id for child in children if child.position >= start]) if is_message(node)
    ]


def _notice(withdrawn: Iterable[Withdrawal]) -> list[Part]:
    """Tell the model of sources that were withdrawn from the messages."""
    named = [f"[{each.citation}] ({each.reason})" for each in withdrawn]
    return [Part(f"Withdrawn since the last message, disregard: {', '.join(named)}.\n\n")] if named else []
