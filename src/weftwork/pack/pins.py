"""Pinned choices: packed before all others, whole, shortened, or at least as a line."""

from __future__ import annotations

from weftwork.pack.ledger import Ledger, by_score, shortened
from weftwork.pack.protocol import Shorten

ASKED = "asked for"


def take_pinned(ledger: Ledger, shorten: Shorten) -> None:
    """Take pinned choices, the best first, leaving room for a line of each that is still to come."""
    waiting = by_score(ledger.choices, [index for index, choice in enumerate(ledger.choices) if choice.pinned])
    for place, index in enumerate(waiting):
        if ledger.waits(index):
            continue
        later = {ledger.choices[other].group: other for other in waiting[place + 1 :]}
        later.pop(ledger.choices[index].group, None)
        held_for_lines = sum(ledger.choices[other].line or 0 for other in later.values())
        left = min(ledger.left_for(index), ledger.free - held_for_lines)
        # Several that were asked for share what there is; what one does not need is there for the next.
        share = max(left // (1 + len(later)), left - sum(ledger.cost(other) for other in later.values()))
        if ledger.cost(index) <= share:
            ledger.take(index, ASKED)
            continue
        shorter = None if ledger.is_open(index) else shortened(ledger.choices[index], min(left, share), shorten)
        line = ledger.choices[index].line
        if shorter is not None:
            ledger.take_shortened(index, shorter, f"{ASKED}, shortened to {min(left, share)} tokens")
        elif line is not None and not ledger.is_open(index) and line <= min(ledger.left_for(index), ledger.free):
            ledger.take_line(index, f"{ASKED}, did not fit whole")
        else:
            ledger.refuse(index)
