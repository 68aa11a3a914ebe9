"""Index the texts of a set in one way, answer its questions, and print what was found and what it took.

    python -m benchmarks.rivals.contestant NAME documents.jsonl questions.jsonl DEPTH BUDGET,BUDGET

It runs in the environment of the one that is measured, so it imports nothing but that and Weftwork's embedder, which
all share. The last line is one JSON object: by question the ranked pieces and, from those that fill a budget
themselves, what they put into each, each as [document, text]; and seconds, milliseconds with the last budget, and
memory.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Text:
    """A text of a set."""

    id: str
    title: str
    text: str

    @property
    def whole(self) -> str:
        """Title and text, as those take it who know no titles."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text, as it would be given to a model."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Ways:
    """How one of them is asked."""

    ranked: Callable[[str, int], Sequence[Piece]]
    """A question and how many pieces are wanted."""
    inside: Callable[[str, int], Sequence[Piece]] | None = None
    """A question and a budget in tokens, for those that keep one."""


def main() -> None:
    name, documents, questions, most, sizes = sys.argv[1:6]
    depth, budgets = int(most), [int(size) for size in sizes.split(",")]
    from weftwork.embed.static import StaticEmbedder  # noqa: PLC0415

    texts = [Text(line["id"], line["title"], line["text"]) for line in _lines(documents)]
    embedder = StaticEmbedder()
    embedder.embed("warm")
    module = importlib.import_module(f"benchmarks.rivals.{name}")
    began = time.perf_counter()
    ways: Ways = module.build(texts, embedder)
    indexed = time.perf_counter() - began
    asked = _lines(questions)
    _ask(ways, asked[0]["text"], depth, budgets[-1])  # what is loaded with the first question is not counted
    rankings, contexts, times = {}, {}, []
    for question in asked:
        began = time.perf_counter()
        context = _ask(ways, question["text"], depth, budgets[-1])
        times.append(1000 * (time.perf_counter() - began))
        ranking = context if ways.inside is None else ways.ranked(question["text"], depth)
        rankings[question["id"]] = _pairs(ranking)
        if ways.inside is not None:
            contexts[question["id"]] = {size: _pairs(ways.inside(question["text"], size)) for size in budgets}
    figures = {"index_s": indexed, "query_ms": times, "memory_mb": _largest()}
    print(json.dumps({"rankings": rankings, "contexts": contexts, **figures}))


def _pairs(pieces: Sequence[Piece]) -> list[tuple[str, str]]:
    return [(piece.document, piece.text) for piece in pieces]


def _largest() -> float:
    """Megabytes that this program had at most; `getrusage` would count those of the one that started it, too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(each for each in status.read_text(encoding="ascii").splitlines() if each.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def _ask(ways: Ways, question: str, depth: int, budget: int) -> Sequence[Piece]:
    """What one of them would give a model: a context within the budget, or a ranking to fill it with."""
    return ways.ranked(question, depth) if ways.inside is None else ways.inside(question, budget)


def _lines(path: str) -> list[dict[str, Any]]:
    with Path(path).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    main()
