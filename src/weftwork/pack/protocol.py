"""What every packer takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weftwork.errors import BudgetError
from weftwork.types import Candidate, Rendering

Shorten = Callable[[Candidate, int], Rendering | None]
"""A shorter rendering within so many tokens, or None if nothing sensible fits."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate with its exact cost in full and, where wanted, a way to name it in one line."""

    candidate: Candidate
    full: Rendering
    in_a_line: Callable[[Candidate], Rendering] | None = None
    """Makes the one-line form; few candidates ever need theirs."""

    @property
    def line(self) -> Rendering | None:
        """The one-line form, where there is one."""
        return None if self.in_a_line is None else self.in_a_line(self.candidate)

    @property
    def section(self) -> str:
        """The section that it would stand in."""
        return self.candidate.section


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens for items, the most that each section may take, and what is kept for each."""

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
class Outcome:
    """What became of a candidate, and why."""

    candidate: Candidate
    rendering: Rendering | None
    reason: str
    missing_tokens: int | None = None
    """How many tokens it lacked, when its turn came, to be taken whole; None if size was not the reason."""


@dataclass(frozen=True, slots=True)
class Packing:
    """One outcome for each choice, in the order of the choices, and the tokens that they take."""

    outcomes: tuple[Outcome, ...]
    used: int

    @property
    def chosen(self) -> tuple[Outcome, ...]:
        """Those that are shown, in whichever form."""
        return tuple(outcome for outcome in self.outcomes if outcome.rendering is not None)

    @property
    def dropped(self) -> tuple[Outcome, ...]:
        """Those that are not shown."""
        return tuple(outcome for outcome in self.outcomes if outcome.rendering is None)


class Packer(Protocol):
    """Chooses a rendering, or none, for each candidate; never more tokens than there is room."""

    @property
    def name(self) -> str:
        """The name under which it is registered."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Choose what is shown."""
