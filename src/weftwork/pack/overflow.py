"""Packing in order of score; choices that do not fit become lines (graph contract)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from weftwork.compose.offers import Choice
from weftwork.pack.ledger import Ledger, by_score, shortened
from weftwork.pack.pins import take_pinned
from weftwork.pack.protocol import Packing, Room, Shorten

FOR_LINES = 200
FEW_LEFT = 40
"""Fewer tokens than this are not worth a shortened text."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """Takes the best that fit, whole, and lists the documents of the others by one line each."""

    name: ClassVar[str] = "overflow"
    heading_tokens: int = 0
    """Tokens of the heading of the list, spent once if there is a list."""
    reserve: int | None = None
    """The most that all lines together may take; None for 200 tokens, or a twentieth of a larger budget."""
    least: int = 0
    """With fewer tokens left than this, even a choice that would fit becomes a line."""
    modest: bool = False
    """True gives lines only what the items leave, after the best that did not fit may have been shortened."""

    shortens: bool = False
    """True shortens the best that did not fit to what is left, beside the tokens that are held back for lines."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Decide on each choice within the room."""
        ledger = Ledger(choices, room)
        take_pinned(ledger, shorten)
        ranked = by_score(choices)
        waiting = _fill(ledger, ranked, self.least, trial=not self.modest)
        if waiting and not self.modest:
            ledger = Ledger(choices, room, held=self._held_for_lines(ledger, waiting))
            take_pinned(ledger, shorten)
            waiting = _fill(ledger, ranked, self.least)
        if self.modest or self.shortens:
            waiting = _shorten_best(ledger, waiting, shorten, max(FEW_LEFT, self.least))
        ledger.held = 0
        self._add_lines(ledger, _to_list(ledger, waiting))
        _take_into_rest(ledger, waiting, self.least)
        return ledger.packing()

    def _most_for_lines(self, room: Room) -> int:
        return max(FOR_LINES, room.total // 20) if self.reserve is None else self.reserve

    def _held_for_lines(self, ledger: Ledger, waiting: Sequence[int]) -> int:
        """Tokens to hold back for lines: no more than they can use, and 0 if not one would fit."""
        most = min(self._most_for_lines(ledger.room), ledger.room.total // 20)
        lines = [line for index in _to_list(ledger, waiting) if (line := ledger.choices[index].line) is not None]
        if not lines or most < self.heading_tokens + min(lines):
            return 0
        return min(most, self.heading_tokens + sum(lines))

    def _add_lines(self, ledger: Ledger, waiting: Sequence[int]) -> None:
        heading = self.heading_tokens
        before = ledger.used
        for index in waiting:
            if ledger.free <= heading or ledger.used - before >= self._most_for_lines(ledger.room):
                break
            line = ledger.choices[index].line
            if line is not None and line <= ledger.left_for(index) and line + heading <= ledger.free:
                ledger.spend(heading)
                ledger.take_line(index, "did not fit whole: listed by one line")
                heading = 0


def _to_list(ledger: Ledger, waiting: Sequence[int]) -> list[int]:
    """One choice for each document that is not shown yet: the choices to list."""
    first: dict[tuple[str, str], int] = {}
    for index in waiting:
        if not ledger.is_open(index):
            first.setdefault(ledger.choices[index].group, index)
    return list(first.values())


def _fill(ledger: Ledger, ranked: Sequence[int], least: int, *, trial: bool = False) -> list[int]:
    """Take what fits, the best first, then what fits into unused reserves; return the rest.

    After a `trial`, which is done again where anything is left, the rest has no fate.
    """
    waiting = [index for index in ranked if not ledger.settled(index)]
    reserved = bool(ledger.room.reserved)
    waiting = ledger.take_fitting(waiting, "among the best that fit", least, trial=trial or reserved)
    if not reserved:
        return waiting
    ledger.release()
    return ledger.take_fitting(waiting, "fits into what other sections did not use", least, trial=trial)


def _shorten_best(ledger: Ledger, waiting: Sequence[int], shorten: Shorten, least: int) -> list[int]:
    """Shorten the best hit that did not fit to the tokens left; return the choices still out."""
    for index in waiting:
        left = ledger.left_for(index)
        if left < least:
            break
        choice = ledger.choices[index]
        if choice.form != "hits" or ledger.is_cut(index) or ledger.waits(index):
            continue
        # What is shortened by itself has a heading, which its document may have already.
        shorter = shortened(choice, left + (choice.heading if ledger.is_open(index) else 0), shorten)
        if shorter is not None:
            ledger.take_shortened(index, shorter, f"shortened to the {left} tokens that were left")
        break
    return [index for index in waiting if ledger.fate(index) == "dropped"]


def _take_into_rest(ledger: Ledger, waiting: Collection[int], least: int) -> None:
    """Take whole what fits into the tokens that the lines did not need."""
    for index in waiting:
        if ledger.fate(index) == "dropped" and not ledger.waits(index):
            left = ledger.left_for(index)
            if ledger.cost(index) <= left and (ledger.is_open(index) or left >= least):
                ledger.take(index, "fits in what the list left over")
