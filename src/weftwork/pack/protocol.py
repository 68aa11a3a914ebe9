"""The protocol of packers: the room for choices, and what becomes of them.

A document is offered part by part: its hits, and their surroundings. Each part that is taken makes the form in
which the document is shown a larger one, from a hit through a window and a section to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weftwork.compose.offers import Choice
from weftwork.errors import BudgetError

Shorten = Callable[[Choice, int], Choice | None]
"""A shorter version of a choice within a limit of tokens, its heading included; None if too little would be left."""


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens for items, with a cap and a reserve for each section."""

    total: int
    caps: Mapping[str, int] = field(default_factory=dict)
    reserved: Mapping[str, int] = field(default_factory=dict)
    """Tokens that only this section may use; caps alone let two sections together starve a third."""

    def __post_init__(self) -> None:
        if sum(self.reserved.values()) > self.total:
            raise BudgetError(f"sections reserve {sum(self.reserved.values())} tokens of {self.total}: reserve less")

    def cap(self, section: str) -> int:
        """The most that a section may take."""
        return min(self.caps.get(section, self.total), self.total)


@dataclass(frozen=True, slots=True)
class Packing:
    """The choices with the fate of each, in the order in which they were given, and the tokens that they take."""

    outcomes: tuple[Choice, ...]
    used: int

    @property
    def chosen(self) -> tuple[Choice, ...]:
        """Choices that are shown, in any form."""
        return tuple(choice for choice in self.outcomes if choice.fate != "dropped")

    @property
    def dropped(self) -> tuple[Choice, ...]:
        """Choices that are not shown."""
        return tuple(choice for choice in self.outcomes if choice.fate == "dropped")


class Packer(Protocol):
    """Takes choices whole, shortened or not at all; never more tokens than there is room."""

    @property
    def name(self) -> str:
        """The name under which it is registered."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Decide on each choice within the room."""
