"""What each ingredient of the default recipe is worth: the relevance benchmark with one of them taken out.

  default        the recipe as it comes
  links          nothing spreads along links from the best hits
  weighing       words and meaning fused with the same weights for every query
  turns          of a chat, only the turns that a search found
  dates          a time that the question names does not count

What words and vectors are worth by themselves is in the relevance benchmark. The figure of each set is nDCG@10, or
all_gold@10 for the sets whose questions need several texts, or token recall at 2,000 tokens. With --write, the table in
docs/relevance.md is made anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks import relevance
from benchmarks.corpus import REPOSITORY
from benchmarks.timing import say
from weftwork.recipe import Recipe, get_recipe

PAGE = REPOSITORY / "docs" / "relevance.md"
BEGIN, END = "<!-- ablation -->", "<!-- /ablation -->"
SEVERAL_STEPS = "multihop"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    relevance.add_arguments(parser)
    parser.add_argument("--write", action="store_true", help="make the table in docs/relevance.md anew")


def run(args: argparse.Namespace) -> dict[str, Any]:
    """The main figure of each set, by what is taken out."""
    rows: dict[str, dict[str, float]] = {}
    for name, recipe in variants().items():
        say(f"without {name}" if rows else "as it comes")
        sets = relevance.measured(args, recipe)["sets"]
        rows[name] = {each: _main(each, metrics) for each, metrics in sets.items()}
    if args.write:
        _write(table(rows))
    return {"without": rows}


def variants() -> dict[str, Recipe]:
    """The default recipe, and the same without each ingredient."""
    whole = get_recipe("default")
    profile = whole.profile
    fixed = {("relevance" if name == "evidence" else name): weight for name, weight in profile.weights.items()}
    undated = {name: weight for name, weight in profile.weights.items() if name != "period"}
    return {
        "default": whole,
        "links": _without(whole, "links"),
        "weighing": replace(whole, profile=replace(profile, weights=fixed)),
        "turns": _without(whole, "beside"),
        "dates": replace(whole, profile=replace(profile, weights=undated)),
    }


def _without(recipe: Recipe, name: str) -> Recipe:
    return replace(recipe, collectors=tuple(each for each in recipe.collectors if each.name != name))


def _main(name: str, metrics: Mapping[str, Mapping[str, float]]) -> float:
    wanted = "all_gold@10" if name.startswith(SEVERAL_STEPS) else "nDCG@10"
    for metric in (wanted, "token_recall@2000", "recall@1000_tokens"):
        if metric in metrics:
            return metrics[metric]["weftwork"]
    raise SystemExit(f"{name} has none of the metrics that are compared")


def table(rows: Mapping[str, Mapping[str, float]]) -> str:
    """The figures as a table: a row for each set, the loss in brackets."""
    whole = rows["default"]
    lines = [f"| set | {' | '.join(name if name == 'default' else f'without {name}' for name in rows)} |"]
    lines.append("|---" * (len(rows) + 1) + "|")
    for name, figure in whole.items():
        cells = [f"{figure:.3f}"]
        cells += [f"{row[name]:.3f} ({row[name] - figure:+.3f})" for key, row in rows.items() if key != "default"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _write(made: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
