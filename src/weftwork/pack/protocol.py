"""The protocol of packers: the room for choices, and what becomes of them.

A document is offered part by part: its hits, and their surroundings. Each part that is taken makes the form in
which the document is shown a larger one, from a hit through a window and a section to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, overload

from weftwork.compose.offers import Choice
from weftwork.errors import BudgetError
from weftwork.types import Excerpt, Fate

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


Decided = tuple[Fate, str, int, int | None, Excerpt | None]
"""The fate of a choice, the reason, the tokens spent and missing, and the shorter version."""


class Outcomes(Sequence[Choice]):
    """Choices with the fates that a packer decided on, each made when it is read: a text is packed several times."""

    __slots__ = ("_choices", "_decided")

    def __init__(self, choices: Sequence[Choice], decided: Mapping[int, Decided]) -> None:
        self._choices = choices
        self._decided = decided

    def __len__(self) -> int:
        return len(self._choices)

    @overload
    def __getitem__(self, place: int) -> Choice: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Choice]: ...

    def __getitem__(self, place: int | slice) -> Choice | Sequence[Choice]:
        if isinstance(place, slice):
            return [self._outcome(each) for each in range(*place.indices(len(self._choices)))]
        return self._outcome(range(len(self._choices))[place])

    def _outcome(self, place: int) -> Choice:
        choice = self._choices[place]
        return Choice(
            choice.candidate, choice.tokens, choice.score, choice.form, choice.document, choice.heading,
            choice.after, choice.line_price, choice.pinned, choice.keys, *self._decided[place],
        )  # fmt: skip

    def shown(self) -> list[int]:
        """The positions of choices that are shown, in any form."""
        return sorted(place for place, decided in self._decided.items() if decided[0] != "dropped")

    def missing(self) -> Iterable[tuple[Fate, int | None]]:
        """The fate of each choice with the tokens that it lacks."""
        return [(decided[0], decided[3]) for decided in self._decided.values()]


@dataclass(frozen=True, slots=True)
class Packing:
    """The choices with the fate of each, in the order in which they were given, and the tokens that they take."""

    outcomes: Sequence[Choice]
    used: int

    def shown(self) -> list[int]:
        """The positions of choices that are shown, in any form."""
        if isinstance(self.outcomes, Outcomes):
            return self.outcomes.shown()
        return [place for place, choice in enumerate(self.outcomes) if choice.fate != "dropped"]

    def missing(self) -> Iterable[tuple[Fate, int | None]]:
        """The fate of each choice with the tokens that it lacks."""
        if isinstance(self.outcomes, Outcomes):
            return self.outcomes.missing()
        return [(choice.fate, choice.missing_tokens) for choice in self.outcomes]

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
