from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from weftwork.cli.options import as_json, echo_json, print_json, settings
from weftwork.config import Config
from weftwork.errors import InvalidInput
from weftwork.evaluate.page import to_html
from weftwork.evaluate.questions import read_questions
from weftwork.evaluate.report import to_dict, to_table
from weftwork.evaluate.run import Evaluation, evaluate
from weftwork.evaluate.suggest import suggest
from weftwork.evaluate.variants import combine
from weftwork.faces.opening import open_configured
from weftwork.render.quote import inline, writable


class Evaluating(click.Group):
    """A command group whose first argument may be a file of questions."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Run the questions of a file if the first argument is no command."""
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group("eval", cls=Evaluating, context_settings={"ignore_unknown_options": True})
def command() -> None:
    """Measure whether contexts hold what answers need, on your own workspace.

    \b
    weftwork eval suggest --count 30 > questions.jsonl     drafts: rewrite them in your own words
    weftwork eval questions.jsonl                          recall, precision, nDCG, tokens per piece
    weftwork eval questions.jsonl --recipe default --recipe graph --html report.html
    weftwork eval questions.jsonl --budget 1000 --budget 4000 --packer greedy --packer optimal
    """


@command.command("run")
@click.argument("questions", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--recipe", "recipes", multiple=True, help="May be repeated.  [default: default]")
@click.option("--lens", "lenses", multiple=True, help="May be repeated; none by default.")
@click.option("--packer", "packers", multiple=True, help="May be repeated; the recipe's own by default.")
@click.option("--weights", multiple=True, metavar="SIGNAL=W,…", help="Instead of the recipe's; may be repeated.")
@click.option("--budget", "budgets", multiple=True, type=int, help="Tokens; may be repeated.  [default: 4000]")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with plots, too.")
@as_json
@settings
def run_command(*, questions: Path, html: Path | None, as_json: bool, config: Config, **ways: Any) -> None:
    """Ask the questions of a file in every combination of the given settings.

    \b
    weftwork eval run questions.jsonl --budget 1000 --budget 4000
    weftwork eval questions.jsonl --recipe default --recipe graph --html report.html
    weftwork eval questions.jsonl --weights relevance=0.7,recency_linear=0.3 --json
    """
    asked = read_questions(questions)
    bar: Any
    with open_configured(config) as weft:
        variants = combine(
            known=weft.tools.recipes,
            recipes=ways["recipes"] or ("default",),
            lenses=ways["lenses"] or (None,),
            packers=ways["packers"] or (None,),
            weights=[_weights(weighting) for weighting in ways["weights"]] or (None,),
            budgets=ways["budgets"] or (None,),
        )
        with click.progressbar(
            length=len(asked) * len(variants), label="asking", file=sys.stderr,
            hidden=as_json or not sys.stderr.isatty(),
        ) as bar:  # fmt: skip
            evaluation = evaluate(
                weft, asked, variants, user=config.user, workspace=config.workspace, progress=bar.update
            )
    if html is not None:
        html.write_text(writable(to_html(evaluation, f"Evaluation of {questions.name}")), encoding="utf-8")
    _print(evaluation, as_json)


@command.command("suggest")
@click.option("--count", type=click.IntRange(min=1), default=20, show_default=True, help="How many drafts.")
@click.option("--type", "types", multiple=True, help="Only from this type of node.")
@click.option("--seed", type=int, default=1, show_default=True, help="Another number draws others.")
@settings
def suggest_command(count: int, types: tuple[str, ...], seed: int, config: Config) -> None:
    """Draft questions from titles and headings, as JSON lines to be rewritten in your own words.

    \b
    weftwork eval suggest --count 30 > questions.jsonl
    weftwork eval suggest --type page --seed 2
    """
    with open_configured(config) as weft, weft.store.view(config.workspace, config.user) as view:
        drafts = suggest(view, count, types=frozenset(types), seed=seed)
    for draft in drafts:
        line = {"id": draft.id, "query": draft.query, "draft": True}
        line |= {"wanted": list(draft.wanted)} if draft.wanted else {"quotes": list(draft.quotes)}
        echo_json(writable(json.dumps(line, ensure_ascii=False)))
    if not drafts:
        click.echo("nothing here has a title of two words and a text of its own: write questions by hand", err=True)


def _weights(text: str) -> dict[str, float]:
    weights = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InvalidInput(f"--weights {text!r}: write it as  relevance=0.7,recency_linear=0.3")
    return weights


def _print(evaluation: Evaluation, as_json: bool) -> None:
    if as_json:
        print_json(to_dict(evaluation))
        return
    click.echo(to_table(evaluation))
    if evaluation.unknown:
        names = ", ".join(inline(name, 40) for name in evaluation.unknown[:5])
        click.secho(
            f"warning: {len(evaluation.unknown)} wanted ids do not exist here, or this user may not see them: {names}",
            fg="yellow", err=True,
        )  # fmt: skip
