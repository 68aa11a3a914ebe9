"""Packing in order of score until one does not fit (research and memory contracts)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from weftwork.compose.offers import Choice
from weftwork.pack.ledger import NEEDED, Ledger, by_score, shortened
from weftwork.pack.pins import take_pinned
from weftwork.pack.protocol import Packing, Room, Shorten

Squeeze = Callable[[Choice, int], Choice | None]

LEAST_SHARE = 200
"""Tokens below which a text is not shortened for the sake of those after it."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Takes the best, whole, until one does not fit; the very first is shortened instead."""

    name: ClassVar[str] = "ranked"
    shortens: bool = False
    """True shortens whatever does not fit to an equal share of what is left, and goes on with the next."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Decide on each choice within the room."""
        if self.shortens:
            return _pack_shares(choices, room, shorten)
        packing = pack_in_order(choices, room, shorten, squeeze=lambda choice, left: None)
        if packing.chosen:
            return packing
        # One long text in front must not leave the context empty.
        return pack_in_order(choices, room, shorten, squeeze=lambda choice, left: shortened(choice, left, shorten))


def pack_in_order(choices: Sequence[Choice], room: Room, shorten: Shorten, squeeze: Squeeze) -> Packing:
    """Take the best until one does not fit; that one may still be squeezed in, those after it not.

    If it is its section that is too small, only that section ends. Surroundings of a hit end nothing: a hit that
    is worth less may still fit where a whole section did not. What sections leave of their shares is for the next best.
    """
    ledger = Ledger(choices, room)
    take_pinned(ledger, shorten)
    order = [index for index in by_score(choices) if not ledger.settled(index)]
    if room.reserved:
        _take_in_order(ledger, order, squeeze=lambda choice, left: None)
        ledger.release()
        order = [index for index in order if ledger.fate(index) == "dropped"]
    _take_in_order(ledger, order, squeeze)
    return ledger.packing()


def _pack_shares(choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
    """Take the best, whole if they fit and else shortened to their share, until not even that is possible."""
    ledger = Ledger(choices, room)
    take_pinned(ledger, shorten)
    ledger.release()
    order = [index for index in by_score(choices) if not ledger.settled(index)]
    for place, index in enumerate(order):
        choice, left = ledger.choices[index], ledger.left_for(index)
        if ledger.waits(index):
            ledger.drop(index, NEEDED)
        elif ledger.cost(index) <= left:
            ledger.take(index, "among the best that fit")
        else:
            share = max(left // (len(order) - place), min(left, LEAST_SHARE))
            shorter = None if ledger.is_open(index) else shortened(choice, share, shorten)
            if shorter is None:
                _take_in_order(ledger, order[place:], squeeze=lambda choice, left: None)
                break
            ledger.take_shortened(index, shorter, f"shortened to its share of the {left} tokens that were left")
    return ledger.packing()


def _take_in_order(ledger: Ledger, order: Sequence[int], squeeze: Squeeze) -> None:
    ended: set[str] = set()
    stopped = False
    for index in order:
        choice = ledger.choices[index]
        left, over = ledger.left(choice.section), stopped or choice.section in ended
        if ledger.waits(index):
            ledger.drop(index, NEEDED)
        elif over and ledger.cost(index) <= left:
            ledger.drop(index, "a better one did not fit, and the packing ended there")
        elif ledger.cost(index) <= left:
            ledger.take(index, "among the best that fit")
        elif over or choice.form != "hits":
            ledger.refuse(index)
        else:
            if left < ledger.free:
                ended.add(choice.section)
            else:
                stopped = True
            shorter = None if ledger.is_open(index) else squeeze(choice, left)
            if shorter is None:
                ledger.refuse(index)
            else:
                ledger.take_shortened(index, shorter, f"shortened to the {left} tokens that were left")
