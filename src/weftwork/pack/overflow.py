"""In order of score; what does not fit becomes one line, inside the budget (graph contract)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from weftwork.pack.ledger import Ledger, by_score, shortened
from weftwork.pack.protocol import Choice, Packing, Room, Shorten
from weftwork.types import Candidate

MOST_FOR_LINES = 200


@dataclass(frozen=True, slots=True)
class Overflow:
    """Takes the best that fit, whole, and lists the others by one line each."""

    name: ClassVar[str] = "overflow"
    heading_tokens: int = 0
    """What the heading of the list costs, once, if there is a list."""
    reserve: int = MOST_FOR_LINES
    """The most that all lines together may take."""
    least: int = 0
    """Where fewer tokens than this are left, even what would fit becomes a line."""
    named_first: bool = False
    """Whether a node that was asked for by its name comes before better ones, shortened if need be."""
    modest: bool = False
    """Whether lines take only what the items leave, and only for titles that are not there already."""

    def pack(self, choices: Sequence[Choice], room: Room, shorten: Shorten) -> Packing:
        """Choose what is shown."""
        named = [index for index in by_score(choices) if self.named_first and _is_named(choices[index].candidate)]
        ledger = Ledger(choices, room)
        taken = _take_named(ledger, named, shorten, self.least)
        if self.modest:
            taken |= _drop_empty(ledger)
        waiting = _fill(ledger, self.least, taken, trial=not self.modest)
        if waiting and not self.modest:
            ledger = Ledger(choices, room, held=self._held_for_lines(ledger, waiting))
            waiting = _fill(ledger, self.least, _take_named(ledger, named, shorten, self.least))
            ledger.held = 0
        self._add_lines(ledger, _telling(ledger, waiting) if self.modest else waiting)
        _retry(ledger, waiting, self.least)
        return ledger.packing()

    def _held_for_lines(self, ledger: Ledger, waiting: Sequence[int]) -> int:
        """No more than the lines can use, and nothing if not even one of them would fit."""
        most, needed, least = min(self.reserve, ledger.room.total // 10), self.heading_tokens, self.reserve
        for index in waiting:
            line = ledger.choices[index].line
            if line is not None:
                needed += line.tokens
                least = min(least, line.tokens)
            if needed >= most >= self.heading_tokens + least:
                return most
        held = min(most, needed)
        return held if held >= self.heading_tokens + least else 0

    def _add_lines(self, ledger: Ledger, waiting: Sequence[int]) -> None:
        heading = self.heading_tokens
        before = ledger.used
        for index in waiting:
            if ledger.free <= heading or ledger.used - before >= self.reserve:
                break
            line = ledger.choices[index].line
            if line is not None and _fits(ledger, index, line.tokens, heading):
                missing = ledger.outcome(index).missing_tokens
                ledger.spend(heading)
                ledger.take(index, line, "did not fit whole: listed by one line", missing)
                heading = 0


def _drop_empty(ledger: Ledger) -> set[int]:
    """Leave out what has no text, no title and no fields: a heading alone answers nothing."""
    empty = {index for index, choice in enumerate(ledger.choices) if _is_empty(choice.candidate)}
    for index in empty:
        ledger.drop(index, "it has nothing to show")
    return empty


def _is_empty(candidate: Candidate) -> bool:
    return not (candidate.passage.text.strip() or candidate.node.title or candidate.node.fields)


def _telling(ledger: Ledger, waiting: Sequence[int]) -> list[int]:
    """Those whose line says something: each title once, and none that an item shows already."""
    shown = {each.candidate.node.id for each in ledger.packing().chosen}
    first: dict[str, int] = {}
    for index in waiting:
        node = ledger.choices[index].candidate.node
        if node.title and node.id not in shown:
            first.setdefault(node.id, index)
    return list(first.values())


def _is_named(candidate: Candidate) -> bool:
    """Whether it begins the node at which a walk starts that was asked for by id or by title."""
    node = candidate.node
    names = {node.id.casefold(), node.title.casefold()} - {""}
    begins = candidate.distance == 0 and candidate.passage.ordinal == 0
    return begins and any(reach.topic.strip().casefold() in names for reach in candidate.reached)


def _take_named(ledger: Ledger, named: Sequence[int], shorten: Shorten, least: int) -> set[int]:
    """Take these before all others, as far as they go in; the positions of those that did."""
    taken = set()
    for index in named:
        if ledger.left_for(index) < least:
            continue
        missing = ledger.missing(index)
        rendering = ledger.choices[index].full
        if missing is not None:
            cut = shortened(ledger.choices[index], ledger.left_for(index), shorten)
            if cut is None:
                continue
            rendering = cut
        ledger.take(index, rendering, "asked for by its name", missing)
        taken.add(index)
    return taken


def _fill(ledger: Ledger, least: int, taken: Collection[int], *, trial: bool = False) -> list[int]:
    """Take what fits, the best first, then what fits into unused shares; the positions of what did not."""
    order = [index for index in by_score(ledger.choices) if index not in taken]
    waiting = _take_whole(ledger, order, "among the best that fit", least, trial=trial)
    if not ledger.room.reserved:
        return waiting
    ledger.release()
    return _take_whole(ledger, waiting, "fits into what other sections did not use", least, trial=trial)


def _take_whole(ledger: Ledger, order: Sequence[int], reason: str, least: int, *, trial: bool) -> list[int]:
    """A trial only asks what would be left over, and needs no reasons for it."""
    waiting = []
    for index in order:
        choice = ledger.choices[index]
        if max(choice.full.tokens, least) <= ledger.left(choice.section):
            ledger.take(index, choice.full, reason)
        else:
            waiting.append(index)
            if not trial:
                ledger.refuse(index)
    return waiting


def _fits(ledger: Ledger, index: int, tokens: int, heading: int) -> bool:
    return tokens <= ledger.left_for(index) and tokens + heading <= ledger.free


def _retry(ledger: Ledger, waiting: Sequence[int], least: int) -> None:
    """Give what the lines did not need to those that have none."""
    for index in waiting:
        fits = ledger.missing(index) is None and ledger.left_for(index) >= least
        if ledger.outcome(index).rendering is None and fits:
            ledger.take(index, ledger.choices[index].full, "fits in what the list left over")
