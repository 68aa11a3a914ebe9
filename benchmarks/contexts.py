"""What a person reads in a context: whether the answer is in it, in whose words, in which order.

Vaults are added as `weftwork add` does and asked what their owners would ask (questions/VAULT.jsonl); other sets are
conversations, PDFs, documentation, code and judged collections. Each question is asked at each budget with each recipe.

  recall             share of the gold evidence in the text: phrases of a vault; a judged text or a turn, of which any
                     150 words are enough; of a span the share of its characters
  complete           share of the questions whose evidence is all there
  bm25 vector fused  the same for plain rankings of sections of the raw texts, cut where the next does not fit
  lead               recall minus that of the best of these, with the interval in which it lies for 95 % of resampled
                     sets of questions; "noise" if that has a 0 in it
  own_words          share of the tokens that are words of the sources, not headings, ids, paths or structure
  against_order      lines of a document that stand after later ones of it, a context
  repeated_headings  headings of a document that has one already in the same section, a context
  duplicates         share of the lines of four words and more that stood in the text before
  used               share of the budget that is used
  filled             the same where candidates were left out for lack of room
  underfilled        share of those contexts that use less than 95 %
  empty              share of contexts without any source
  asked_for          share of what is asked for by focus, id or [[title]] that is there, for vaults

How each is computed stands in benchmarks/measures.py. `--half` takes only the questions that settings may be fitted to,
or only those that check them.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import context_sets, context_table, corpus
from benchmarks.context_sets import SETS, USER, ContextSet, open_set
from benchmarks.floors import FLOORS, Floors
from benchmarks.measures import Shown, lines_of, recall, repeated_headings
from benchmarks.probes import Prober
from benchmarks.report import RESULTS
from benchmarks.timing import say
from benchmarks.vaults import VAULTS, Question
from weftwork import Context, Weft
from weftwork.errors import WeftError
from weftwork.evaluate import metrics
from weftwork.faces.graph import ContextAssembler

BUDGETS = (500, 1_000, 2_000, 4_000)
RECIPES = ("default", "graph")
FULL = 0.95
ALL = 0.999
TEXTS, TEXT_BUDGETS = 10, (1_000, 4_000)
"""Contexts of each vault that --text writes, and their budgets in turn."""
WORST = 10

Values = dict[str, list[float]]
"""By measure, a value for each question."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured."""

    budgets: tuple[int, ...] = BUDGETS
    recipes: tuple[str, ...] = RECIPES
    half: str = "all"
    most: int | None = 60
    seed: int = 1
    text: Path | None = None


@dataclass(slots=True)
class Measured:
    """The values of one set: by way (a recipe or a floor) and budget."""

    questions: Sequence[Question]
    ways: dict[tuple[str, int], Values] = field(default_factory=dict)

    def add(self, way: str, budget: int, values: Mapping[str, float | None]) -> None:
        """Enter what was measured of one text; None stands for nothing to measure."""
        for name, value in values.items():
            if value is not None:
                self.ways.setdefault((way, budget), {}).setdefault(name, []).append(value)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", help='only these, separated by commas; "vaults" stands for all vaults')
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)), help="tokens (default: %(default)s)")
    parser.add_argument("--recipes", default=",".join(RECIPES), help="(default: %(default)s)")
    parser.add_argument("--half", choices=("fit", "check", "all"), default="all", help="(default: %(default)s)")
    parser.add_argument("--questions", type=int, default=60, help="at most so many of a set that is no vault")
    parser.add_argument("--fresh", action="store_true", help="build the stores anew")
    parser.add_argument(
        "--text",
        type=Path,
        nargs="?",
        const=RESULTS / "contexts",
        metavar="FOLDER",
        help="write the text of some contexts of each vault (default: benchmarks/results/contexts)",
    )


def run(args: argparse.Namespace) -> dict[str, Any]:
    """All measures of all sets."""
    options = Options(
        budgets=tuple(map(int, args.budgets.split(","))),
        recipes=tuple(args.recipes.split(",")),
        half=args.half,
        most=args.questions,
        seed=args.seed,
        text=args.text,
    )
    data = corpus.data_folder()
    found: dict[str, Measured] = {}
    for name in _wanted(args.sets):
        if not (data / context_sets.FOLDERS.get(name, name)).exists():
            say(f"{name} is skipped: it is not in {data}")
            continue
        began = time.perf_counter()
        found[name] = measure(SETS[name](name, data, args.fresh), options)
        say(f"{name}: {len(found[name].questions)} questions, {time.perf_counter() - began:.0f} s")
    if not found:
        raise SystemExit("there is no set to measure: see --sets")
    return figures(found, options)


