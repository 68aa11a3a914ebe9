"""The set of forms that is worth most (the thread contract's dynamic programme, for several forms)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weftwork.compose.offers import Choice
from weftwork.pack.exact import best_options
from weftwork.pack.knapsack import Option
from weftwork.pack.ledger import Ledger, by_score, shortened, take_best_shortened
from weftwork.pack.pins import take_pinned
from weftwork.pack.protocol import Packing, Room, Shorten

SHORTEN_ABOVE = 120
"""Shortening a text of fewer tokens saves little."""
LINE_WORTH = 0.1
"""The share of its score that a line is worth."""
EXACT_BITS = 53
"""Bits of whole numbers that are exact in float64."""
SMALLEST_SCORE = 1e-250
"""Smaller scores are positive, but no longer compared."""


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to show a document: its first parts by score, the best part shortened, or a line."""

    tokens: int
    value: float
    parts: tuple[int, ...] = ()
    shorter: Choice | None = None


class Optimal:
    """Shows each document in the form, or not at all, that makes the total value greatest.

    Where that is nothing, the best one is cut to fit.
    """

    name = "optimal"

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Decide on each choice within the room."""
        ledger = Ledger(choices, room)
        take_pinned(ledger, shorten)
        ranked = [index for index in by_score(choices) if choices[index].score > 0 and not ledger.settled(index)]
        for index in set(range(len(choices))) - set(ranked):
            if not ledger.settled(index):
                ledger.drop(index, "score 0")
        if not _take_all(ledger, ranked):
            _take_best(ledger, ranked, shorten)
        if not any(ledger.fate(index) != "dropped" for index in range(len(choices))):
            take_best_shortened(ledger, ranked, shorten)
        return ledger.packing()


def _take_all(ledger: Ledger, ranked: Sequence[int]) -> bool:
    """Take all of them whole if they fit; return False, with nothing taken, if not."""
    trial = Ledger(ledger.choices, ledger.room)
    for index in range(len(ledger.choices)):
        if ledger.fate(index) == "included":
            trial.take(index, "")
    for index in ranked:
        if trial.missing(index) is not None:
            return False
        trial.take(index, "")
    for index in ranked:
        ledger.take(index, "everything fits")
    return True


def _take_best(ledger: Ledger, ranked: Sequence[int], shorten: Shorten) -> None:
    room = _room_left(ledger)
    documents: dict[tuple[str, str], list[int]] = {}
    for index in ranked:
        documents.setdefault(ledger.choices[index].group, []).append(index)
    offers = [_forms(ledger, parts, room, shorten) for parts in documents.values()]
    sections = [ledger.choices[parts[0]].section for parts in documents.values()]
    numbers = best_options(_options(offers, room), sections, room)
    for parts, forms, number in zip(documents.values(), offers, numbers, strict=True):
        if number is not None:
            _show(ledger, parts, forms[number])
    for index in ranked:
        if not ledger.settled(index):
            reason = ledger.obstacle(index, otherwise="lower score per token than what was chosen")
            ledger.drop(index, reason, ledger.missing(index) or 1)


def _room_left(ledger: Ledger) -> Room:
    """The room left after pinned choices, which count for the share of their section."""
    if not ledger.used:
        return ledger.room
    sections = sorted({choice.section for choice in ledger.choices})
    return Room(ledger.free, {section: ledger.left(section) for section in sections})


def _show(ledger: Ledger, parts: Sequence[int], form: _Form) -> None:
    if form.shorter is not None:
        ledger.take_shortened(parts[0], form.shorter, "in the best set for this budget in this shorter form")
    elif not form.parts:
        ledger.take_line(parts[0], "in the best set for this budget in this shorter form")
    for index in form.parts:
        ledger.take(index, "in the best set for this budget")


def _forms(ledger: Ledger, parts: Sequence[int], room: Room, shorten: Shorten) -> list[_Form]:
    """The forms that a document may have: each costs more than the one before and is worth more."""
    first = ledger.choices[parts[0]]
    forms: list[_Form] = []
    tokens, value = 0 if ledger.is_open(parts[0]) else first.heading, 0.0
    for count, index in enumerate(parts, start=1):
        tokens += ledger.choices[index].tokens
        value += ledger.choices[index].score
        # What was priced by rendering it may count less than its heading was taken to.
        forms.append(_Form(max(0, tokens), value, tuple(parts[:count])))
    if not ledger.is_open(parts[0]):
        whole = first.tokens + first.heading
        if whole > SHORTEN_ABOVE:
            cuts = [cut for share in (2, 4) if (cut := shortened(first, whole // share, shorten))]
            forms += [_Form(cut.tokens + cut.heading, cut.score, shorter=cut) for cut in cuts]
        if first.line is not None:
            forms.append(_Form(first.line, LINE_WORTH * first.score))
    useful: list[_Form] = []
    for form in sorted(forms, key=lambda form: (form.tokens, -form.value)):
        if form.value > (useful[-1].value if useful else 0.0) and form.tokens <= room.cap(first.section):
            useful.append(form)
    return useful


def _options(offers: Sequence[Sequence[_Form]], room: Room) -> list[list[Option]]:
    """Values as whole numbers, less one for each token: of two equal sets, the smaller is better."""
    step = 1 + min(room.total, sum(forms[-1].tokens for forms in offers if forms))
    scale = _decimal_scale(
        highest=max((form.value for forms in offers for form in forms), default=1.0),
        steps=2**EXACT_BITS // (step * max(1, len(offers))),
    )
    return [
        [Option(form.tokens, max(1, round(form.value * scale)) * step - form.tokens) for form in forms]
        for forms in offers
    ]


def _decimal_scale(highest: float, steps: int) -> float:
    """The power of ten that turns values into at most `steps` steps.

    Decimal, so that 0.3 + 0.6 is no less than 0.9; for 300 candidates and 10,000 tokens, nine digits.
    """
    return float(10.0 ** math.floor(math.log10(steps) - math.log10(max(highest, SMALLEST_SCORE))))
