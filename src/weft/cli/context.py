from __future__ import annotations

from typing import Any

import click

from weft.cli.asking import ask, asking
from weft.cli.options import as_json, settings
from weft.config import Config
from weft.render import explain, to_json


@click.command("context")
@asking
@click.option("--explain", "with_reasons", is_flag=True, help="Print the reasons to standard error.")
@as_json
@settings
def command(with_reasons: bool, as_json: bool, config: Config, **request: Any) -> None:
    """Print the context for a query, within the budget.

    \b
    weft context "When do we ship?"
    weft context "Break this down" --focus task-42 --max-tokens 2000
    weft context "Who decided this?" --json | jq .citations
    """
    context = ask(config, **request)
    click.echo(to_json(context) if as_json else context.text, nl=not context.text.endswith("\n"))
    for warning in context.warnings:
        click.echo(f"warning: {warning}", err=True)
    if with_reasons:
        click.echo(explain(context), err=True)
