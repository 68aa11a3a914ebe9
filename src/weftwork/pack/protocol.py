"""The protocol of packers: choices, the room for them, and their outcomes.

A document is offered part by part: its hits, and their surroundings. Each part that is taken makes the form in
which the document is shown a larger one, from a hit through a window and a section to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from weftwork.errors import BudgetError
from weftwork.types import Candidate, Form


@dataclass(frozen=True, slots=True)
class Rendering:
    """A text made shorter, with its exact cost and the share of its worth that it keeps."""

    text: str
    tokens: int
    worth: float = 1.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A part of a document that may be shown, with its cost and value."""

    candidate: Candidate
    """The hit that it is, or that it stands around."""
    tokens: int
    """Tokens that it adds to the text, without the heading of its document."""
    score: float
    form: Form = "hits"
    """The form that its document has with it."""
    document: str = ""
    """The document that it is a part of, within its section; empty if it stands alone."""
    heading: int = 0
    """Tokens of the document's heading, spent once, with the first part that is taken."""
    after: int | None = None
    """The position of the choice without which it makes no sense."""
    line: int | None = None
    """Tokens of its document as one line; None where there is no such form."""
    pinned: bool = False
    """True if it was asked for: it is packed before all others."""
    keys: tuple[int, ...] = ()
    """The passages that it adds."""

    @property
    def section(self) -> str:
        """The section that it would stand in."""
        return self.candidate.section

    @property
    def group(self) -> tuple[str, str]:
        """Equal for the parts of one document in one section."""
        alone = f"{self.candidate.passage.citation}\0{self.candidate.node.id}"
        return self.section, self.document or alone


Shorten = Callable[[Choice, int], Rendering | None]
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
class Outcome:
    """A choice as it was taken, or not, and the reason."""

    choice: Choice
    taken: Literal["whole", "truncated", "line"] | None
    reason: str
    tokens: int = 0
    """Tokens that it took of the room."""
    missing_tokens: int | None = None
    """Tokens that it lacked, when its turn came, to be taken whole; None if size was not the reason."""
    rendering: Rendering | None = None
    """Its shorter version, if that was taken."""


@dataclass(frozen=True, slots=True)
class Packing:
    """One outcome for each choice, in the order of the choices, and the tokens that they take."""

    outcomes: tuple[Outcome, ...]
    used: int

    @property
    def chosen(self) -> tuple[Outcome, ...]:
        """Outcomes that are shown, in any form."""
        return tuple(outcome for outcome in self.outcomes if outcome.taken is not None)

    @property
    def dropped(self) -> tuple[Outcome, ...]:
        """Outcomes that are not shown."""
        return tuple(outcome for outcome in self.outcomes if outcome.taken is None)


class Packer(Protocol):
    """Takes choices whole, shortened or not at all; never more tokens than there is room."""

    @property
    def name(self) -> str:
        """The name under which it is registered."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Decide on each choice within the room."""
