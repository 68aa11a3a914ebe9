"""The figures of the benchmark of contexts as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.floors import FLOORS

COLUMNS = (
    ("recall", "recall"),
    ("complete", "all"),
    ("own_words", "own"),
    ("against_order", "order"),
    ("repeated_headings", "heads"),
    ("duplicates", "dupl"),
    ("used", "used"),
    ("filled", "filled"),
    ("underfilled", "<95%"),
    ("empty", "empty"),
    ("asked_for", "asked"),
)


def table(figures: Mapping[str, Any]) -> str:
    """A block for each set with a line for each recipe and budget, then recall by kind of question."""
    return "\n".join((*_sets(figures), *_kinds(figures), *_worst(figures)))


def _sets(figures: Mapping[str, Any]) -> Iterator[str]:
    head = [*(short for _, short in COLUMNS), *FLOORS, "lead to the best of these"]
    for name, found in figures["sets"].items():
        yield f"{name}, {found['questions']} questions"
        yield _row("", "", head)
        for recipe, by_budget in found["recipes"].items():
            for budget, means in by_budget.items():
                cells = [_number(means.get(column)) for column, _ in COLUMNS]
                floors = [_number(found["floors"][budget][floor]["recall"]) for floor in FLOORS]
                yield _row(recipe, budget, [*cells, *floors, _lead(means["lead"])])
        yield ""


def _kinds(figures: Mapping[str, Any]) -> Iterator[str]:
    ways = (*figures["recipes"], *FLOORS)
    for budget in map(str, figures["budgets"] if figures["kinds"] else ()):
        yield f"recall by kind of question, all vaults, {budget} tokens"
        yield _row("", "", list(ways))
        for kind, found in figures["kinds"].items():
            yield _row(kind, "", [_number(found[budget][way]) for way in ways])
        yield ""


def _worst(figures: Mapping[str, Any]) -> Iterator[str]:
    first = figures["recipes"][0]
    for row in figures["worst"]:
        floor = max(row[name] for name in FLOORS)
        yield f"{row['id']:<20} {first} {row[first]:.2f}  best floor {floor:.2f}  {row['question']}"


def _row(name: str, budget: str, cells: Sequence[str]) -> str:
    return f"{name:<10}{budget:>6}" + "".join(f"{cell:>8}" for cell in cells[:-1]) + f"  {cells[-1]:>6}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _lead(lead: Mapping[str, Any]) -> str:
    return f"{lead['mean']:+.2f} [{lead['low']:+.2f}, {lead['high']:+.2f}] {lead['floor']:<6} {lead['verdict']}"
