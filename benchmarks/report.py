"""Showing figures, and keeping them with the commit that produced them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.corpus import REPOSITORY

RESULTS = Path(__file__).parent / "results"

Figures = Mapping[str, Any]


def table(figures: Figures) -> str:
    """Names and figures in two columns; nested ones are indented."""
    rows = list(_rows(figures))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}".rstrip() for name, value in rows)


def _rows(figures: Figures, indent: str = "") -> Iterator[tuple[str, str]]:
    for name, value in figures.items():
        if isinstance(value, Mapping) and any(isinstance(each, Mapping) for each in value.values()):
            yield indent + name, ""
            yield from _rows(value, indent + "  ")
        elif isinstance(value, Mapping):
            yield indent + name, "  ".join(f"{key} {_number(each)}" for key, each in value.items())
        else:
            yield indent + name, _number(value)


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def save(name: str, figures: Figures) -> Path:
    """Append the figures, with where they come from, to `results/NAME.jsonl`."""
    origin = {
        "commit": _git("rev-parse", "--short", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--", "src", "benchmarks/*.py")),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }
    path = RESULTS / f"{name}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**origin, **figures}) + "\n")
    return path


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(REPOSITORY), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
