"""Shares of a few places among owners, so that nobody crowds out what others linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

Value = TypeVar("Value")


def in_shares(values: Sequence[Value], owner: Callable[[Value], str | None], share: int) -> list[Value]:
    """The values in their order, those last that are more than `share` of one owner's; without one, none are."""
    counts: Counter[str] = Counter()
    within: list[Value] = []
    beyond: list[Value] = []
    for value in values:
        name = owner(value)
        if name is not None:
            counts[name] += 1
        (within if name is None or counts[name] <= share else beyond).append(value)
    return within + beyond