def _wanted(sets: str | None) -> list[str]:
    names = sets.split(",") if sets else SETS
    chosen = [each for name in names for each in (VAULTS if name == "vaults" else (name,))]
    unknown = [name for name in chosen if name not in SETS]
    if unknown:
        raise SystemExit(f"there is no set {unknown[0]!r}: there are {', '.join(SETS)}")
    return chosen


def select(questions: Sequence[Question], options: Options, *, vault: bool) -> list[Question]:
    """The questions of the half that is asked for; a set that is no vault is drawn from and halved in turn."""
    if vault:
        return [each for each in questions if options.half in ("all", each.half)]
    count = len(questions) if options.most is None else min(options.most, len(questions))
    places = sorted(random.Random(f"contexts/{options.seed}").sample(range(len(questions)), count))
    halves = {"all": slice(None), "fit": slice(0, None, 2), "check": slice(1, None, 2)}
    return [questions[place] for place in places][halves[options.half]]


def measure(chosen: ContextSet, options: Options) -> Measured:
    """Ask a set everything at every budget with every recipe."""
    asked = select(chosen.questions, options, vault=chosen.vault is not None)
    found = Measured(asked)
    with open_set(chosen.store) as weft:
        for name in chosen.rooms:
            weft.catch_up(name)
        floors = _floors(weft, chosen, {each.workspace for each in asked})
        for question in asked:
            _measure_floors(floors[question.workspace], chosen, question, options, found)
            for recipe, budget in _ways(options):
                context = _ask(weft, question.workspace, recipe, budget)(query=question.text)
                found.add(recipe, budget, measured(context, chosen, question, weft.tools.counter.count))
        if chosen.vault is not None and options.text is not None:
            _write_texts(weft, chosen.name, asked, options.text)
        if chosen.vault is not None:
            prober = Prober(weft, chosen, options.seed)
            for recipe, budget in _ways(options):
                for there in prober.present(_ask(weft, "main", recipe, budget)):
                    found.add(recipe, budget, {"asked_for": float(there)})
    return found


def _ways(options: Options) -> Iterator[tuple[str, int]]:
    return ((recipe, budget) for recipe in options.recipes for budget in options.budgets)


def _ask(weft: Weft, workspace: str, recipe: str, budget: int) -> Callable[..., Context]:
    def ask(query: str, **more: Any) -> Context:
        asked = {"user": USER, "workspace": workspace, **more}
        try:
            if recipe == "graph":  # as it is printed, under its header
                document = ContextAssembler(weft).assemble(query, max_tokens=budget, **asked)
                return replace(
                    document.context, text=document.markdown, tokens=document.meta.tokens.used, budget=budget
                )
            context: Context = weft.context(query, recipe=recipe, budget=budget, **asked)
            return context
        except WeftError as error:  # a recipe that cannot take the request shows nothing
            say(f"  {query!r}: {error}")
            return Context(
                id="", query=query, workspace=workspace, user=USER, text="", tokens=0, budget=budget,
                sections=(), overflow=(), citations=(), trace=(),
            )  # fmt: skip

    return ask


def _floors(weft: Weft, chosen: ContextSet, workspaces: set[str]) -> dict[str, Floors]:
    embedder = weft.tools.embedder
    assert embedder is not None
    return {name: Floors(chosen.rooms[name].pieces, embedder, weft.tools.counter) for name in sorted(workspaces)}


def _measure_floors(floors: Floors, chosen: ContextSet, question: Question, options: Options, found: Measured) -> None:
    sources = chosen.rooms[question.workspace].sources
    for name, order in floors.orders(question.text).items():
        for budget in options.budgets:
            share = recall(question.gold, Shown(floors.filled(order, budget), sources, quoted=True))
            found.add(name, budget, {"recall": share, "complete": float(share >= ALL)})


def measured(
    context: Context, chosen: ContextSet, question: Question, count: Callable[[str], int]
) -> dict[str, float | None]:
    """Everything about one context."""
    nodes = _nodes(context)
    shown = Shown(context.text, chosen.rooms[question.workspace].sources, nodes)
    share = recall(question.gold, shown)
    left_out = any(each.fate == "dropped" and each.missing_tokens is not None for each in context.trace)
    filled = context.tokens / context.budget if left_out else None
    return {
        "recall": share,
        "complete": float(share >= ALL),
        "own_words": shown.own_words(count, context.tokens) if context.tokens else None,
        "against_order": float(shown.against_order(chosen.document_of)),
        "repeated_headings": float(repeated_headings(_headed(context, nodes, chosen.document_of))),
        "duplicates": shown.duplicates(),
        "used": context.tokens / context.budget,
        "filled": filled,
        "underfilled": None if filled is None else float(filled < FULL),
        "empty": float(not context.citations),
    }


