"""Receipts of contexts and turns that were handed out."""

from __future__ import annotations

from weftwork.receipts.receipts import MOST_RECEIPTS, Receipts
from weftwork.receipts.values import Answered, LeftOut, Receipt, Replay, Used

__all__ = ["MOST_RECEIPTS", "Answered", "LeftOut", "Receipt", "Receipts", "Replay", "Used"]
