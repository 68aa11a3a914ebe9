"""Packing in order of score, the last one truncated (workspace contract, 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from weftwork.compose.offers import Choice
from weftwork.pack.ledger import shortened
from weftwork.pack.protocol import Packing, Room, Shorten
from weftwork.pack.ranked import pack_in_order


@dataclass(frozen=True, slots=True)
class Greedy:
    """Takes the best, whole; the first that does not fit is shortened if enough room is left."""

    name: ClassVar[str] = "greedy"
    min_left: int = 100
    """Shorten only if more than this is left, as in the workspace contract (`usedTokens + 100 < budget.total`)."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Decide on each choice within the room."""

        def squeeze(choice: Choice, left: int) -> Choice | None:
            return shortened(choice, left, shorten) if left > self.min_left else None

        return pack_in_order(choices, room, shorten, squeeze)
