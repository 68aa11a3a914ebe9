"""Support: contexts that stay empty where nothing answers, and those that should not.

Each set is asked its own questions, the same without the texts that answer them (removed; of a vault, all notes in
which a gold phrase stands), questions that its vault does not answer (unanswered, questions/nothing.jsonl), questions
of other sets (off_topic) and random letters (nonsense). For each kind and set: the share of questions that get nothing
with the default `min_support`, and the area under the curve of support against the set's own questions. A group also
has the mean of the areas of its sets, and the area of all its questions together.

The scale was fitted on the first half of the questions of the sets under FITTED (those whose code points have an even
sum); "confirm" is their other half, and "held_out" are sets that were not looked at.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.context_sets import NOW, SETS, ContextSet, open_set
from benchmarks.corpus import data_folder
from benchmarks.measures import Document, Phrase
from benchmarks.timing import say
from benchmarks.vaults import VAULTS, Question, read_unanswerable
from weftwork import Weft
from weftwork.types import Filters
from weftwork.write.embed import embed_waiting

FITTED = (*VAULTS, "ir_cisi", "ir_cranfield", "ir_med", "multihop_hotpotqa100_train", "multihop_musique100")
OTHERS = ("anthropic_cookbook_docs", "anthropic_cookbook_code", "cosqa_code_search", "azure_hr_docs", "locomo_dev")
KINDS = ("own", "removed", "unanswered", "off_topic", "nonsense")
BY_PAGES = ("azure_hr_docs",)
"""Sets whose gold is named by pages, not by nodes."""
EXPORTS = ("tana_samples",)
"""Vaults that are one file, which cannot be left out."""
BORROWED = 4
"""Questions of each other set that are off topic."""
NONSENSE = 10
LETTERS = "bcdfghjklmnpqrstvwxzaeiou"
BUDGET = 500
MOST_NODES = 100_000


class Asked(NamedTuple):
    """A question, the workspace that is asked, and the nodes that are left out."""

    text: str
    workspace: str
    left_out: frozenset[str] = frozenset()


class Judged(NamedTuple):
    """A question with its support."""

    set: str
    kind: str
    text: str
    support: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare its own options."""
    parser.add_argument("--questions", type=int, default=60, help="only the first so many of each set")
    parser.add_argument("--sets", default=",".join((*FITTED, *OTHERS)), help="only these sets, separated by commas")
    parser.add_argument("--embedder", default="static", help="another embedder, or none (default: static)")
    parser.add_argument(
        "--lost", action="store_true", help="also list own questions that get nothing, and what is shown"
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The figures of each set, and of the groups."""
    draw = random.Random(args.seed)
    sets = {name: SETS[name](name, data_folder(), False) for name in (*FITTED, *OTHERS)}
    judged: list[Judged] = []
    figures: dict[str, Any] = {}
    for name in args.sets.split(","):
        with _opened(sets[name], args.embedder) as weft:
            judged += _judged(weft, sets, name, args.questions, draw)
        figures[name] = _figures([each for each in judged if each.set == name])
        say(f"{name}: {json.dumps(figures[name])}")
    fitted = [each for each in judged if each.set in FITTED]
    groups: dict[str, Callable[[Judged], bool]] = {
        "fit": lambda each: _is_first_half(each.text),
        "confirm": lambda each: not _is_first_half(each.text),
    }
    figures |= {group: _figures([each for each in fitted if belongs(each)]) for group, belongs in groups.items()}
    figures["held_out"] = _figures([each for each in judged if each.set in OTHERS])
    figures["vaults"] = _figures([each for each in judged if each.set in VAULTS])
    figures["all"] = _figures(judged)
    if args.lost:
        wrong = [each for each in judged if (each.support < 0.5) == (each.kind == "own")]
        figures["wrong"] = [list(each) for each in wrong if each.kind in ("own", "unanswered")]
    return figures


def _is_first_half(text: str) -> bool:
    return sum(map(ord, text)) % 2 == 0


@contextmanager
def _opened(chosen: ContextSet, embedder: str) -> Iterator[Weft]:
    """The store of a set; a copy of it where another model has to embed its texts."""
    if embedder == "static":
        with open_set(chosen.store) as weft:
            yield weft
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(chosen.store.parent, Path(folder) / "set")
        with Weft.open(copy / chosen.store.name, embedder=embedder, clock=lambda: NOW) as weft:
            for place in {question.workspace for question in chosen.questions}:
                while weft.tools.embedder is not None and embed_waiting(weft.store, weft.tools.embedder, place):
                    pass
            yield weft


def _judged(weft: Weft, sets: dict[str, ContextSet], name: str, most: int, draw: random.Random) -> Iterator[Judged]:
    for workspace in {question.workspace for question in sets[name].questions}:
        weft.catch_up(workspace)
    for kind, questions in _asked(weft, sets, name, most, draw):
        for text, workspace, left_out in questions:
            filters = Filters(exclude=left_out)
            reached = weft.context(text, workspace=workspace, budget=BUDGET, filters=filters).support
            yield Judged(name, kind, text, 1.0 if reached is None else reached)


def _asked(
    weft: Weft, sets: dict[str, ContextSet], name: str, most: int, draw: random.Random
) -> Iterator[tuple[str, list[Asked]]]:
    """The questions of each kind."""
    questions = sets[name].questions[:most]
    place = questions[0].workspace
    yield "own", [Asked(each.text, each.workspace) for each in questions]
    if name not in EXPORTS:
        gold = _nodes_of(weft, name, place)
        yield "removed", [Asked(each.text, each.workspace, gold(each)) for each in questions if gold(each)]
    yield "unanswered", [Asked(text, place) for text in read_unanswerable().get(name, ())]
    kind = name.partition("_")[0]
    others = [each for other, each in sets.items() if other.partition("_")[0] != kind]
    yield "off_topic", [Asked(each.text, place) for other in others for each in draw.sample(other.questions, BORROWED)]
    nonsense = (" ".join(_letters(draw) for _ in range(draw.randint(2, 5))) for _ in range(NONSENSE))
    yield "nonsense", [Asked(text, place) for text in nonsense]


def _nodes_of(weft: Weft, name: str, workspace: str) -> Callable[[Question], frozenset[str]]:
    """A function from a question to the nodes of the documents that answer it."""
    if name not in (*VAULTS, *BY_PAGES):
        return lambda question: frozenset(gold.name for gold in question.gold if isinstance(gold, Document))
    with weft.store.view(workspace, "me") as view:
        nodes = view.select(Filters(), limit=MOST_NODES)

    def answering(question: Question) -> frozenset[str]:
        pages = {f"/{gold.name}" for gold in question.gold if isinstance(gold, Document)}
        files = {f"/{gold.file}" for gold in question.gold if isinstance(gold, Phrase)}
        ends, sources = tuple(pages), tuple(files)
        found = (node for node in nodes if (ends and node.id.endswith(ends)) or (node.source or "").endswith(sources))
        return frozenset(node.id for node in found)

    return answering


def _letters(draw: random.Random) -> str:
    return "".join(draw.choice(LETTERS) for _ in range(draw.randint(3, 8)))


def _figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """By kind: the share that gets nothing, the area of all questions together, and the mean of those of the sets."""
    figures: dict[str, Any] = {}
    for kind in KINDS:
        values = _supports(judged, kind)
        if not values:
            continue
        figures[f"silent_{kind}"] = round(sum(value < 0.5 for value in values) / len(values), 4)
        if kind == "own":
            figures["own"] = len(values)
            continue
        figures[f"auc_{kind}"] = _auc(_supports(judged, "own"), values)
        by_set = [[each for each in judged if each.set == name] for name in sorted({each.set for each in judged})]
        areas = [_auc(_supports(each, "own"), _supports(each, kind)) for each in by_set if _supports(each, kind)]
        if len(by_set) > 1:
            figures[f"mean_auc_{kind}"] = round(statistics.fmean(areas), 3)
    return figures


def _supports(judged: Sequence[Judged], kind: str) -> list[float]:
    return [each.support for each in judged if each.kind == kind]


def _auc(own: Sequence[float], others: Sequence[float]) -> float:
    """The chance that a question with an answer has more support than one without."""
    wins = sum((mine > other) + 0.5 * (mine == other) for mine in own for other in others)
    return round(wins / len(own) / len(others), 3) if own else 0.0
