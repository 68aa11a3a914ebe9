"""Decides which candidates enter the context, in which form, within the budget."""

from __future__ import annotations

from collections.abc import Callable

from weftwork.compose.offers import Choice
from weftwork.errors import UnknownName
from weftwork.pack.density import Density
from weftwork.pack.greedy import Greedy
from weftwork.pack.ledger import Choices, Ledger, by_score, shortened
from weftwork.pack.overflow import Overflow
from weftwork.pack.pins import take_pinned
from weftwork.pack.protocol import Packer, Packing, Room, Shorten
from weftwork.pack.ranked import Ranked
from weftwork.pack.sections import caps_of, check_budget, room_for

__all__ = [
    "PACKERS",
    "Choice",
    "Choices",
    "Ledger",
    "Overflow",
    "Packer",
    "Packing",
    "Room",
    "Shorten",
    "by_score",
    "caps_of",
    "check_budget",
    "get_packer",
    "room_for",
    "shortened",
    "take_pinned",
]


def _optimal() -> Packer:
    from weftwork.pack.optimal import Optimal  # noqa: PLC0415  # start-up time: it imports numpy

    return Optimal()


_MAKERS: dict[str, Callable[[], Packer]] = {
    "ranked": Ranked,
    "greedy": Greedy,
    "density": Density,
    "optimal": _optimal,
    "overflow": Overflow,
}

PACKERS = tuple(_MAKERS)
"""The names of the packers."""


def get_packer(name: str | Packer) -> Packer:
    """The packer of that name, with the contracts' settings; a packer itself is handed back."""
    if not isinstance(name, str):
        return name
    if name not in _MAKERS:
        raise UnknownName("packer", name, PACKERS)
    return _MAKERS[name]()
