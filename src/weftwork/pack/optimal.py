"""The set of renderings that is worth most (the thread contract's dynamic programme, for several forms)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from weftwork.pack.exact import best_options
from weftwork.pack.knapsack import Option
from weftwork.pack.ledger import Ledger, by_score, shortened, take_best_shortened
from weftwork.pack.protocol import Choice, Packing, Room, Shorten
from weftwork.types import Rendering

SHORTEN_ABOVE = 120
"""Cutting what is shorter than this saves little."""
EXACT_BITS = 53
"""Whole numbers of so many bits are exact in float64."""
SMALLEST_SCORE = 1e-250
"""Smaller scores are positive, but no longer compared."""


class Optimal:
    """Takes each candidate whole, shortened, as a line or not at all, for the greatest total value.

    Where that is nothing, the best one is cut to fit.
    """

    name = "optimal"

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Choose what is shown."""
        ledger = Ledger(choices, room)
        ranked = [index for index in by_score(choices) if choices[index].candidate.score > 0]
        for index in set(range(len(choices))) - set(ranked):
            ledger.drop(index, "score 0")
        if not _take_all(ledger, ranked):
            _take_best(ledger, ranked, shorten)
        if not ledger.packing().chosen:
            take_best_shortened(ledger, ranked, shorten)
        return ledger.packing()


def _take_all(ledger: Ledger, ranked: Sequence[int]) -> bool:
    """If all fit whole there is nothing to choose, and nothing has to be shortened."""
    trial = Ledger(ledger.choices, ledger.room)
    for index in ranked:
        if trial.missing(index) is not None:
            return False
        trial.take(index, ledger.choices[index].full, "")
    for index in ranked:
        ledger.take(index, ledger.choices[index].full, "everything fits")
    return True


def _take_best(ledger: Ledger, ranked: Sequence[int], shorten: Shorten) -> None:
    forms = [_forms(ledger.choices[index], ledger.room, shorten) for index in ranked]
    items = _options([ledger.choices[index].candidate.score for index in ranked], forms, ledger.room)
    sections = [ledger.choices[index].section for index in ranked]
    numbers = best_options(items, sections, ledger.room)
    left_out = []
    for index, renderings, number in zip(ranked, forms, numbers, strict=True):
        if number is None:
            left_out.append(index)
        elif renderings[number].form == "full":
            ledger.take(index, renderings[number], "in the best set for this budget")
        else:
            ledger.take(index, renderings[number], "in the best set for this budget in this shorter form")
    for index in left_out:
        reason = ledger.obstacle(index, otherwise="lower score per token than what was chosen")
        ledger.drop(index, reason, ledger.missing(index) or 1)


def _forms(choice: Choice, room: Room, shorten: Shorten) -> list[Rendering]:
    """The forms that may be chosen: each costs more than the one before and is worth more."""
    forms = [choice.full]
    if choice.full.tokens > SHORTEN_ABOVE:
        forms += [form for part in (2, 4) if (form := shortened(choice, choice.full.tokens // part, shorten))]
    if choice.line is not None:
        forms.append(choice.line)
    useful: list[Rendering] = []
    for form in sorted(forms, key=lambda form: (form.tokens, -form.worth)):
        if form.worth > (useful[-1].worth if useful else 0.0) and form.tokens <= room.cap(choice.section):
            useful.append(form)
    return useful


def _options(scores: Sequence[float], forms: Sequence[Sequence[Rendering]], room: Room) -> list[list[Option]]:
    """Values as whole numbers, less one for each token: of two equal sets, the smaller is better."""
    valued = [[(form.tokens, score * form.worth) for form in of] for score, of in zip(scores, forms, strict=True)]
    step = 1 + min(room.total, sum(of[-1][0] for of in valued if of))
    scale = _decimal_scale(
        highest=max((value for of in valued for _, value in of), default=1.0),
        steps=2**EXACT_BITS // (step * max(1, len(valued))),
    )
    return [[Option(tokens, max(1, round(value * scale)) * step - tokens) for tokens, value in of] for of in valued]


def _decimal_scale(highest: float, steps: int) -> float:
    """The power of ten that turns values into at most so many steps.

    Decimal, so that 0.3 + 0.6 is no less than 0.9; for 300 candidates and 10,000 tokens, nine digits.
    """
    return float(10.0 ** math.floor(math.log10(steps) - math.log10(max(highest, SMALLEST_SCORE))))
