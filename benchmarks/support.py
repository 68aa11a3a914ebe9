"""Support: contexts that stay empty where nothing answers, and those that should not.

Each set is asked its own questions, the same without the texts that answer them (removed, where whole texts do),
questions of other sets (off_topic), questions that its vault does not answer (unanswered, questions/nothing.jsonl),
and random letters (nonsense). For each kind: the share of questions that get
nothing with the default `min_support`, and the area under the curve of support against the questions of all sets
themselves. The scale was chosen on the sets under "fitted"; the others were not looked at.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.context_sets import SETS, ContextSet, open_set
from benchmarks.corpus import data_folder
from benchmarks.measures import Document
from benchmarks.timing import say
from benchmarks.vaults import VAULTS
from weftwork.types import Filters

FITTED = (*VAULTS, "ir_cisi", "ir_cranfield", "ir_med", "multihop_hotpotqa100_train", "multihop_musique100")
OTHERS = ("anthropic_cookbook_docs", "anthropic_cookbook_code", "cosqa_code_search", "azure_hr_docs", "locomo_dev")
KINDS = ("own", "removed", "unanswered", "off_topic", "nonsense")
BY_PAGES = ("azure_hr_docs",)
"""Sets whose gold is named by pages, not by nodes."""
BORROWED = 4
"""Questions of each other set that are off topic."""
NONSENSE = 10
LETTERS = "bcdfghjklmnpqrstvwxzaeiou"
BUDGET = 500

Supports = dict[str, list[float]]
Asked = tuple[str, str, frozenset[str]]
"""A question, the workspace that is asked, and the nodes that are left out."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its own options."""
    parser.add_argument("--questions", type=int, default=60, help="only the first so many of each set")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of both groups of sets, and of each set."""
    draw = random.Random(args.seed)
    chosen = {name: SETS[name](name, data_folder(), False) for name in (*FITTED, *OTHERS)}
    figures: dict[str, Any] = {}
    for group, names in (("fitted", FITTED), ("held_out", OTHERS)):
        pooled: Supports = {kind: [] for kind in KINDS}
        for name in names:
            supports = _supports(chosen[name], dict(_asked(chosen, name, args.questions, draw)))
            say(f"{name}: {json.dumps({kind: _silent(values) for kind, values in supports.items()})}")
            figures[name] = {f"silent_{kind}": _silent(values) for kind, values in supports.items() if values}
            for kind, values in supports.items():
                pooled[kind] += values
        figures[group] = {f"silent_{kind}": _silent(values) for kind, values in pooled.items() if values} | {
            f"auc_{kind}": _auc(pooled["own"], values) for kind, values in pooled.items() if values and kind != "own"
        }
    return figures


def _asked(sets: dict[str, ContextSet], name: str, most: int, draw: random.Random) -> Iterator[tuple[str, list[Asked]]]:
    """The questions of each kind."""
    questions = sets[name].questions[:most]
    place = questions[0].workspace
    yield "own", [(each.text, each.workspace, frozenset()) for each in questions]
    judged = {each: frozenset(gold.name for gold in each.gold if isinstance(gold, Document)) for each in questions}
    if sets[name].vault is None and name not in BY_PAGES:
        yield "removed", [(each.text, each.workspace, gold) for each, gold in judged.items() if gold]
    lines = (Path(__file__).parent / "questions" / "nothing.jsonl").read_text("utf-8").splitlines()
    unanswered = [each["question"] for each in map(json.loads, lines) if each["set"] == name]
    yield "unanswered", [(text, place, frozenset()) for text in unanswered]
    kind = name.partition("_")[0]
    others = [each for other, each in sets.items() if other.partition("_")[0] != kind]
    borrowed = [each.text for other in others for each in draw.sample(other.questions, BORROWED)]
    yield "off_topic", [(text, place, frozenset()) for text in borrowed]
    nonsense = (" ".join(_letters(draw) for _ in range(draw.randint(2, 5))) for _ in range(NONSENSE))
    yield "nonsense", [(text, place, frozenset()) for text in nonsense]


def _letters(draw: random.Random) -> str:
    return "".join(draw.choice(LETTERS) for _ in range(draw.randint(3, 8)))


def _supports(chosen: ContextSet, asked: dict[str, list[Asked]]) -> Supports:
    """The support of each question; 1 where it is not judged."""
    with open_set(chosen.store) as weft:
        for workspace in {place for questions in asked.values() for _, place, _ in questions}:
            weft.catch_up(workspace)

        def support(question: str, workspace: str, left_out: frozenset[str]) -> float:
            filters = Filters(exclude=left_out)
            reached = weft.context(question, workspace=workspace, budget=BUDGET, filters=filters).support
            return 1.0 if reached is None else reached

        return {kind: [support(*each) for each in questions] for kind, questions in asked.items()}


def _silent(values: Sequence[float]) -> float | None:
    """The share of questions that get nothing."""
    return round(sum(value < 0.5 for value in values) / len(values), 3) if values else None


def _auc(own: Sequence[float], others: Sequence[float]) -> float:
    """The chance that a question with an answer has more support than one without."""
    wins = sum((mine > other) + 0.5 * (mine == other) for mine in own for other in others)
    return round(wins / len(own) / len(others), 3)
