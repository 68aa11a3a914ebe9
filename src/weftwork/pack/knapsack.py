"""Exact dynamic programmes over token counts, in numpy.

A curve holds at position w the best value that w tokens can buy, so it never falls. Values are whole
numbers in float64: sums are exact, whichever way they are grouped, and ties are real ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Curve = NDArray[np.float64]
Bits = NDArray[np.uint8]
Picks = list[list[Bits]]
"""For each option of each item, one bit per position: was it at least as good as the options before?"""


class Option(NamedTuple):
    """One way to take an item; an item's options are in the order of cost and of value."""

    cost: int
    value: float


Items = Sequence[Sequence[Option]]


def extend(curve: Curve, items: Items) -> tuple[Curve, Picks]:
    """The curve after at most one option of each item was added, and the picks at each position.

    The last item comes first, so that recovery meets the first item first and prefers it in a tie.
    """
    size = len(curve)
    picks: Picks = []
    for options in reversed(items):
        before, curve = curve, curve.copy()
        better = []
        for cost, value in options:
            taken = before[: max(0, size - cost)] + value
            better.append(np.packbits(taken >= curve[cost:]))
            np.maximum(curve[cost:], taken, out=curve[cost:])
        picks.append(better)
    return curve, picks[::-1]


def recover(picks: Picks, items: Items, tokens: int) -> tuple[list[int | None], int]:
    """The option picked for each item within `tokens`, and the tokens that are left."""
    chosen: list[int | None] = []
    for better, options in zip(picks, items, strict=True):
        number = None
        for last in range(len(options) - 1, -1, -1):
            place = tokens - options[last].cost
            if place >= 0 and better[last][place // 8] >> (7 - place % 8) & 1:
                number = last
                break
        chosen.append(number)
        tokens -= 0 if number is None else options[number].cost
    return chosen, tokens


def combine(first: Curve, second: Curve) -> Curve:
    """The best value that w tokens can buy from both: the max-plus convolution of equal lengths."""
    if np.count_nonzero(np.diff(first)) < np.count_nonzero(np.diff(second)):
        first, second = second, first
    best: Curve = first + second[0]
    # Where the second does not rise, fewer tokens buy as much.
    for tokens in np.flatnonzero(np.diff(second)) + 1:
        np.maximum(best[tokens:], first[: len(first) - tokens] + second[tokens], out=best[tokens:])
    return best


def divide(first: Curve, second: Curve, tokens: int) -> int:
    """The number of tokens for the second curve at which both together are worth most."""
    return int(np.argmax(first[tokens::-1] + second[: tokens + 1]))
