"""How far the weights of the recipe "research" depend on the questions that they were chosen on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weftwork import Budget, Filters, Request, Weft
from weftwork.compose.ordering import Best
from weftwork.engine import DEFAULT_USER, DEFAULT_WORKSPACE
from weftwork.faces.research.store import research_recipe
from weftwork.tools import DEFAULT_BUDGET
from weftwork.types import PAGE

SIGNALS = ("page_words", "page_meaning", "page_look")
STEPS = 20
"""Weights are tried in steps of a twentieth, all that add up to 1."""
SPLITS = 200
DEEPEST = 200

Page = tuple[str, int]


def hold_out(
    weft: Weft, questions: Sequence[str], gold: Sequence[frozenset[Page]], depths: Sequence[int], seed: int
) -> dict[str, Any]:
    """Choose weights on half of the questions and measure them on the other half, many times.

    What is compared is the mean of the recall at all depths.
    """
    weights = (
        np.array([(a, b, STEPS - a - b) for a, b in product(range(STEPS + 1), repeat=2) if a + b <= STEPS]) / STEPS
    )
    found = np.stack(
        [
            _recall(*_graded(weft, each, depths), wanted, weights, depths)
            for each, wanted in zip(questions, gold, strict=True)
        ]
    )
    alone = {name: int(np.flatnonzero(weights[:, place] == 1)[0]) for place, name in enumerate(SIGNALS)}
    draw = np.random.default_rng(seed)
    chosen, fitted, confirmed, words = [], [], [], []
    for _ in range(SPLITS):
        order = draw.permutation(len(found))
        here, there = found[order[: len(order) // 2]].mean(axis=0), found[order[len(order) // 2 :]].mean(axis=0)
        best = int(here.argmax())
        chosen.append(weights[best])
        fitted.append(here[best])
        confirmed.append(there[best])
        words.append(there[alone["page_words"]])
    return {
        "splits": SPLITS,
        "fitted": _mean(fitted),
        "confirmed": _mean(confirmed),
        "words_alone": _mean(words),
        "better_than_words_alone": _mean(np.array(confirmed) > np.array(words)),
        "weights": {
            name: [round(float(each), 2) for each in np.percentile(np.array(chosen)[:, place], (10, 50, 90))]
            for place, name in enumerate(SIGNALS)
        },
    }


def _graded(weft: Weft, question: str, depths: Sequence[int]) -> tuple[list[Page], NDArray[np.float64]]:
    """All pages that a search for the deepest looks at, not its first few only, and what speaks for each."""
    request = Request(
        query=question,
        workspace=DEFAULT_WORKSPACE,
        user=DEFAULT_USER,
        budget=Budget(total=DEFAULT_BUDGET),
        filters=Filters(types=frozenset({PAGE})),
    )
    pages = weft.rank(request, replace(research_recipe("hybrid", max(depths)), order=Best(DEEPEST))).candidates
    signals: list[Mapping[str, Any]] = [page.signals for page in pages]
    return [(str(page.node.fields["filename"]), page.node.position) for page in pages], np.array(
        [[each.get(name) or 0.0 for name in SIGNALS] for each in signals]
    )


def _recall(
    pages: Sequence[Page],
    grades: NDArray[np.float64],
    gold: frozenset[Page],
    weights: NDArray[np.float64],
    depths: Sequence[int],
) -> NDArray[np.float64]:
    """For each choice of weights, the share of the gold pages among the first few, averaged over the depths."""
    hits = np.array([page in gold for page in pages], dtype=float)
    order = np.argsort(-(grades @ weights.T), axis=0, kind="stable")
    found: NDArray[np.float64] = np.mean([hits[order[:depth]].sum(axis=0) for depth in depths], axis=0) / len(gold)
    return found


def _mean(values: Any) -> float:
    return round(float(np.mean(values)), 4)
