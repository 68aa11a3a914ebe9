"""Packing by score per token, with a bound on how much one type may take (thread contract)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from weftwork.compose.offers import Choice
from weftwork.pack.ledger import NEEDED, Ledger, by_score, take_best_shortened
from weftwork.pack.pins import take_pinned
from weftwork.pack.protocol import Packing, Room, Shorten
from weftwork.score.node_type import item_type

TYPE_PERCENT = 70
TYPE_RULE_AFTER = 5
ENOUGH_PERCENT = 90
ENOUGH_ITEMS = 10
HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Density:
    """Takes choices by score per token, skips those that do not fit, and mixes their types."""

    name: ClassVar[str] = "density"
    fill: bool = False
    """True takes what the rule about types held back into room that nothing else needs, the best score first."""
    least_tokens: int = 1
    """Tokens that every choice counts as having, so that a heading alone is not the best of all."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Decide on each choice within the room."""
        ledger = Ledger(choices, room)
        take_pinned(ledger, shorten)
        first = {index for index in range(len(choices)) if ledger.settled(index)} | _take_latest(ledger)
        types = Counter(item_type(choices[index].candidate) for index in first if ledger.fate(index) != "dropped")
        mixed = len({item_type(choice.candidate) for choice in choices}) > 1
        held_back: list[int] = []
        for index in (index for index in _by_density(choices, self.least_tokens) if index not in first):
            kind = item_type(choices[index].candidate)
            if ledger.waits(index):
                ledger.drop(index, NEEDED)
            elif types.total() >= ENOUGH_ITEMS and ledger.used * 100 > room.total * ENOUGH_PERCENT:
                ledger.drop(
                    index, f"{types.total()} of more score per token used over {ENOUGH_PERCENT} % of the budget"
                )
                held_back.append(index)
            elif ledger.missing(index) is not None:
                ledger.refuse(index)
            elif mixed and types.total() > TYPE_RULE_AFTER and types[kind] * 100 > types.total() * TYPE_PERCENT:
                ledger.drop(index, f"its type already fills {TYPE_PERCENT} % of the context")
                held_back.append(index)
            else:
                ledger.take(index, "among the best scores per token")
                types[kind] += 1
        if self.fill:
            _take_held_back(ledger, held_back)
        if not types:
            take_best_shortened(ledger, by_score(choices), shorten)
        return ledger.packing()


def _take_held_back(ledger: Ledger, held_back: Sequence[int]) -> None:
    """Take what fits of what the rule about types left out, and then what waited for it."""
    waiting = set(held_back) | {index for index, choice in enumerate(ledger.choices) if choice.after is not None}
    for index in by_score(ledger.choices):
        left_out = index in waiting and ledger.fate(index) == "dropped"
        if left_out and not ledger.waits(index) and ledger.missing(index) is None:
            ledger.take(index, "fits into what other types did not need")


def _take_latest(ledger: Ledger) -> set[int]:
    """Take the latest messages that fit into the reserve of the history; return their positions.

    Score per token would take the shortest ones, whichever they are.
    """
    left = ledger.room.reserved.get(HISTORY, 0)
    taken: set[int] = set()
    messages = (
        index
        for index in by_score(ledger.choices)
        if ledger.choices[index].section == HISTORY
        and ledger.choices[index].after is None
        and not ledger.settled(index)
    )
    for index in sorted(messages, key=lambda index: _age(ledger.choices, index)):
        tokens = ledger.cost(index)
        if tokens <= left and ledger.missing(index) is None:
            ledger.take(index, "among the latest that the share of the history holds")
            left -= tokens
            taken.add(index)
    return taken


def _age(choices: Sequence[Choice], index: int) -> int:
    """The rank at which the collector of the history found a choice, 1 for the latest message."""
    findings = choices[index].candidate.findings
    return min((finding.rank for finding in findings if finding.kind == HISTORY), default=len(choices))


def _by_density(choices: Sequence[Choice], least_tokens: int) -> list[int]:
    """Sort by score per token; surroundings are never denser than their hit."""
    densities: dict[int, float] = {}

    def density(index: int) -> float:
        if index not in densities:
            choice = choices[index]
            alone = choice.score / max(least_tokens, choice.tokens + choice.heading)
            densities[index] = alone if choice.after is None else min(alone, density(choice.after))
        return densities[index]

    return sorted(by_score(choices), key=density, reverse=True)
