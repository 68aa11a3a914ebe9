"""The best set of options under a total, with a cap and a reserve for each section.

A section in use is charged for its tokens, or for its reserve if that is more; the charges together
stay within the total. Sections are bound to their limits only when an optimum without them breaks one:
an optimum of fewer constraints that breaks none is the optimum of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weftwork.pack.knapsack import Curve, Items, Option, Picks, combine, divide, extend, recover
from weftwork.pack.protocol import Room

Chosen = list[int | None]


def best_options(items: Items, sections: Sequence[str], room: Room) -> Chosen:
    """The number of the option to take for each item, or None to leave it out."""
    problem = _Problem(items, sections, room)
    bound: tuple[str, ...] = ()
    while True:
        chosen = problem.solve(bound)
        broken = problem.broken(chosen, bound)
        if not broken:
            return chosen
        bound += broken


class _Problem:
    def __init__(self, items: Items, sections: Sequence[str], room: Room) -> None:
        self.items = items
        self.rows: dict[str, list[int]] = {}
        self._curves: dict[str, tuple[Curve, Picks]] = {}
        for row, section in enumerate(sections):
            self.rows.setdefault(section, []).append(row)
        demand = {
            section: sum(max((option.cost for option in items[row]), default=0) for row in rows)
            for section, rows in self.rows.items()
        }
        # What nobody can use only makes the tables longer.
        self.caps = {section: min(room.cap(section), tokens) for section, tokens in demand.items()}
        self.owed = {section: min(room.reserved.get(section, 0), cap) for section, cap in self.caps.items()}
        self.total = min(room.total, sum(demand.values()))

    def _of(self, rows: Sequence[int]) -> list[Sequence[Option]]:
        return [self.items[row] for row in rows]

    def solve(self, bound: Sequence[str]) -> Chosen:
        """The optimum when these sections keep to their limits and the others only to the total."""
        spare = self.total - sum(self.owed[section] for section in bound)
        curve: Curve = np.zeros(spare + 1)
        layers = []
        for section in bound:
            section_curve, picks = self._section_curve(section)
            # The tokens of its reserve are free to it: they are charged in any case.
            charged = section_curve[self._allowance(section, np.arange(spare + 1))]
            layers.append((section, picks, curve, charged))
            curve = combine(curve, charged)
        free = [row for section, rows in self.rows.items() if section not in bound for row in rows]
        chosen: Chosen = [None] * len(self.items)
        left = self._settle(chosen, sorted(free), extend(curve, self._of(sorted(free)))[1], spare)
        for section, picks, before, charged in reversed(layers):
            extra = divide(before, charged, left)
            self._settle(chosen, self.rows[section], picks, int(self._allowance(section, np.array(extra))))
            left -= extra
        return chosen

    def _section_curve(self, section: str) -> tuple[Curve, Picks]:
        """The curve of a section by itself, up to its cap; computed once."""
        if section not in self._curves:
            empty = np.zeros(self.caps[section] + 1)
            self._curves[section] = extend(empty, self._of(self.rows[section]))
        return self._curves[section]

    def _allowance(self, section: str, extra: NDArray[np.int_]) -> NDArray[np.int_]:
        return np.minimum(self.owed[section] + extra, self.caps[section])

    def _settle(self, chosen: Chosen, rows: Sequence[int], picks: Picks, tokens: int) -> int:
        numbers, left = recover(picks, self._of(rows), tokens)
        for row, number in zip(rows, numbers, strict=True):
            chosen[row] = number
        return left

    def broken(self, chosen: Chosen, bound: Sequence[str]) -> tuple[str, ...]:
        """Sections that must be bound because a limit does not hold without that."""
        used: Counter[str] = Counter()
        for section, rows in self.rows.items():
            for row in rows:
                number = chosen[row]
                used[section] += 0 if number is None else self.items[row][number].cost
        crowded = sum(max(used[section], owed) for section, owed in self.owed.items()) > self.total
        return tuple(
            section
            for section in self.rows
            if section not in bound
            and (used[section] > self.caps[section] or (crowded and used[section] < self.owed[section]))
        )
