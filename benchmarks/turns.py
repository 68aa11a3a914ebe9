"""What a conversation costs: tokens sent and not cached, and the evidence that the model has at each message.

LoCoMo: each conversation is a workspace, and a user asks its questions one after the other in one thread, with a
message that needs no sources now and then. Agents: three sessions with outputs of tools of some 20,000 tokens
(benchmarks/agent_sessions.py). Each way has the same budget for all messages of a request together:

  turn     `weft.turn`: sources are added once, before the message that they answer
  whole    a whole context for each message, before it, and the latest messages of the chat; outputs of tools are
           documents of the workspace, as they are for `turn`
  filled   the same by the recipe `conversation`, which fills the budget
  history  the latest messages that fit, and nothing else: of the chat, with tools' outputs as they are; for LoCoMo the
           conversation that is asked about stands before it

  sent      tokens of all requests
  uncached  of these, tokens behind the longest common prefix with the request before, byte for byte
  share     uncached tokens beside those of `whole`
  reuse     tokens that were cached, of all that were sent with the request before: the most that can be
  recall    share of the evidence that stands in the messages, word for word
  unneeded  share of messages that need none ("thanks!", "go on") for which sources were added

"difference" is the recall of `turn` minus that of `whole`, with the interval in which it lies for 95 % of resampled
sets of questions.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import memory
from benchmarks.agent_sessions import Session, Step, sessions
from benchmarks.corpus import data_folder
from benchmarks.timing import say
from weftwork import Message, Weft
from weftwork.collect import HistoryCollector
from weftwork.surface import surface

BUDGETS = (4_000, 8_000, 16_000)
WAYS = ("turn", "whole", "filled", "history")
ASIDES = ("hello!", "yes, do that", "thanks!", "go on", "perfect, thank you", "translate it to German", "wait", "👍")
"""Messages that need no sources."""
EVERY = 6
"""One of them stands after so many questions."""
HISTORY_SHARE = 4
"""Beside a whole context, the chat has one part in so many of the budget."""
RESAMPLED = 1_000
Chat = list[tuple[str, str]]
"""Roles and texts."""
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Account:
    """What one way cost, and what it showed."""

    sent: int = 0
    uncached: int = 0
    cached: int = 0
    possible: int = 0
    recalls: list[float] = field(default_factory=list)
    unneeded: list[bool] = field(default_factory=list)
    before: Chat = field(default_factory=list)
    before_tokens: int = 0

    def add(self, messages: Chat, count: Callable[[str], int]) -> None:
        """Enter a request."""
        tokens = sum(count(words) for _, words in messages)
        cached = _common(messages, self.before, count)
        self.sent, self.uncached = self.sent + tokens, self.uncached + tokens - cached
        self.cached, self.possible = self.cached + cached, self.possible + self.before_tokens
        self.before, self.before_tokens = messages, tokens


def _common(messages: Chat, before: Chat, count: Callable[[str], int]) -> int:
    """Tokens at the start that are the same, byte for byte."""
    cached = 0
    for one, other in zip(messages, before, strict=False):
        if one != other:
            same = _prefix(one[1], other[1]) if one[0] == other[0] else ""
            return cached + (count(same) if same else 0)
        cached += count(one[1])
    return cached


def _prefix(one: str, other: str) -> str:
    return one[: next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
                      min(len(one), len(other)))]  # fmt: skip


class Ways:
    """The accounts of all ways at one budget."""

    def __init__(self, weft: Weft, workspace: str, budget: int, past: Sequence[str] = ()) -> None:
        self.weft, self.workspace, self.budget = weft, workspace, budget
        self.past = past
        self.accounts = {way: Account() for way in WAYS}
        self.count = weft.tools.counter.count
        self.thread = weft.threads.create("asked", workspace=workspace).id
        self.chat: Chat = []
        self.full: Chat = [("user", text) for text in past]
        self.costs = [self.count(text) for text in past]
        self.clock = 0

    def ask(self, step: Step, needs: Sequence[str]) -> None:
        """Put one message to all ways."""
        with surface(""):
            turn = self.weft.turn(self.thread, step.message, budget=self.budget, workspace=self.workspace)
            if turn.tokens > self.budget or turn.tokens != sum(self.count(each["content"]) for each in turn.messages):
                raise SystemExit(f"a budget of {self.budget} tokens was not kept for {step.message!r}")
            sent = {"turn": [(each["role"], each["content"]) for each in turn.messages]}
            sent["whole"], added = self._whole(step.message, self._plain_recipe())
            sent["filled"], filled = self._whole(step.message, "conversation")
        sent["history"] = self._latest([*self.full, ("user", step.message)], self.budget)
        for way, messages in sent.items():
            account = self.accounts[way]
            account.add(messages, self.count)
            if needs:
                have = _plain("\n".join(words for _, words in messages))
                account.recalls.append(statistics.fmean(_plain(each) in have for each in needs))
            elif not step.tool:
                account.unneeded.append({"turn": turn.inject, "whole": added, "filled": filled}.get(way, False))
        if step.tool:
            with surface(""):
                turn.tool(step.tool, step.output)
        self._answer(step)

    def _answer(self, step: Step) -> None:
        output = [("user", f"Result of {step.tool}:\n{step.output}")] if step.tool else []
        self.full += [("user", step.message), *output, ("assistant", step.answer)]
        self.chat += [("user", step.message), ("assistant", step.answer)]
        with surface(""):
            self.weft.reply(self.thread, step.answer, workspace=self.workspace)

    def _whole(self, message: str, recipe: Any) -> tuple[Chat, bool]:
        """A whole context, and the latest messages of the chat."""
        before = self._latest(self.chat, self.budget // HISTORY_SHARE)
        room = self.budget - sum(self.count(words) for _, words in before) - self.count(message) - 4
        history = tuple(Message(role, words) for role, words in self.chat[-6:])
        context = self.weft.context(message, budget=room, workspace=self.workspace, history=history, recipe=recipe)
        return [*before, ("user", f"{context.text}\n\n{message}" if context.text else message)], bool(context.excerpts)

    def _plain_recipe(self) -> Any:
        """The default recipe without the history, which is sent as it is."""
        recipe = self.weft.tools.recipes.get("default")
        collectors = tuple(part for part in recipe.collectors if not isinstance(part, HistoryCollector))
        return replace(recipe, collectors=collectors)

    def _latest(self, messages: Sequence[tuple[str, str]], room: int) -> Chat:
        """The latest messages that fit; the last one whatever it counts, cut to its end."""
        taken: Chat = []
        for role, words in reversed(messages):
            cost = self.count(words)
            if cost > room:
                if room > 100:
                    taken.insert(0, (role, self.weft.tools.counter.truncate_start(words, room)))
                break
            taken.insert(0, (role, words))
            room -= cost
        return taken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this benchmark can be told."""
    parser.add_argument("--conversations", type=int, help="only the first so many of LoCoMo; 0 for none")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first so many")
    parser.add_argument("--questions", type=int, default=60, help="of each conversation (default: %(default)s)")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)), help="tokens (default: %(default)s)")
    parser.add_argument("--no-agents", action="store_true", help="leave out the sessions of agents")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of all ways at all budgets."""
    figures: dict[str, Any] = {}
    for budget in map(int, args.budgets.split(",")):
        locomo = list(_locomo(budget, args))
        if locomo:
            figures.setdefault("locomo", {})[str(budget)] = summary(locomo, args.seed)
        agents = [] if args.no_agents else [_agent(each, budget) for each in sessions(args.seed)]
        if agents:
            figures.setdefault("agents", {})[str(budget)] = summary(agents, args.seed)
        say(f"{budget} tokens: {json.dumps({name: each[str(budget)] for name, each in figures.items()})}")
    return figures


def summary(measured: Sequence[Mapping[str, Account]], seed: int) -> dict[str, Any]:
    """The figures of several conversations together."""
    totals: dict[str, Any] = {}
    for way in WAYS:
        accounts = [each[way] for each in measured]
        recalls = [value for each in accounts for value in each.recalls]
        unneeded = [value for each in accounts for value in each.unneeded]
        totals[way] = {
            "sent": sum(each.sent for each in accounts),
            "uncached": sum(each.uncached for each in accounts),
            "reuse": round(sum(e.cached for e in accounts) / max(1, sum(e.possible for e in accounts)), 3),
            "recall": round(statistics.fmean(recalls), 4),
            "unneeded": round(statistics.fmean(unneeded), 3) if unneeded else None,
        }
    whole = totals["whole"]["uncached"]
    for way in WAYS:
        totals[way]["share"] = round(totals[way]["uncached"] / whole, 3)
    pairs = [
        (turn, plain)
        for each in measured
        for turn, plain in zip(each["turn"].recalls, each["whole"].recalls, strict=True)
    ]
    return {"questions": len(pairs), **totals, "difference": _difference(pairs, seed)}


def _difference(pairs: Sequence[tuple[float, float]], seed: int) -> list[float]:
    draw = random.Random(seed)
    differences = [one - other for one, other in pairs]
    means = sorted(statistics.fmean(draw.choices(differences, k=len(differences))) for _ in range(RESAMPLED))
    ends = (means[RESAMPLED // 40], means[-RESAMPLED // 40 - 1])
    return [round(each, 4) for each in (statistics.fmean(differences), *ends)]


def _locomo(budget: int, args: argparse.Namespace) -> Iterable[dict[str, Account]]:
    path = data_folder() / "locomo_dev" / "locomo_dev.json"
    raw = json.loads(path.read_text(encoding="utf-8")) if args.conversations != 0 else []
    answers = {qa["question"]: str(qa.get("answer", "That is not known.")) for each in raw for qa in each["qa"]}
    conversations = list(memory._read(path)) if raw else []
    for conversation in conversations[args.skip :][: args.conversations]:
        texts = {turn.id: turn.text for turn in conversation.turns}
        with tempfile.TemporaryDirectory() as folder, _opened(Path(folder)) as weft:
            memory._fill(weft, conversation)
            ways = Ways(weft, conversation.name, budget, [turn.text for turn in conversation.turns])
            for place, (question, evidence) in enumerate(conversation.questions[: args.questions]):
                ways.ask(Step(question, answer=answers[question]), [texts[each] for each in sorted(evidence)])
                if place % EVERY == EVERY - 1:
                    ways.ask(Step(ASIDES[place // EVERY % len(ASIDES)], answer="You are welcome."), ())
            yield ways.accounts


def _agent(session: Session, budget: int) -> dict[str, Account]:
    with tempfile.TemporaryDirectory() as folder, _opened(Path(folder)) as weft:
        weft.add(session.notes)
        ways = Ways(weft, "main", budget)
        for step in session.steps:
            ways.ask(step, step.needs)
        return ways.accounts


def _opened(folder: Path) -> Weft:
    """An engine whose clock goes on by a second with each look, from the end of the conversations."""
    moment = datetime(2026, 3, 16, 9, tzinfo=UTC)

    def clock() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    return Weft.open(folder / "chat.weft", clock=clock)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
