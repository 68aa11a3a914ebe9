"""The turn: one call for each message of a chat or an agent."""

from __future__ import annotations

from weftwork.turn.turns import TURN_BUDGET, Turns
from weftwork.turn.values import Compacted, Place, Reply, ToolResult, Turn, TurnFields, TurnOptions, Withdrawal

__all__ = [
    "TURN_BUDGET",
    "Compacted",
    "Place",
    "Reply",
    "ToolResult",
    "Turn",
    "TurnFields",
    "TurnOptions",
    "Turns",
    "Withdrawal",
]
