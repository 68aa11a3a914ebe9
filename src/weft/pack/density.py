"""By score per token, with a bound on how much one type may take (thread contract)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from weft.pack.ledger import Ledger, by_score, shortened
from weft.pack.protocol import Choice, Packing, Room, Shorten

TYPE_PERCENT = 70
TYPE_RULE_AFTER = 5
ENOUGH_PERCENT = 90
ENOUGH_ITEMS = 10


class Density:
    """Takes what gives most score per token, skips what does not fit, and mixes types."""

    name = "density"

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Choose what is shown."""
        ledger = Ledger(choices, room)
        types: Counter[str] = Counter()
        for index in _by_density(choices):
            kind = choices[index].candidate.node.type
            if _enough(ledger, types.total()):
                ledger.drop(index, f"over {ENOUGH_PERCENT} % of the budget was used by {types.total()} better ones")
            elif ledger.missing(index) is not None:
                ledger.refuse(index)
            elif _dominates(types[kind], types.total()):
                ledger.drop(index, f"its type already fills {TYPE_PERCENT} % of the context")
            else:
                ledger.take(index, choices[index].full, "among the best scores per token")
                types[kind] += 1
        if not types:
            _take_best_shortened(ledger, shorten)
        return ledger.packing()


def _by_density(choices: Sequence[Choice]) -> list[int]:
    def density(index: int) -> float:
        return choices[index].candidate.score / max(1, choices[index].full.tokens)

    return sorted(by_score(choices), key=density, reverse=True)


def _enough(ledger: Ledger, chosen: int) -> bool:
    return chosen >= ENOUGH_ITEMS and ledger.used * 100 > ledger.room.total * ENOUGH_PERCENT


def _dominates(of_type: int, chosen: int) -> bool:
    return chosen > TYPE_RULE_AFTER and of_type * 100 > chosen * TYPE_PERCENT


def _take_best_shortened(ledger: Ledger, shorten: Shorten) -> None:
    """The thread contract takes the first item even if it is over the budget; here it is cut to fit."""
    for index in by_score(ledger.choices):
        left = ledger.left_for(index)
        rendering = shortened(ledger.choices[index], left, shorten)
        if rendering is not None:
            reason = f"nothing fits whole: the best one, shortened to {left} tokens"
            ledger.take(index, rendering, reason, ledger.missing(index))
            return