def _nodes(context: Context) -> dict[str, str]:
    """By citation id, the node that it stands for."""
    return {each.id: each.node for each in context.citations}


def _headed(context: Context, nodes: Mapping[str, str], document_of: Callable[[str], str]) -> list[list[str]]:
    """The documents of the headings of each section, in their order."""
    found: list[list[str]] = [[]]
    for piece in context.pieces:
        if not piece.citation and piece.text.lstrip().startswith("#"):
            found.append([])
        heads = (line.cited for line in lines_of(piece.text, nodes) if line.kind == "heading" and line.cited)
        found[-1] += [document_of(nodes[cited]) for cited in heads]
    return found


def _write_texts(weft: Weft, name: str, asked: Sequence[Question], folder: Path) -> None:
    """Write contexts of questions that stand evenly apart, so that there are some of each kind."""
    places = sorted({number * len(asked) // TEXTS for number in range(TEXTS)} & set(range(len(asked))))
    (folder / name).mkdir(parents=True, exist_ok=True)
    for number, place in enumerate(places):
        question, budget = asked[place], TEXT_BUDGETS[number % len(TEXT_BUDGETS)]
        context = _ask(weft, question.workspace, RECIPES[0], budget)(query=question.text)
        text = f"# {question.text}\n\n{context.tokens} of {budget} tokens\n\n{context.text}"
        (folder / name / f"{question.id}-{budget}.md").write_text(text, encoding="utf-8")


def figures(found: Mapping[str, Measured], options: Options) -> dict[str, Any]:
    """The means of everything, each recipe beside the best floor."""
    return {
        "half": options.half,
        "budgets": list(options.budgets),
        "recipes": list(options.recipes),
        "sets": {name: _set_figures(measured, options) for name, measured in found.items()},
        "kinds": _kinds(found, options),
        "worst": _worst(found, options),
    }


def _set_figures(found: Measured, options: Options) -> dict[str, Any]:
    floors = {str(budget): {name: _means(found.ways[name, budget]) for name in FLOORS} for budget in options.budgets}
    recipes = {
        recipe: {
            str(budget): _means(found.ways[recipe, budget]) | {"lead": _lead(found, recipe, budget)}
            for budget in options.budgets
        }
        for recipe in options.recipes
    }
    return {"questions": len(found.questions), "floors": floors, "recipes": recipes}


def _means(values: Values) -> dict[str, float]:
    return {name: round(statistics.fmean(each), 4) for name, each in values.items()}


def _best(found: Measured, budget: int) -> str:
    return max(FLOORS, key=lambda name: statistics.fmean(found.ways[name, budget]["recall"]))


def _lead(found: Measured, recipe: str, budget: int) -> dict[str, Any]:
    """How far a recipe is before the best floor, and whether that is more than chance."""
    best = _best(found, budget)
    lead = metrics.paired(found.ways[recipe, budget]["recall"], found.ways[best, budget]["recall"])
    verdict = "ahead" if lead.low > 0 else "behind" if lead.high < 0 else "noise"
    figures = {"mean": round(lead.mean, 4), "low": round(lead.low, 4), "high": round(lead.high, 4)}
    return {"floor": best, **figures, "verdict": verdict}


def _kinds(found: Mapping[str, Measured], options: Options) -> dict[str, Any]:
    """Recall by kind of question, over all vaults."""
    kinds: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name, measured in found.items():
        if name in VAULTS:
            for (way, budget), values in measured.ways.items():
                for question, share in zip(measured.questions, values["recall"], strict=True):
                    kinds.setdefault(question.kind, {}).setdefault(str(budget), {}).setdefault(way, []).append(share)
    return {
        kind: {
            budget: {way: round(statistics.fmean(each[way]), 4) for way in (*options.recipes, *FLOORS)}
            for budget, each in by_budget.items()
        }
        for kind, by_budget in sorted(kinds.items())
    }


def _worst(found: Mapping[str, Measured], options: Options) -> list[dict[str, Any]]:
    """The vaults' questions with the lowest recall of the first recipe, over all budgets."""
    rows: list[dict[str, Any]] = []
    for name, measured in found.items():
        if name in VAULTS:
            for place, question in enumerate(measured.questions):
                means = {
                    way: statistics.fmean(measured.ways[way, budget]["recall"][place] for budget in options.budgets)
                    for way in (*options.recipes, *FLOORS)
                }
                rows.append({"set": name, "id": question.id, "question": question.text} | means)
    first = options.recipes[0]
    rows = [row for row in rows if row[first] < ALL]
    return sorted(rows, key=lambda row: (row[first], -max(row[floor] for floor in FLOORS), row["id"]))[:WORST]


table = context_table.table
