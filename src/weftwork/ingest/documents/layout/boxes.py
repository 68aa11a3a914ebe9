"""Positioned text and tables on a page; coordinates grow to the right and down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A piece of one line."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool = False
    sideways: bool = False

    @property
    def height(self) -> float:
        """The height of its line."""
        return max(self.bottom - self.top, 0.1)

    @property
    def middle(self) -> float:
        """Its vertical centre."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells with their bounding box."""

    rows: tuple[tuple[str, ...], ...]
    x0: float
    top: float
    x1: float
    bottom: float


Item = Run | Table


def body_size(runs: Iterable[Run], default: float = 10.0) -> float:
    """The most common font size, by characters."""
    weights: dict[float, int] = {}
    for run in runs:
        key = round(run.size * 2) / 2
        weights[key] = weights.get(key, 0) + len(run.text)
    return max(weights, key=lambda size: (weights[size], -size)) if weights else default


def on_one_line(one: Run, other: Run) -> bool:
    """Return True if two runs are on one line, superscripts included."""
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared > 0.5 * min(one.height, other.height)


def rows_of(runs: Iterable[Run]) -> list[list[Run]]:
    """Group runs into rows, top down, each from left to right."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (run.middle, run.x0)):
        for row in reversed(rows[-3:]):
            if on_one_line(max(row, key=lambda other: other.height), run):
                row.append(run)
                break
        else:
            rows.append([run])
    for row in rows:
        row.sort(key=lambda run: run.x0)
    return rows


def joined(runs: Sequence[Run]) -> Run:
    """Join the runs of one line."""
    text = runs[0].text
    for before, run in pairwise(runs):
        space = "" if run.x0 - before.x1 < 0.12 * run.size else " "
        text += space + run.text
    largest = max(runs, key=lambda run: len(run.text))
    return Run(
        text=text,
        x0=min(run.x0 for run in runs),
        top=min(run.top for run in runs),
        x1=max(run.x1 for run in runs),
        bottom=max(run.bottom for run in runs),
        size=largest.size,
        bold=all(run.bold for run in runs),
    )


def lines_of(runs: Iterable[Run]) -> list[Run]:
    """Join runs of one line where the gap is that of a word, not that of a column."""
    lines = []
    for row in rows_of(runs):
        pending = [row[0]]
        for run in row[1:]:
            if run.x0 - pending[-1].x1 > 0.55 * max(run.size, pending[-1].size):
                lines.append(joined(pending))
                pending = []
            pending.append(run)
        lines.append(joined(pending))
    return lines


def letters_of(text: str) -> int:
    """The display width of a text in letters: an ideogram counts as two."""
    return len(text) + sum(1 for letter in text if "\u2e80" <= letter <= "\uffef")


def is_prose(column: Sequence[Run]) -> bool:
    """Return True for a column of text: long lines that mostly reach its end."""
    if not column:
        return False
    width = max(run.x1 for run in column) - min(run.x0 for run in column)
    full = mean(run.x1 - run.x0 > 0.75 * width for run in column)
    return full > 0.5 and mean(letters_of(run.text) for run in column) > 14
