from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

import click

from weftwork.cli.asking import Answer, ask, asking
from weftwork.cli.colour import shaded
from weftwork.cli.options import echo_json, settings
from weftwork.config import Config
from weftwork.render import explain, lean, to_dict, to_json
from weftwork.render.quote import writable
from weftwork.wire import encode


@click.command("context")
@asking
@click.option(
    "--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True,
    help="json is the graph's own document with --recipe graph, and the same as --json with all others.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts, with the text: alike for every recipe.")
@click.option("--explain", "with_reasons", is_flag=True, help="Print the reasons to standard error; JSON has them too.")
@click.option("--remember", is_flag=True, help="Keep its id, for a later --since.")
@click.option("--since", metavar="ID", help="Print only what changed since this context.")
@settings
def command(form: str, as_json: bool, with_reasons: bool, config: Config, **request: Any) -> None:
    """Print the context for a question, a topic or a node's id, within the budget.

    Where nothing answers, the exit code is 1.

    \b
    weftwork context "When do we ship?"
    weftwork context "SOC Defender project"
    weftwork context task-42 --depth 3
    weftwork context "quarterly planning" --max-tokens 8000 --lens planning
    weftwork context --topic "project X" --topic "Ana:2"
    weftwork context "Who decided this?" --json | jq .citations
    weftwork context - < question.txt
    weftwork context "And then?" --thread thread-7
    weftwork context "And then?" --since ctx-0123456789abcdef
    """
    answer = ask(config, form="markdown" if with_reasons or as_json else form, **request)
    if as_json or form == "json":
        echo_json(_json(replace(answer, document=None) if as_json else answer, with_reasons))
    else:
        text = answer.markdown
        click.echo(shaded(text), nl=not text.endswith("\n"))
    if request["remember"] or request["since"]:
        click.echo(f"kept as {answer.context.id}", err=True)
    for warning in answer.warnings:
        click.secho(f"warning: {warning}", fg="yellow", err=True)
    if with_reasons:
        click.echo(explain(answer.context), err=True)
    if answer.is_empty:
        sys.exit(1)


def _json(answer: Answer, with_reasons: bool) -> str:
    """The graph contract's document with its citations, or the context of another recipe; lean without reasons."""
    if answer.delta is not None:
        return _indented(answer.delta.to_dict() if with_reasons else encode(answer.delta.lean()))
    context = answer.context
    if answer.document is None:
        return to_json(context) if with_reasons else _indented(encode(lean(context)))
    if with_reasons:
        document = answer.document.to_dict()
        return _indented({**document, "citations": to_dict(context)["citations"], "id": context.id})
    from weftwork.faces.graph_json import as_text  # noqa: PLC0415 - only for this recipe

    return as_text(answer.fitted)


def _indented(value: object) -> str:
    return writable(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))
